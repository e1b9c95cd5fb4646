/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.c - registration, and agreement between processes.
 *
 * Names are published as one block of text in the arena: the name of each handler with its final
 * zero, in order.  Names that ski_register_name() adds, of operators and others, are compared with
 * them.
 */
#include "core/pe/handler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/futex.h"
#include "base/memory.h"
#include "core/pe/builtin.h"
#include "core/data/msg.h"

struct ski_handlers ski_handlers;

/* The registered functions and their names. */
static skua_handler_fn *handler_functions;
static const char     **handler_names;
static uint32_t         handler_room;
static bool             handler_closed;

static void handler_add(const char *name, skua_handler_fn fn)
{
    ski_assert(name && fn && ski_handlers.count < SKI_HANDLERS_MAX);
    if (ski_handlers.count == handler_room) {
        handler_room = handler_room ? 2 * handler_room : 64;
        handler_functions =
            ski_realloc(handler_functions, handler_room * sizeof *handler_functions);
        handler_names = ski_realloc(handler_names, handler_room * sizeof *handler_names);
    }
    handler_functions[ski_handlers.count] = fn;
    handler_names[ski_handlers.count++]   = name;
}

void ski_handlers_init(void)
{
    if (ski_handlers.count > 0)
        return;
    for (int i = 0; i < SKI_HANDLERS; i++)
        handler_add(ski_builtin[i].name, ski_builtin[i].fn);
}

skua_handler ski_handler_register(const char *call, const char *name, skua_handler_fn fn)
{
    ski_handlers_init();
    if (!name)
        ski_misuse("%s: there is no name", call);
    if (!fn)
        ski_misuse("%s(\"%s\"): there is no function", call, name);
    if (handler_closed)
        ski_misuse("%s(\"%s\"): handlers and other names are registered before skua_main() or "
                   "skua_init()",
                   call, name);
    if (ski_handlers.count == SKI_HANDLERS_MAX)
        ski_misuse("%s(\"%s\"): a program has at most %d handlers", call, name, SKI_HANDLERS_MAX);
    for (uint32_t i = 0; i < ski_handlers.count; i++)
        if (strcmp(handler_names[i], name) == 0)
            ski_misuse("%s: there is a handler \"%s\" already", call, name);
    handler_add(name, fn);
    ski_assert(ski_handlers.count > SKI_HANDLERS);
    return (skua_handler){ski_handlers.count - 1};
}

skua_handler skua_handler_register(const char *name, skua_handler_fn fn)
{
    return ski_handler_register(__func__, name, fn);
}

/* The function of names that are no handlers. */
static void handler_never_sent(skua_msg *msg)
{
    ski_fatal("a message was sent to \"%s\", which is not a handler", handler_names[msg->handler]);
}

void ski_register_name(const char *call, const char *what, const char *name)
{
    size_t bytes;
    char  *full;

    if (!name)
        ski_misuse("%s: the %s has no name", call, what);
    bytes = strlen(what) + strlen(name) + 2;
    full  = ski_malloc(bytes);
    snprintf(full, bytes, "%s %s", what, name);
    ski_handler_register(call, full, handler_never_sent);
}

const char *ski_handler_name(uint32_t id)
{
    return id < ski_handlers.count ? handler_names[id] : "?";
}

void ski_handler_misuse(const char *call, uint32_t id)
{
    if (id == SKI_HANDLER_NONE)
        ski_misuse(
            "%s: a handler that was never registered (its id is 0); skua_handler_register() makes "
            "them, before skua_main() or skua_init()",
            call);
    ski_misuse("%s: handler %u was never registered (the last one is %u, '%s')", call, id,
               ski_handlers.count - 1, ski_handler_name(ski_handlers.count - 1));
}

void ski_handler_unknown(skua_msg *msg)
{
    ski_fatal("a message from PE %d names handler %u (%s), which no message may; there are %u",
              msg->source, msg->handler, ski_handler_name(msg->handler), ski_handlers.count - 1);
}

/* ---- agreement ----------------------------------------------------------- */

/* Publishes the names of the handlers of this process in the arena, for the others to compare. */
static skua_status handler_publish(struct ski_job *job)
{
    size_t      bytes = 1;
    void       *memory;
    char       *at;
    skua_status status;

    for (uint32_t i = 0; i < ski_handlers.count; i++)
        bytes += strlen(handler_names[i]) + 1;
    status = ski_span_alloc(job->arena, bytes, &memory);
    if (status != SKUA_OK)
        return status;
    at = memory;
    for (uint32_t i = 0; i < ski_handlers.count; i++)
        at = stpcpy(at, handler_names[i]) + 1;
    job->names.text  = memory;
    job->names.count = ski_handlers.count;
    /* Pairs with the acquire in handler_compare(). */
    atomic_store_explicit(&job->names.ready, 1, memory_order_release);
    ski_futex_wake_all(&job->names.ready);
    return SKUA_OK;
}

static skua_status handler_differs(const struct ski_job *job, int process, uint32_t id,
                                   const char *ours, const char *theirs)
{
    return ski_refuse(
        SKUA_ERR_MISMATCH,
        "the processes of the job do not agree: handler %u is %s%s%s in process %d but %s%s%s "
        "in process %d; do all run the same program, and register in the same order?",
        id, ours ? "\"" : "", ours ? ours : "missing", ours ? "\"" : "", process,
        theirs ? "\"" : "", theirs ? theirs : "missing", theirs ? "\"" : "",
        job->process[0].number);
}

static skua_status handler_compare(const struct ski_job *job, int process)
{
    const char *theirs = job->names.text;
    uint32_t    i;

    for (i = 0; i < ski_handlers.count && i < job->names.count; i++) {
        if (strcmp(handler_names[i], theirs) != 0)
            return handler_differs(job, process, i, handler_names[i], theirs);
        theirs += strlen(theirs) + 1;
    }
    if (i < ski_handlers.count)
        return handler_differs(job, process, i, handler_names[i], NULL);
    if (i < job->names.count)
        return handler_differs(job, process, i, NULL, theirs);
    return SKUA_OK;
}

/* No more handlers are registered from here on; all other numbers lead to ski_handler_unknown(). */
static void handler_close_table(void)
{
    handler_closed = true;
    ski_handler_table_destroy(ski_handlers.fn); /* that of an earlier job */
    ski_handlers.fn = ski_handler_table_create(ski_handler_unknown);
    memcpy(ski_handlers.fn, handler_functions, ski_handlers.count * sizeof *ski_handlers.fn);
}

void ski_handlers_reset(void)
{
    handler_closed = false;
}

skua_status ski_handlers_agree(struct ski_job *job, int process)
{
    handler_close_table();
    if (job->local_index[process] == 0)
        return handler_publish(job);
    /* Pairs with the release in handler_publish().  If process 0 dies before, the launcher ends
     * this one. */
    while (!atomic_load_explicit(&job->names.ready, memory_order_acquire))
        ski_futex_wait(&job->names.ready, 0, SKI_FOREVER);
    return handler_compare(job, process);
}
