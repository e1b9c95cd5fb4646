/* SPDX-License-Identifier: Apache-2.0 */
/* termination.c - see termination.h. */
#include "objects/services/termination.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/tree.h"
#include "objects/objects.h"

#define PAUSE_LEAST 20e-6
#define PAUSE_MOST  1e-3

/* On the wire. */
struct wave {
    struct ski_topic topic;
    uint32_t         number;
    uint32_t         unused;
};

struct report {
    struct wave      wave;
    struct ski_tally sum;
};

_Static_assert(sizeof(struct wave) == SKI_WAVE_LEAST && sizeof(struct report) == SKI_REPORT_LEAST,
               "see termination.h");

/* A wave that has visited this PE and waits for its children. */
struct node {
    struct node  *next;
    int           open; /* children that have not reported, and ourselves */
    struct report sum;
};

struct ski_waves {
    struct ski_traffic traffic; /* of waves and reports */
    struct node       *nodes;
    uint32_t           timers; /* of pauses between waves */
};

struct ski_traffic ski_wave_traffic(const struct ski_pe *self)
{
    return self->objects->waves->traffic;
}

uint32_t ski_wave_timers(const struct ski_pe *self)
{
    return self->objects->waves->timers;
}

static const struct ski_wave_kind *kind_of(struct ski_topic topic)
{
    switch (topic.number) {
    case SKI_TOPIC_QUIET: return &ski_quiet_waves;
    case SKI_TOPIC_IDLE: return &ski_idle_waves;
    default: return &ski_detect_waves;
    }
}

static void post(struct ski_pe *self, int pe, uint32_t handler, const void *data, size_t bytes)
{
    struct skua_msg *msg = ski_msg_copy(self, handler, data, bytes);

    skua_msg_set_priority(msg, INT32_MAX);
    self->objects->waves->traffic.sent++;
    ski_msg_post(self, pe, handler, msg);
}

/* ---- at the root ------------------------------------------------------------------- */

void ski_wave_send(struct ski_pe *self, struct ski_detection *detection)
{
    struct wave wave = {detection->topic, ++detection->wave, 0};

    post(self, self->pe, SKI_HANDLER_QUIET_WAVE, &wave, sizeof wave);
}

bool ski_wave_note(struct ski_detection *detection, const struct ski_tally *sum)
{
    detection->before = detection->last;
    detection->last   = *sum;
    return detection->before.received == detection->last.sent;
}

static void on_pause_over(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ski_self->objects->waves->timers--;
    ski_wave_send(ski_self, arg);
}

void ski_wave_again(struct ski_pe *self, struct ski_detection *detection)
{
    const struct ski_tally *last = &detection->last;

    /* Probably it is over, and the next wave proves it; but not twice in a row, as counts
     * also happen to be equal now and then. */
    detection->hurried = !detection->hurried && last->sent == last->received;
    if (detection->hurried) {
        ski_wave_send(self, detection);
        return;
    }
    skua_after(detection->pause, skua_done_call(on_pause_over, detection));
    self->objects->waves->timers++;
    detection->pause = detection->pause < PAUSE_MOST / 2 ? 2 * detection->pause : PAUSE_MOST;
    if (detection->pause < PAUSE_LEAST)
        detection->pause = PAUSE_LEAST;
}

/* ---- nodes ------------------------------------------------------------------------- */

static struct node **find(struct ski_waves *waves, const struct wave *wave)
{
    struct node **at = &waves->nodes;

    while (*at && ((*at)->sum.wave.topic.root != wave->topic.root ||
                   (*at)->sum.wave.topic.number != wave->topic.number))
        at = &(*at)->next;
    return at;
}

static int parent_of(const struct ski_pe *self, int root)
{
    struct ski_tree tree;

    if (ski_pe_hidden(self))
        return ski_job_first_pe(self->job, self->process);
    tree = ski_tree_at(self->pe, self->pes, root, (int)ski_config.tree_arity);
    return ski_tree_parent(&tree);
}

/* All of it is here: to the parent, or to whoever sends the waves. */
static void conclude(struct ski_pe *self, const struct report *report)
{
    struct ski_topic topic = report->wave.topic;

    if (self->pe == topic.root)
        kind_of(topic)->result(self, topic, &report->sum);
    else
        post(self, parent_of(self, topic.root), SKI_HANDLER_QUIET_REPORT, report, sizeof *report);
}

static void add_report(struct ski_pe *self, struct node **at, const struct ski_tally *sum)
{
    struct node *node = *at;

    node->sum.sum.sent += sum->sent;
    node->sum.sum.received += sum->received;
    node->sum.sum.finished += sum->finished;
    if (--node->open > 0)
        return;
    *at = node->next;
    conclude(self, &node->sum);
    free(node);
}

static void pass_on(struct ski_pe *self, struct node *node)
{
    const struct wave *wave = &node->sum.wave;
    struct ski_tree    tree =
        ski_tree_at(self->pe, self->pes, wave->topic.root, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        post(self, ski_tree_child(&tree, i), SKI_HANDLER_QUIET_WAVE, wave, sizeof *wave);
    node->open += tree.children;
    if (!ski_config.progress_thread || !kind_of(wave->topic)->helpers ||
        self->pe != ski_job_first_pe(self->job, self->process))
        return;
    post(self, ski_job_helper(self->job, self->process), SKI_HANDLER_QUIET_WAVE, wave,
         sizeof *wave);
    node->open++;
}

/* ---- handlers ---------------------------------------------------------------------- */

/* Whether a wave comes down the tree of a root that there is: to the root only from itself, which
 * therefore knows its topic. */
static bool wave_is_sound(const struct ski_pe *self, const struct wave *wave, int source)
{
    int root = wave->topic.root;

    if ((uint32_t)root >= (uint32_t)self->pes)
        return false;
    return source == (self->pe == root ? root : parent_of(self, root));
}

void ski_on_wave(skua_msg *msg)
{
    struct ski_pe    *self  = ski_self;
    struct ski_waves *waves = self->objects->waves;
    struct wave       wave  = *(struct wave *)skua_msg_data(msg);
    struct node      *node;
    struct ski_tally  own;

    waves->traffic.received++;
    if (*find(waves, &wave) || !wave_is_sound(self, &wave, msg->source)) {
        ski_far_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    node         = ski_malloc(sizeof *node);
    *node        = (struct node){waves->nodes, 1, {wave, {0, 0, 0}}};
    waves->nodes = node;
    if (!ski_pe_hidden(self))
        pass_on(self, node);
    own = kind_of(wave.topic)->visit(self, wave.topic);
    add_report(self, find(waves, &wave), &own);
}

void ski_on_report(skua_msg *msg)
{
    struct ski_pe *self   = ski_self;
    struct report  report = *(struct report *)skua_msg_data(msg);
    struct node  **at     = find(self->objects->waves, &report.wave);

    self->objects->waves->traffic.received++;
    if (!*at || (*at)->sum.wave.number != report.wave.number) {
        ski_far_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    add_report(self, at, &report.sum);
}

/* ---- life -------------------------------------------------------------------------- */

struct ski_waves *ski_waves_begin(void)
{
    return ski_calloc(1, sizeof(struct ski_waves));
}

void ski_waves_end(struct ski_waves *waves)
{
    while (waves->nodes) {
        struct node *gone = waves->nodes;
        waves->nodes      = gone->next;
        free(gone);
    }
    free(waves);
}
