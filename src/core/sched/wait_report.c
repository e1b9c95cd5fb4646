/* SPDX-License-Identifier: Apache-2.0 */
/* wait_report.c - see wait_report.h. */
#include "core/sched/wait_report.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/pe/code_address.h"
#include "core/pe/pe.h"
#include "core/sched/thread.h"

#define DEPTH 3 /* calls of the PE's own stack that are named       */
#define KINDS 4 /* of waiting user threads that are listed one by one */

static void report_explain_text_append(struct ski_text *text, const char *format, va_list args)
{
    size_t room = text->room - text->length;
    int    n    = vsnprintf(text->start + text->length, room, format, args);

    if (n > 0)
        text->length += (size_t)n < room ? (size_t)n : room - 1;
}

void ski_text_add(struct ski_text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_explain_text_append(text, format, args);
    va_end(args);
}

void ski_text_item(struct ski_text *text, const char *format, ...)
{
    va_list args;

    if (text->length > 0)
        ski_text_add(text, "; ");
    va_start(args, format);
    report_explain_text_append(text, format, args);
    va_end(args);
}

static void report_explain_add_call(struct ski_text *text, const struct ski_call *call)
{
    char where[256];

    ski_text_add(text, "%s", call->name);
    if (!call->from)
        return;
    ski_code_describe(ski_code_address(call->from), true, where, sizeof where);
    ski_text_add(text, ", called in %s", where);
}

static void report_explain_stack(const struct ski_pe *self, struct ski_text *text)
{
    const struct ski_blocked *blocked = self->blocked;

    for (int i = 0; i < DEPTH && blocked; i++, blocked = blocked->outer) {
        ski_text_item(text, i == 0 ? "waits in " : "which runs inside of ");
        report_explain_add_call(text, &blocked->call);
    }
}

/* User threads that wait in the same call are one kind. */
struct thread_kind {
    struct ski_call call;
    const char     *name; /* of one of them, or NULL */
    size_t          count;
};

static bool report_explain_same_call(const struct ski_call *one, const struct ski_call *other)
{
    return one->name == other->name && one->from == other->from;
}

/* Adds a thread to its kind. Returns false if there is no room for another kind. */
static bool report_explain_count_thread(struct thread_kind *kind, const struct skua_thread *thread)
{
    int i = 0;

    while (i < KINDS && kind[i].count && !report_explain_same_call(&kind[i].call, &thread->blocked))
        i++;
    if (i == KINDS)
        return false;
    kind[i].call = thread->blocked;
    kind[i].name = thread->name ? thread->name : kind[i].name;
    kind[i].count++;
    return true;
}

static void report_explain_threads(const struct ski_pe *self, struct ski_text *text)
{
    struct thread_kind kind[KINDS] = {{{NULL, NULL}, NULL, 0}};
    size_t             others      = 0;

    for (const struct skua_thread *thread = self->threads.first; thread; thread = thread->next)
        if (thread->blocked.name)
            others += !report_explain_count_thread(kind, thread);
    for (int i = 0; i < KINDS && kind[i].count; i++) {
        if (kind[i].count == 1)
            ski_text_item(text, "user thread %s waits in ",
                          kind[i].name ? kind[i].name : "(no name)");
        else
            ski_text_item(text, "%zu user threads%s%s wait in ", kind[i].count,
                          kind[i].name ? " such as " : "", kind[i].name ? kind[i].name : "");
        report_explain_add_call(text, &kind[i].call);
    }
    if (others)
        ski_text_item(text, "%zu more user threads wait elsewhere", others);
}

void ski_report_blocked_calls(const struct ski_pe *self, struct ski_text *text)
{
    report_explain_stack(self, text);
    report_explain_threads(self, text);
}
