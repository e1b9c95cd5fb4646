/* SPDX-License-Identifier: Apache-2.0 */
/* termination.c - see termination.h. */
#include "objects/services/termination.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/pe_tree.h"
#include "objects/model/objects_pe.h"

#define TERMINATION_PAUSE_MIN 20e-6
#define TERMINATION_PAUSE_MAX 1e-3

/* A wave on the wire. */
struct termination_wave {
    struct ski_termination_topic topic;
    uint32_t                     number;
    uint32_t                     unused;
};

/* A report on the wire: the sums of a subtree. */
struct termination_report {
    struct termination_wave       wave;
    struct ski_termination_counts sum;
};

_Static_assert(sizeof(struct termination_wave) == SKI_TERMINATION_WAVE_MIN &&
                   sizeof(struct termination_report) == SKI_TERMINATION_REPORT_MIN,
               "see termination.h");

/* A wave that has visited this PE and waits for its children. */
struct termination_node {
    struct termination_node  *next;
    int                       open; /* children that have not reported, and this PE */
    struct termination_report sum;
};

enum { TERMINATION_QUIET, TERMINATION_IDLE, TERMINATION_DETECTOR, TERMINATION_KINDS };

struct termination {
    const struct ski_termination_kind *kind[TERMINATION_KINDS];
    struct ski_msg_counts              counts; /* of waves and reports */
    struct termination_node           *nodes;
    uint32_t                           timers; /* of the runtime itself */
};

static struct termination *termination_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_TERMINATION];
}

struct ski_msg_counts ski_termination_msg_counts(const struct ski_pe *self)
{
    return termination_of(self)->counts;
}

uint32_t ski_termination_timers(const struct ski_pe *self)
{
    return termination_of(self)->timers;
}

void ski_termination_own_timer(struct ski_pe *self)
{
    termination_of(self)->timers++;
}

static int termination_kind_index(uint32_t topic)
{
    switch (topic) {
    case SKI_TOPIC_QUIET: return TERMINATION_QUIET;
    case SKI_TOPIC_IDLE: return TERMINATION_IDLE;
    default: return TERMINATION_DETECTOR;
    }
}

static const struct ski_termination_kind *termination_kind(const struct ski_pe         *self,
                                                           struct ski_termination_topic topic)
{
    return termination_of(self)->kind[termination_kind_index(topic.number)];
}

void ski_termination_register(struct ski_objects *objects, uint32_t topic,
                              const struct ski_termination_kind *kind)
{
    struct termination *termination = objects->slot[SKI_SLOT_TERMINATION];

    ski_assert(!termination->kind[termination_kind_index(topic)]);
    termination->kind[termination_kind_index(topic)] = kind;
}

static void termination_post(struct ski_pe *self, int pe, uint32_t handler, const void *data,
                             size_t bytes)
{
    struct skua_msg *msg = ski_msg_copy(self, handler, data, bytes);

    skua_msg_set_priority(msg, INT32_MAX);
    termination_of(self)->counts.sent++;
    ski_msg_post(self, pe, handler, msg);
}

/* ---- at the root -------------------------------------------------------------------- */

void ski_termination_send(struct ski_pe *self, struct ski_termination_detection *detection)
{
    struct termination_wave wave = {detection->topic, ++detection->wave, 0};

    termination_post(self, self->pe, SKI_HANDLER_TERMINATION_WAVE, &wave, sizeof wave);
}

bool ski_termination_record(struct ski_termination_detection    *detection,
                            const struct ski_termination_counts *sum)
{
    detection->before = detection->last;
    detection->last   = *sum;
    return detection->before.received == detection->last.sent;
}

static void termination_pause_over(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ski_assert(termination_of(ski_self)->timers > 0);
    termination_of(ski_self)->timers--;
    ski_termination_send(ski_self, arg);
}

void ski_termination_continue(struct ski_pe *self, struct ski_termination_detection *detection)
{
    const struct ski_termination_counts *last = &detection->last;

    /* Equal counts: probably it is over, and the next wave proves it.  Not twice in a row, as
     * counts happen to be equal now and then. */
    detection->hurried = !detection->hurried && last->sent == last->received;
    if (detection->hurried) {
        ski_termination_send(self, detection);
        return;
    }
    skua_timer_after(detection->pause, skua_done_call(termination_pause_over, detection));
    termination_of(self)->timers++;
    detection->pause =
        detection->pause < TERMINATION_PAUSE_MAX / 2 ? 2 * detection->pause : TERMINATION_PAUSE_MAX;
    if (detection->pause < TERMINATION_PAUSE_MIN)
        detection->pause = TERMINATION_PAUSE_MIN;
    ski_assert(detection->pause <= TERMINATION_PAUSE_MAX);
}

/* ---- nodes -------------------------------------------------------------------------- */

