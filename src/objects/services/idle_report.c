/* SPDX-License-Identifier: Apache-2.0 */
/* idle_report.c - see idle_report.h. */
#include "objects/services/idle_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "core/collective/collective.h"
#include "core/sched/scheduler.h"
#include "core/sched/wait_report.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/tree.h"
#include "objects/chare/collection.h"
#include "objects/location/location.h"
#include "objects/objects.h"
#include "objects/services/quiescence.h"
#include "objects/collective/section.h"
#include "objects/services/stream.h"
#include "onesided/onesided.h"

#define ROOT       0
#define TEXT_BYTES 900 /* about one PE: one line of the log */
#define GROUPS     20  /* of PEs that wait alike, that are told of */

/* What PE 0 does: looks whether it has been idle for long; waits for the first wave, the pause
 * after it, the second wave; waits for texts; has no more to do. */
enum stage { LOOKING, FIRST, BETWEEN, SECOND, ASKING, DONE };

/* What a PE has said. */
struct answer {
    uint64_t calls; /* of collectives, that it has made */
    char    *text;  /* NULL: it has not answered        */
};

struct ski_idle_report {
    uint64_t rests; /* of this PE, when a wave last came by */

    /* On PE 0. */
    enum stage           stage;
    struct ski_traffic   traffic; /* when it was last looked at ...           */
    uint64_t             since;   /* ... or when a wave came back: ticks      */
    uint64_t             period;  /* ticks of idleness before the first wave  */
    struct ski_detection detection;
    struct ski_tally     found;  /* what the first wave of the last try said */
    struct answer       *answer; /* of each PE                               */
    int                  missing;
};

static struct ski_idle_report *idle_report_of(const struct ski_pe *self)
{
    return self->objects->idle_report;
}

/* ---- on each PE ------------------------------------------------------------------------- */

static struct ski_traffic idle_add_traffic(struct ski_traffic a, struct ski_traffic b)
{
    return (struct ski_traffic){a.sent + b.sent, a.received + b.received};
}

/* Of the program: without waves, and with held messages as received. */
static struct ski_traffic idle_program_traffic(const struct ski_pe *self)
{
    struct ski_traffic all = ski_traffic_of(self), waves = ski_wave_traffic(self);

    return (struct ski_traffic){all.sent - waves.sent, all.received + self->held - waves.received};
}

/* Whether something may happen here that no message tells of. */
static bool idle_may_go_on(const struct ski_pe *self, bool rested, bool leads)
{
    return !rested || self->timers.count > ski_wave_timers(self) || (leads && ski_tasks_foreign());
}

static struct ski_tally idle_visit(struct ski_pe *self, struct ski_topic topic)
{
    struct ski_idle_report *report  = idle_report_of(self);
    bool                    leads   = self->pe == ski_job_first_pe(self->job, self->process);
    bool                    rested  = report->rests != ski_scheduler_rests(self);
    struct ski_traffic      traffic = idle_program_traffic(self);

    (void)topic;
    report->rests = ski_scheduler_rests(self);
    if (leads)
        traffic = idle_add_traffic(traffic, ski_guest_traffic());
    return (struct ski_tally){traffic.sent, traffic.received, idle_may_go_on(self, rested, leads)};
}

static void idle_explain_held(struct ski_collection *all, struct ski_text *text)
{
    const struct ski_absent *first    = NULL;
    size_t                   elements = 0, messages = 0;

    for (uint64_t i = 0; all->directory.slot && i <= all->directory.mask; i++) {
        uintptr_t                value = all->directory.slot[i].value;
        const struct ski_absent *place = (struct ski_absent *)(value ^ SKI_IS_PLACE);

        if (!(value & SKI_IS_PLACE) || !place->held.first)
            continue;
        first = first ? first : place;
        elements++;
        for (const skua_msg *msg = place->held.first; msg; msg = msg->link)
            messages++;
    }
    if (elements)
        ski_text_item(text, "%zu messages are held for %zu objects that do not exist, such as %s",
                      messages, elements, ski_element_text(all, &first->index));
}

static void idle_explain_collection(struct ski_collection *all, struct ski_text *text)
{
    if (all->state == SKI_EXPECTED && all->held.first)
        ski_text_item(text, "messages are held for a collection that PE %d has not created",
                      (int)(all->id >> 32));
    if (all->state != SKI_DEFINED && all->state != SKI_EXISTS)
        return;
    idle_explain_held(all, text);
    ski_reducing_explain(all, text);
    for (const struct ski_section *section = all->sections; section; section = section->next)
        ski_gather_explain(section, text);
}

static void idle_explain_objects(const struct ski_objects *objects, struct ski_text *text)
{
    for (uint64_t i = 0; i <= objects->mask; i++)
        if (objects->table[i])
            idle_explain_collection(objects->table[i], text);
    ski_streams_explain(text);
    ski_quiet_explain(objects->quiet, text);
}

