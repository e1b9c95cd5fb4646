/* SPDX-License-Identifier: Apache-2.0 */
/* idle_report.c - see idle_report.h. */
#include "objects/services/idle_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "core/collective/collective.h"
#include "core/collective/reduction_record.h"
#include "core/sched/idle.h"
#include "core/sched/wait_report.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/pe_tree.h"
#include "objects/model/collection.h"
#include "objects/model/object.h"
#include "objects/services/termination.h"
#include "onesided/onesided.h"
#include "onesided/team/team_report.h"

#define IDLE_ROOT       0
#define IDLE_TEXT_BYTES 900 /* of the answer of a PE: one line of the log        */
#define IDLE_GROUPS_MAX 20  /* groups of PEs with equal answers that are printed */
#define IDLE_NET_TIMES  12  /* settings `idle_report` that the network may take for one packet */

/* The stages of PE 0: watches whether it has been idle for long; waits for the first wave, for the
 * pause after it, for the second wave; for the answers; has no more to do. */
enum idle_stage { IDLE_LOOKING, IDLE_FIRST, IDLE_BETWEEN, IDLE_SECOND, IDLE_COLLECTING, IDLE_DONE };

/* The answer of a PE. */
struct idle_answer {
    uint64_t calls; /* of collectives that the PE has made */
    char    *text;  /* NULL: the PE has not answered      */
};

struct idle_report {
    uint64_t rests; /* of this PE, when a wave last came by */

    /* Packets of this PE that do not arrive. */
    uint64_t net_since;  /* ticks: the same ones are in flight since then; 0: none are */
    uint64_t net_moved;  /* a number that differs if others are                        */
    bool     net_warned; /* a warning was logged                                       */

    /* On PE 0. */
    enum idle_stage       stage;
    struct ski_msg_counts counts; /* when PE 0 last looked                     */
    uint64_t since;  /* ticks: when the counts last changed, or a wave came back; 0: never */
    uint64_t period; /* ticks of idleness before the report: a quarter is between the waves */
    struct ski_termination_detection detection;
    struct ski_termination_counts    found;  /* the sums of the last try                 */
    struct idle_answer              *answer; /* of each PE                               */
    int                              missing;
};

static struct idle_report *idle_report_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_IDLE_REPORT];
}

/* ---- on each PE --------------------------------------------------------------------- */

static struct ski_msg_counts idle_add_counts(struct ski_msg_counts a, struct ski_msg_counts b)
{
    return (struct ski_msg_counts){a.sent + b.sent, a.received + b.received};
}

/* Returns the message counts of the program: without waves, and with held messages as received. */
static struct ski_msg_counts idle_program_counts(const struct ski_pe *self)
{
    struct ski_msg_counts all = ski_msg_counts_of(self), waves = ski_termination_msg_counts(self);

    return (struct ski_msg_counts){all.sent - waves.sent,
                                   all.received + self->held - waves.received};
}

/* Returns whether something may happen here without a message. */
static bool idle_may_go_on(const struct ski_pe *self, bool rested, bool leads)
{
    return !rested || self->timers.count > ski_termination_timers(self) ||
           (leads && ski_tasks_external());
}

static struct ski_termination_counts idle_visit(struct ski_pe               *self,
                                                struct ski_termination_topic topic)
{
    struct idle_report   *report = idle_report_of(self);
    bool                  leads  = self->pe == ski_job_first_pe(self->job, self->process);
    bool                  rested = report->rests != ski_idle_count(self);
    struct ski_msg_counts counts = idle_program_counts(self);

    (void)topic;
    report->rests = ski_idle_count(self);
    if (leads)
        counts = idle_add_counts(counts, ski_external_msg_counts());
    return (struct ski_termination_counts){counts.sent, counts.received,
                                           idle_may_go_on(self, rested, leads)};
}

/* The objects of a collection here whose structured control flow waits. */
struct idle_flows {
    const struct ski_object *first;
    size_t                   waiting;
};

static void idle_count_flow(struct ski_object *object, void *arg)
{
    struct idle_flows *flows = arg;

    if (!object->of->class->flow_report(object, NULL))
        return;
    flows->first = flows->first ? flows->first : object;
    flows->waiting++;
}

/* Appends what the first object waits for: the others mostly wait for the same. */
static void idle_explain_flows(struct ski_collection *all, struct ski_text *text)
{
    struct idle_flows flows = {NULL, 0};

    if (!all->class->flow_report)
        return;
    ski_elements_each(all, idle_count_flow, &flows);
    if (flows.waiting == 0)
        return;
    if (flows.waiting == 1)
        ski_text_item(text, "%s waits ", ski_object_text(flows.first));
    else
        ski_text_item(text, "%zu objects of %s wait, such as %s ", flows.waiting,
                      all->class->def.name, ski_object_text(flows.first));
    all->class->flow_report(flows.first, text);
}