/* Returns where the node of a wave's topic is linked in; *at is NULL if there is none. */
static struct termination_node **termination_find(struct termination            *waves,
                                                  const struct termination_wave *wave)
{
    struct termination_node **at = &waves->nodes;

    while (*at && ((*at)->sum.wave.topic.root != wave->topic.root ||
                   (*at)->sum.wave.topic.number != wave->topic.number))
        at = &(*at)->next;
    return at;
}

/* Returns the parent of this PE in the tree of a root; of a hidden PE, the first PE of its
 * process. */
static int termination_parent(const struct ski_pe *self, int root)
{
    struct ski_pe_tree tree;

    if (ski_pe_hidden(self))
        return ski_job_first_pe(self->job, self->process);
    tree = ski_pe_tree_at(self->job, self->pe, root, (int)ski_config.tree_arity);
    return ski_pe_tree_parent(&tree);
}

/* The sums of the subtree are complete: they go to the parent, or, at the root, to the module. */
static void termination_conclude(struct ski_pe *self, const struct termination_report *report)
{
    struct ski_termination_topic topic = report->wave.topic;

    if (self->pe == topic.root)
        termination_kind(self, topic)->result(self, topic, &report->sum);
    else
        termination_post(self, termination_parent(self, topic.root), SKI_HANDLER_TERMINATION_REPORT,
                         report, sizeof *report);
}

static void termination_add_report(struct ski_pe *self, struct termination_node **at,
                                   const struct ski_termination_counts *sum)
{
    struct termination_node *node = *at;

    node->sum.sum.sent += sum->sent;
    node->sum.sum.received += sum->received;
    node->sum.sum.finished += sum->finished;
    ski_assert(node->open > 0);
    if (--node->open > 0)
        return;
    *at = node->next;
    termination_conclude(self, &node->sum);
    free(node);
}

/* Sends a wave to the children of this PE and, if it counts hidden PEs, to the progress thread. */
static void termination_forward(struct ski_pe *self, struct termination_node *node)
{
    const struct termination_wave *wave = &node->sum.wave;
    struct ski_pe_tree             tree =
        ski_pe_tree_at(self->job, self->pe, wave->topic.root, (int)ski_config.tree_arity);

    for (int i = 0; i < tree.children; i++)
        termination_post(self, ski_pe_tree_child(&tree, i), SKI_HANDLER_TERMINATION_WAVE, wave,
                         sizeof *wave);
    ski_assert(node->open == 1);
    node->open += tree.children;
    if (!ski_config.progress_thread || !termination_kind(self, wave->topic)->hidden ||
        self->pe != ski_job_first_pe(self->job, self->process))
        return;
    termination_post(self, ski_job_progress_pe(self->job, self->process),
                     SKI_HANDLER_TERMINATION_WAVE, wave, sizeof *wave);
    node->open++;
}

/* ---- handlers ----------------------------------------------------------------------- */

/* Returns whether a wave comes down the tree of a root that exists.  The root takes a wave from
 * itself only, so it knows the topic. */
static bool termination_wave_valid(const struct ski_pe *self, const struct termination_wave *wave,
                                   int source)
{
    int root = wave->topic.root;

    if ((uint32_t)root >= (uint32_t)self->pes)
        return false;
    return source == (self->pe == root ? root : termination_parent(self, root));
}

void ski_on_termination_wave(skua_msg *msg)
{
    struct ski_pe                *self  = ski_self;
    struct termination           *waves = termination_of(self);
    struct termination_wave       wave  = *(struct termination_wave *)skua_msg_data(msg);
    struct termination_node      *node;
    struct ski_termination_counts own;

    waves->counts.received++;
    if (*termination_find(waves, &wave) || !termination_wave_valid(self, &wave, msg->source)) {
        ski_net_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    node         = ski_malloc(sizeof *node);
    *node        = (struct termination_node){waves->nodes, 1, {wave, {0, 0, 0}}};
    waves->nodes = node;
    if (!ski_pe_hidden(self))
        termination_forward(self, node);
    own = termination_kind(self, wave.topic)->visit(self, wave.topic);
    termination_add_report(self, termination_find(waves, &wave), &own);
}

void ski_on_termination_report(skua_msg *msg)
{
    struct ski_pe            *self   = ski_self;
    struct termination_report report = *(struct termination_report *)skua_msg_data(msg);
    struct termination_node **at     = termination_find(termination_of(self), &report.wave);

    termination_of(self)->counts.received++;
    if (!*at || (*at)->sum.wave.number != report.wave.number) {
        ski_net_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    termination_add_report(self, at, &report.sum);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void termination_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_TERMINATION] = ski_calloc(1, sizeof(struct termination));
}

static void termination_pe_end(struct ski_objects *objects)
{
    struct termination *waves = objects->slot[SKI_SLOT_TERMINATION];

    while (waves->nodes) {
        struct termination_node *gone = waves->nodes;
        waves->nodes                  = gone->next;
        free(gone);
    }
    free(waves);
}

const struct ski_lifecycle ski_termination_lifecycle = {.pe_begin = termination_pe_begin,
                                                        .pe_end   = termination_pe_end};