static void idle_ask_children(struct ski_pe *self)
{
    struct ski_tree tree = ski_tree_at(self->pe, self->pes, ROOT, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        skua_send_copy(ski_tree_child(&tree, i), (skua_handler){SKI_HANDLER_IDLE_ASK}, NULL, 0);
}

/* On the wire: the number of collective calls, then the text without its final 0. */
static void idle_answer(const struct ski_pe *self)
{
    char            line[TEXT_BYTES] = "";
    struct ski_text text             = {line, 0, sizeof line};
    skua_msg       *msg;

    ski_explain_calls(self, &text);
    idle_explain_objects(self->objects, &text);
    msg = skua_msg_alloc(SKI_IDLE_TEXT_LEAST + text.length);
    memcpy(skua_msg_data(msg), &self->collectives->calls, SKI_IDLE_TEXT_LEAST);
    memcpy((char *)skua_msg_data(msg) + SKI_IDLE_TEXT_LEAST, line, text.length);
    skua_send(ROOT, (skua_handler){SKI_HANDLER_IDLE_TEXT}, msg);
}

void ski_on_idle_ask(skua_msg *msg)
{
    skua_msg_free(msg);
    idle_ask_children(ski_self);
    idle_answer(ski_self);
}

/* ---- on PE 0: detection ------------------------------------------------------------------- */

static bool idle_moved(struct ski_traffic a, struct ski_traffic b)
{
    return a.sent != b.sent || a.received != b.received;
}

static bool idle_is_proven(const struct ski_tally *sum)
{
    return sum->sent == sum->received && sum->finished == 0;
}

static void idle_send_wave(struct ski_pe *self, struct ski_idle_report *report, enum stage stage)
{
    report->stage = stage;
    ski_wave_send(self, &report->detection);
}

/* It was not the end.  The less has moved since the last try, the longer until the next. */
static void idle_look_again(struct ski_idle_report *report, const struct ski_tally *sum)
{
    uint64_t least = ski_ns_to_ticks((uint64_t)(ski_config.idle_report * 1e9));
    bool     quiet = sum->sent == report->found.sent && sum->received == report->found.received;

    report->period = quiet ? 2 * report->period : least;
    report->found  = *sum;
    report->stage  = LOOKING;
}

static void idle_result(struct ski_pe *self, struct ski_topic topic, const struct ski_tally *sum)
{
    struct ski_idle_report *report = idle_report_of(self);
    bool                    same   = sum->sent == report->detection.last.sent &&
                report->detection.last.received == sum->received;

    (void)topic;
    report->since          = ski_ticks();
    report->detection.last = *sum;
    if (idle_is_proven(sum) && report->stage == FIRST) {
        report->stage = BETWEEN;
    } else if (idle_is_proven(sum) && report->stage == SECOND && same) {
        report->stage   = ASKING;
        report->missing = self->pes;
        report->answer  = ski_calloc((size_t)self->pes, sizeof *report->answer);
        skua_send_copy(ROOT, (skua_handler){SKI_HANDLER_IDLE_ASK}, NULL, 0);
    } else {
        idle_look_again(report, sum);
    }
}

const struct ski_wave_kind ski_idle_waves = {true, idle_visit, idle_result};

/* On PE 0, as ski_idle_before_sleep(). */
static uint64_t idle_look(struct ski_pe *self, struct ski_idle_report *report)
{
    struct ski_traffic traffic = idle_program_traffic(self);
    uint64_t           now = ski_ticks(), wait = report->period;

    if (report->stage != LOOKING && report->stage != BETWEEN)
        return SKI_FOREVER;
    if (idle_moved(traffic, report->traffic)) {
        report->traffic = traffic;
        report->since   = now;
        report->stage   = LOOKING;
    }
    if (report->stage == BETWEEN)
        wait /= 4;
    if (now - report->since < wait)
        return ski_ticks_to_ns(report->since + wait - now) + 1;
    idle_send_wave(self, report, report->stage == LOOKING ? FIRST : SECOND);
    return 0;
}

/* The PE of external threads has no objects, and is not PE 0. */
uint64_t ski_idle_before_sleep(struct ski_pe *self)
{
    if (self->pe != ROOT || ski_config.idle_report <= 0)
        return SKI_FOREVER;
    return idle_look(self, idle_report_of(self));
}

/* ---- on PE 0: the report ----------------------------------------------------------------------
 */

static bool idle_same_text(const struct ski_idle_report *report, int a, int b)
{
    return strcmp(report->answer[a].text, report->answer[b].text) == 0;
}

static bool idle_same_calls(const struct ski_idle_report *report, int a, int b)
{
    return report->answer[a].calls == report->answer[b].calls;
}

/* Appends "PEs 0-3, 7": @p pe and those after it that are like it. */
static void idle_add_pes(const struct ski_pe *self, struct ski_text *text, int pe,
                         bool (*like)(const struct ski_idle_report *report, int a, int b))
{
    const struct ski_idle_report *report = idle_report_of(self);
    bool                          many   = false;

    for (int other = pe + 1; other < self->pes; other++)
        many |= like(report, pe, other);
    ski_text_add(text, many ? "PEs " : "PE ");
    for (int first = pe, last; first < self->pes; first = last + 1) {
        last = first;
        if (!like(report, pe, first))
            continue;
        while (last + 1 < self->pes && like(report, pe, last + 1))
            last++;
        ski_text_add(text, first == pe ? "%d" : ", %d", first);
        if (last > first)
            ski_text_add(text, "-%d", last);
    }
}

/* Whether a PE before @p pe has said as much. */
static bool idle_told_before(const struct ski_idle_report *report, int pe,
                             bool (*like)(const struct ski_idle_report *report, int a, int b))
{
    for (int before = 0; before < pe; before++)
        if (like(report, before, pe))
            return true;
    return false;
}

static void idle_print_group(const struct ski_pe *self, int pe)
{
    char            line[TEXT_BYTES + 100] = "";
    struct ski_text text                   = {line, 0, sizeof line};
    const char     *what                   = idle_report_of(self)->answer[pe].text;

    idle_add_pes(self, &text, pe, idle_same_text);
    ski_text_add(&text, ": %s", *what ? what : "nothing waits there but the scheduler");
    ski_log(SKI_LOG_WARN, "  %s", line);
}

/* Reductions and barriers are numbered by the calls of each PE: those that have made fewer calls
 * than others are missing. */
static void idle_print_missing_calls(const struct ski_pe *self)
{
    const struct ski_idle_report *report           = idle_report_of(self);
    char                          line[TEXT_BYTES] = "";
    struct ski_text               text             = {line, 0, sizeof line};
    uint64_t                      most             = 0;

    for (int pe = 0; pe < self->pes; pe++)
        most = report->answer[pe].calls > most ? report->answer[pe].calls : most;
    for (int pe = 0; pe < self->pes; pe++) {
        if (report->answer[pe].calls == most || idle_told_before(report, pe, idle_same_calls))
            continue;
        if (text.length)
            ski_text_add(&text, ", ");
        idle_add_pes(self, &text, pe, idle_same_calls);
        ski_text_add(&text, " %llu", (unsigned long long)report->answer[pe].calls);
    }
    if (text.length)
        ski_log(SKI_LOG_WARN, "  some PEs have made %llu calls of reductions and barriers, but %s",
                (unsigned long long)most, line);
}

static void idle_print(const struct ski_pe *self)
{
    const struct ski_idle_report *report = idle_report_of(self);
    char                          who[40];
    int                           groups = 0;

    snprintf(who, sizeof who, self->pes == 1 ? "the only PE is" : "all %d PEs are", self->pes);
    ski_log(SKI_LOG_WARN,
            "%s idle and nothing is in flight: the job waits for ever, as skua_exit() was not "
            "called",
            who);
    for (int pe = 0; pe < self->pes && groups <= GROUPS; pe++)
        if (!idle_told_before(report, pe, idle_same_text) && groups++ < GROUPS)
            idle_print_group(self, pe);
    if (groups > GROUPS)
        ski_log(SKI_LOG_WARN, "  and so on, on more PEs");
    idle_print_missing_calls(self);
}

static void idle_free_answers(const struct ski_pe *self, struct ski_idle_report *report)
{
    for (int pe = 0; pe < self->pes; pe++)
        free(report->answer[pe].text);
    free(report->answer);
    report->answer = NULL;
}

static void idle_conclude(struct ski_pe *self, struct ski_idle_report *report)
{
    idle_print(self);
    idle_free_answers(self, report);
    report->stage      = DONE;
    if (ski_config.idle_exit)
        skua_exit(EXIT_FAILURE);
}

void ski_on_idle_text(skua_msg *msg)
{
    struct ski_pe          *self   = ski_self;
    struct ski_idle_report *report = idle_report_of(self);
    size_t                  length = msg->bytes - SKI_IDLE_TEXT_LEAST;
    struct answer          *answer;

    if (report->stage != ASKING || (uint32_t)msg->source >= (uint32_t)self->pes ||
        report->answer[msg->source].text || length >= TEXT_BYTES) {
        ski_far_drop(self, msg);
        return;
    }
    answer = &report->answer[msg->source];
    memcpy(&answer->calls, skua_msg_data(msg), sizeof answer->calls);
    answer->text = ski_calloc(1, length + 1);
    memcpy(answer->text, (char *)skua_msg_data(msg) + SKI_IDLE_TEXT_LEAST, length);
    skua_msg_free(msg);
    if (--report->missing == 0)
        idle_conclude(self, report);
}

/* ---- life ---------------------------------------------------------------------------------- */

struct ski_idle_report *ski_idle_report_begin(void)
{
    struct ski_idle_report *report = ski_calloc(1, sizeof *report);

    report->detection.topic = (struct ski_topic){ROOT, SKI_TOPIC_IDLE};
    report->period          = ski_ns_to_ticks((uint64_t)(ski_config.idle_report * 1e9));
    return report;
}

void ski_idle_report_end(struct ski_idle_report *report)
{
    if (report->answer)
        idle_free_answers(ski_self, report);
    free(report);
}