static void idle_explain_collection(struct ski_collection *all, void *arg)
{
    struct ski_text *text = arg;

    if (all->state == SKI_EXPECTED && all->held.first)
        ski_text_item(text, "messages are held for a collection that PE %d has not created",
                      (int)(all->id >> 32));
    if (all->state == SKI_DEFINED || all->state == SKI_EXISTS)
        ski_notify_collection_report(&all->self->objects->lifecycle, all, text);
    if (all->state == SKI_EXISTS)
        idle_explain_flows(all, text);
}

static void idle_explain_objects(struct ski_objects *objects, struct ski_text *text)
{
    ski_collections_each(objects, idle_explain_collection, text);
    ski_notify_pe_report(&objects->lifecycle, objects, text);
}

static void idle_request_children(struct ski_pe *self)
{
    struct ski_pe_tree tree =
        ski_pe_tree_at(self->job, self->pe, IDLE_ROOT, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        skua_send_copy(ski_pe_tree_child(&tree, i), (skua_handler){SKI_HANDLER_IDLE_REPORT_REQUEST},
                       NULL, 0);
}

/* Replies.  On the wire: the number of collective calls, then the text without its final 0. */
static void idle_answer(const struct ski_pe *self)
{
    char            line[IDLE_TEXT_BYTES] = "";
    struct ski_text text                  = {line, 0, sizeof line};
    skua_msg       *msg;

    ski_report_blocked_calls(self, &text);
    ski_reductions_report(self, &text);
    ski_teams_report(self, &text);
    idle_explain_objects(self->objects, &text);
    msg = skua_msg_alloc(SKI_IDLE_TEXT_MIN + text.length);
    memcpy(skua_msg_data(msg), &self->collectives->calls, SKI_IDLE_TEXT_MIN);
    memcpy((char *)skua_msg_data(msg) + SKI_IDLE_TEXT_MIN, line, text.length);
    skua_send(IDLE_ROOT, (skua_handler){SKI_HANDLER_IDLE_REPORT_TEXT}, msg);
}

void ski_on_idle_report_request(skua_msg *msg)
{
    skua_msg_free(msg);
    idle_request_children(ski_self);
    idle_answer(ski_self);
}

/* ---- on PE 0: detection ------------------------------------------------------------- */

static bool idle_moved(struct ski_msg_counts a, struct ski_msg_counts b)
{
    return a.sent != b.sent || a.received != b.received;
}

static bool idle_is_proven(const struct ski_termination_counts *sum)
{
    return sum->sent == sum->received && sum->finished == 0;
}

static void idle_send_wave(struct ski_pe *self, struct idle_report *report, enum idle_stage stage)
{
    ski_assert(self->pe == IDLE_ROOT);
    report->stage = stage;
    ski_termination_send(self, &report->detection);
}

/* Schedules the next check, since the job is not idle for good.  If no message has moved since the
 * last check, the next one is twice as far off. */
static void idle_look_again(struct idle_report *report, const struct ski_termination_counts *sum)
{
    uint64_t least = ski_ns_to_ticks((uint64_t)(ski_config.idle_report * 1e9));
    bool     quiet = sum->sent == report->found.sent && sum->received == report->found.received;

    report->period = quiet ? 2 * report->period : least;
    report->found  = *sum;
    report->stage  = IDLE_LOOKING;
}

/* Takes the sums of a wave: two waves with equal sums prove that the job is idle for good. */
static void idle_result(struct ski_pe *self, struct ski_termination_topic topic,
                        const struct ski_termination_counts *sum)
{
    struct idle_report *report = idle_report_of(self);
    bool                same   = sum->sent == report->detection.last.sent &&
                report->detection.last.received == sum->received;

    (void)topic;
    ski_assert(report->stage == IDLE_FIRST || report->stage == IDLE_SECOND);
    report->since          = ski_ticks();
    report->detection.last = *sum;
    if (idle_is_proven(sum) && report->stage == IDLE_FIRST) {
        report->stage = IDLE_BETWEEN;
    } else if (idle_is_proven(sum) && report->stage == IDLE_SECOND && same) {
        report->stage   = IDLE_COLLECTING;
        report->missing = self->pes;
        report->answer  = ski_calloc((size_t)self->pes, sizeof *report->answer);
        skua_send_copy(IDLE_ROOT, (skua_handler){SKI_HANDLER_IDLE_REPORT_REQUEST}, NULL, 0);
    } else {
        idle_look_again(report, sum);
    }
}

static const struct ski_termination_kind idle_waves = {true, idle_visit, idle_result};

/* Sends a wave if this PE has been idle for long enough.  Returns for how many ns it may sleep at
 * most. */
static uint64_t idle_look(struct ski_pe *self, struct idle_report *report)
{
    struct ski_msg_counts counts = idle_program_counts(self);
    uint64_t              now = ski_ticks(), pause = report->period / 4, wait;

    if (report->stage != IDLE_LOOKING && report->stage != IDLE_BETWEEN)
        return SKI_FOREVER;
    if (report->since == 0 || idle_moved(counts, report->counts)) {
        report->counts = counts;
        report->since  = now;
        report->stage  = IDLE_LOOKING;
    }
    wait = report->stage == IDLE_BETWEEN ? pause : report->period - pause;
    if (now - report->since < wait)
        return ski_ticks_to_ns(report->since + wait - now) + 1;
    idle_send_wave(self, report, report->stage == IDLE_LOOKING ? IDLE_FIRST : IDLE_SECOND);
    return 0;
}

/* Logs that packets of this PE have been in flight for long.  A wave would not find that: it may
 * wait for them. */
static void idle_warn_net(struct ski_pe *self, struct idle_report *report, uint64_t ticks)
{
    char            line[IDLE_TEXT_BYTES] = "";
    struct ski_text text                  = {line, 0, sizeof line};

    report->net_warned = true;
    ski_report_blocked_calls(self, &text);
    ski_log(SKI_LOG_WARN,
            "idle for %.3g s while packets to other hosts or operations on them are in flight: "
            "their target computes, the network is slow, or a driver has lost them without an "
            "error, such as those whose memory was freed before they were done%s%s",
            (double)ski_ticks_to_ns(ticks) * 1e-9, text.length ? "; this PE " : "", line);
}

/* Watches whether packets of this PE do not arrive.  Returns for how many ns it may sleep at
 * most. */
static uint64_t idle_look_net(struct ski_pe *self, struct idle_report *report)
{
    uint64_t patience  = ski_ns_to_ticks((uint64_t)(ski_config.idle_report * IDLE_NET_TIMES * 1e9));
    uint64_t in_flight = ski_net_in_flight(self), moved = self->queue.popped + in_flight;
    uint64_t now = ski_ticks();

    if (in_flight == 0 || report->net_warned) {
        report->net_since = 0;
        return SKI_FOREVER;
    }
    if (report->net_since == 0 || report->net_moved != moved) {
        report->net_since = now;
        report->net_moved = moved;
    }
    if (now - report->net_since < patience)
        return ski_ticks_to_ns(report->net_since + patience - now) + 1;
    idle_warn_net(self, report, now - report->net_since);
    return SKI_FOREVER;
}

/* The PE of external threads has no objects, and is not PE 0. */
uint64_t ski_idle_before_sleep(struct ski_pe *self)
{
    uint64_t most = SKI_FOREVER, wait;

    if (ski_config.idle_report <= 0 || ski_pe_hidden(self))
        return SKI_FOREVER;
    if (self->net)
        most = idle_look_net(self, idle_report_of(self));
    wait = self->pe == IDLE_ROOT ? idle_look(self, idle_report_of(self)) : SKI_FOREVER;
    return wait < most ? wait : most;
}

/* ---- on PE 0: the report ------------------------------------------------------------ */

static bool idle_same_text(const struct idle_report *report, int a, int b)
{
    return strcmp(report->answer[a].text, report->answer[b].text) == 0;
}

static bool idle_same_calls(const struct idle_report *report, int a, int b)
{
    return report->answer[a].calls == report->answer[b].calls;
}

/* Appends "PEs 0-3, 7": @p pe and the PEs after it whose answers are like its. */
static void idle_add_pes(const struct ski_pe *self, struct ski_text *text, int pe,
                         bool (*like)(const struct idle_report *report, int a, int b))
{
    const struct idle_report *report = idle_report_of(self);
    bool                      many   = false;

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

/* Returns whether the answer of a PE before @p pe is like that of @p pe. */
static bool idle_printed_before(const struct idle_report *report, int pe,
                                bool (*like)(const struct idle_report *report, int a, int b))
{
    for (int before = 0; before < pe; before++)
        if (like(report, before, pe))
            return true;
    return false;
}

static void idle_print_group(const struct ski_pe *self, int pe)
{
    char            line[IDLE_TEXT_BYTES + 100] = "";
    struct ski_text text                        = {line, 0, sizeof line};
    const char     *what                        = idle_report_of(self)->answer[pe].text;

    idle_add_pes(self, &text, pe, idle_same_text);
    ski_text_add(&text, ": %s", *what ? what : "nothing waits there but the scheduler");
    ski_log(SKI_LOG_WARN, "  %s", line);
}

/* Prints which PEs are missing in reductions and barriers: each PE numbers them by its calls, so
 * those are missing that have made fewer calls than others. */
static void idle_print_missing_calls(const struct ski_pe *self)
{
    const struct idle_report *report                = idle_report_of(self);
    char                      line[IDLE_TEXT_BYTES] = "";
    struct ski_text           text                  = {line, 0, sizeof line};
    uint64_t                  most                  = 0;

    for (int pe = 0; pe < self->pes; pe++)
        most = report->answer[pe].calls > most ? report->answer[pe].calls : most;
    for (int pe = 0; pe < self->pes; pe++) {
        if (report->answer[pe].calls == most || idle_printed_before(report, pe, idle_same_calls))
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

/* Prints the report: equal answers of PEs together. */
static void idle_print(const struct ski_pe *self)
{
    const struct idle_report *report = idle_report_of(self);
    char                      subject[40];
    int                       groups = 0;

    snprintf(subject, sizeof subject, self->pes == 1 ? "the only PE is" : "all %d PEs are",
             self->pes);
    ski_log(SKI_LOG_WARN,
            "%s idle and nothing is in flight: the job waits forever, as skua_exit() was not "
            "called%s",
            subject,
            atomic_load(&self->job->phased)
                ? ", nor skua_finalize() by every process that called skua_init()"
                : "");
    for (int pe = 0; pe < self->pes && groups <= IDLE_GROUPS_MAX; pe++)
        if (!idle_printed_before(report, pe, idle_same_text) && groups++ < IDLE_GROUPS_MAX)
            idle_print_group(self, pe);
    if (groups > IDLE_GROUPS_MAX)
        ski_log(SKI_LOG_WARN, "  and so on, on more PEs");
    idle_print_missing_calls(self);
}

static void idle_free_answers(const struct ski_pe *self, struct idle_report *report)
{
    for (int pe = 0; pe < self->pes; pe++)
        free(report->answer[pe].text);
    free(report->answer);
    report->answer = NULL;
}

static void idle_conclude(struct ski_pe *self, struct idle_report *report)
{
    ski_assert(report->stage == IDLE_COLLECTING && report->answer);
    idle_print(self);
    idle_free_answers(self, report);
    report->stage = IDLE_DONE;
    if (ski_config.idle_exit)
        skua_exit(EXIT_FAILURE);
}

void ski_on_idle_text(skua_msg *msg)
{
    struct ski_pe      *self   = ski_self;
    struct idle_report *report = idle_report_of(self);
    size_t              length = msg->bytes - SKI_IDLE_TEXT_MIN;
    struct idle_answer *answer;

    if (report->stage != IDLE_COLLECTING || (uint32_t)msg->source >= (uint32_t)self->pes ||
        report->answer[msg->source].text || length >= IDLE_TEXT_BYTES) {
        ski_net_drop(self, msg);
        return;
    }
    answer = &report->answer[msg->source];
    memcpy(&answer->calls, skua_msg_data(msg), sizeof answer->calls);
    answer->text = ski_calloc(1, length + 1);
    memcpy(answer->text, (char *)skua_msg_data(msg) + SKI_IDLE_TEXT_MIN, length);
    skua_msg_free(msg);
    ski_assert(report->missing > 0);
    if (--report->missing == 0)
        idle_conclude(self, report);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void idle_pe_begin(struct ski_objects *objects)
{
    struct idle_report *report = ski_calloc(1, sizeof *report);

    report->detection.topic             = (struct ski_termination_topic){IDLE_ROOT, SKI_TOPIC_IDLE};
    report->period                      = ski_ns_to_ticks((uint64_t)(ski_config.idle_report * 1e9));
    objects->slot[SKI_SLOT_IDLE_REPORT] = report;
    ski_termination_register(objects, SKI_TOPIC_IDLE, &idle_waves);
}

static void idle_pe_end(struct ski_objects *objects)
{
    struct idle_report *report = objects->slot[SKI_SLOT_IDLE_REPORT];

    if (report->answer)
        idle_free_answers(objects->self, report);
    free(report);
}

const struct ski_lifecycle ski_idle_report_lifecycle = {.pe_begin = idle_pe_begin,
                                                        .pe_end   = idle_pe_end};
