/* SPDX-License-Identifier: Apache-2.0 */
/* detector.c - see detector.h. */
#include "objects/services/detector.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/collective/pe_tree.h"
#include "objects/model/hash_table.h"
#include "objects/model/objects_pe.h"
#include "objects/services/termination.h"

/* The order to start a detector, sent to its root. */
struct detector_start {
    skua_detector   name;
    uint64_t        producers;
    skua_completion done;
};

_Static_assert(sizeof(struct detector_start) == SKI_DETECTOR_START_MIN, "see detector.h");

/* The detection, at the root, once it was started. */
struct detector_search {
    uint64_t                         producers;
    skua_completion                  done;
    struct ski_termination_detection detection;
};

/* A detector that this PE has used. */
struct detector {
    struct ski_hash_link          link;  /* first; its hash is the name                      */
    struct ski_termination_counts count; /* produced, consumed, producers that have finished */
    struct detector_search       *search;
};

struct detectors {
    uint32_t              created;
    struct ski_hash_table table;
};

/* ---- the table ---------------------------------------------------------------------- */

static struct detectors *detectors_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_DETECTORS];
}

static uint64_t detector_key(skua_detector name)
{
    return ski_id_make((uint32_t)name.pe, name.number);
}

static struct detector *detector_find(struct ski_pe *self, skua_detector name)
{
    uint64_t              key  = detector_key(name);
    struct ski_hash_link *link = ski_hash_first(&detectors_of(self)->table, key);

    while (link && link->hash != key)
        link = link->next;
    return (struct detector *)link;
}

/* Returns the detector of the program that @p call was given, added to the table if it is new
 * here. */
static struct detector *detector_get(struct ski_pe *self, const char *call, skua_detector name)
{
    struct detector *detector = detector_find(self, name);

    if (SKI_LIKELY(detector != NULL))
        return detector;
    if (!ski_id_valid(self, detector_key(name)))
        ski_misuse("%s: {%d, %u} is not a detector; skua_detector_create() makes them", call,
                   (int)name.pe, name.number);
    detector = ski_calloc(1, sizeof *detector);
    ski_hash_add(&detectors_of(self)->table, &detector->link, detector_key(name));
    return detector;
}

static void detector_free(struct ski_hash_link *link, void *arg)
{
    struct detector *gone = (struct detector *)link;

    (void)arg;
    free(gone->search);
    free(gone);
}

/* ---- counting ----------------------------------------------------------------------- */

skua_detector skua_detector_create(void)
{
    struct ski_pe *self = SKI_SELF();

    return (skua_detector){self->pe, ++detectors_of(self)->created};
}

void skua_detector_produce(skua_detector detector, uint64_t n)
{
    detector_get(SKI_SELF(), __func__, detector)->count.sent += n;
}

void skua_detector_consume(skua_detector detector, uint64_t n)
{
    detector_get(SKI_SELF(), __func__, detector)->count.received += n;
}

void skua_detector_done(skua_detector detector)
{
    detector_get(SKI_SELF(), __func__, detector)->count.finished++;
}

/* ---- completion --------------------------------------------------------------------- */

/* Forwards the end of a detector to the children in the tree, and removes it here. */
static void detector_end(struct ski_pe *self, skua_detector name)
{
    struct ski_pe_tree tree =
        ski_pe_tree_at(self->job, self->pe, name.pe, (int)ski_config.tree_arity);
    struct detector *detector = detector_find(self, name);

    for (int i = 0; i < tree.children; i++)
        skua_send_copy(ski_pe_tree_child(&tree, i), (skua_handler){SKI_HANDLER_DETECTOR_END}, &name,
                       sizeof name);
    if (!detector)
        return;
    ski_hash_remove(&detectors_of(self)->table, &detector->link);
    detector_free(&detector->link, NULL);
}

void ski_on_detector_end(skua_msg *msg)
{
    skua_detector name = *(skua_detector *)skua_msg_data(msg);

    /* The root, where waves of the detector may be in flight, ends it without a message. */
    if ((uint32_t)name.pe >= (uint32_t)ski_self->pes || name.pe == ski_self->pe) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    detector_end(ski_self, name);
}

/* ---- waves -------------------------------------------------------------------------- */

static skua_detector detector_of_topic(struct ski_termination_topic topic)
{
    return (skua_detector){topic.root, topic.number};
}

static struct ski_termination_counts detector_visit(struct ski_pe               *self,
                                                    struct ski_termination_topic topic)
{
    const struct detector *detector = detector_find(self, detector_of_topic(topic));

    return detector ? detector->count : (struct ski_termination_counts){0, 0, 0};
}

/* Returns whether all producers had finished when the last wave began; ends the job if there are
 * more of them, or of items, than there can be. */
static bool detector_all_finished(const struct detector_search *search)
{
    const struct ski_termination_detection *d = &search->detection;

    if (d->before.finished > search->producers)
        ski_misuse("skua_detector_done: called %" PRIu64 " times for %" PRIu64 " producers",
                   d->before.finished, search->producers);
    if (d->wave < 2 || d->before.finished < search->producers)
        return false;
    if (d->before.received > d->last.sent)
        ski_misuse("skua_detector_consume: %" PRIu64 " items were consumed but only %" PRIu64
                   " produced",
                   d->before.received, d->last.sent);
    return true;
}

static void detector_result(struct ski_pe *self, struct ski_termination_topic topic,
                            const struct ski_termination_counts *sum)
{
    struct detector_search *search = detector_find(self, detector_of_topic(topic))->search;
    bool                    even   = ski_termination_record(&search->detection, sum);
    skua_completion         done   = search->done;

    ski_assert(topic.root == self->pe);
    if (!detector_all_finished(search) || !even) {
        ski_termination_continue(self, &search->detection);
        return;
    }
    detector_end(self, detector_of_topic(topic));
    skua_complete(done, NULL, 0);
}

static const struct ski_termination_kind detector_waves = {false, detector_visit, detector_result};

/* ---- the start ---------------------------------------------------------------------- */

static void detector_start(struct ski_pe *self, const char *call,
                           const struct detector_start *start)
{
    struct detector *detector = detector_get(self, call, start->name);

    if (detector->search || start->name.number > detectors_of(self)->created)
        ski_misuse("%s: this detector %s", call,
                   detector->search ? "was started before" : "was never created");
    ski_assert(start->name.pe == self->pe);
    detector->search  = ski_calloc(1, sizeof *detector->search);
    *detector->search = (struct detector_search){
        .producers = start->producers,
        .done      = start->done,
        .detection = {.topic = {start->name.pe, start->name.number}},
    };
    ski_termination_send(self, &detector->search->detection);
}

void skua_detector_start(skua_detector detector, uint64_t producers, skua_completion done)
{
    struct ski_pe        *self = SKI_SELF();
    struct detector_start what = {detector, producers, done};

    detector_get(self, __func__, detector); /* ends the job if there is no such detector */
    if (detector.pe == self->pe)
        detector_start(self, __func__, &what);
    else
        skua_send_copy(detector.pe, (skua_handler){SKI_HANDLER_DETECTOR_START}, &what, sizeof what);
}

void ski_on_detector_start(skua_msg *msg)
{
    struct detector_start what = *(struct detector_start *)skua_msg_data(msg);

    if (what.name.pe != ski_self->pe || what.name.number == 0 ||
        what.name.number > detectors_of(ski_self)->created) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    detector_start(ski_self, "skua_detector_start", &what);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void detector_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_DETECTORS] = ski_calloc(1, sizeof(struct detectors));
    ski_termination_register(objects, SKI_TOPIC_DETECTOR, &detector_waves);
}

static void detector_pe_end(struct ski_objects *objects)
{
    struct detectors *detectors = objects->slot[SKI_SLOT_DETECTORS];

    ski_hash_each(&detectors->table, detector_free, NULL);
    ski_hash_clear(&detectors->table);
    free(detectors);
}

const struct ski_lifecycle ski_detector_lifecycle = {.pe_begin = detector_pe_begin,
                                                     .pe_end   = detector_pe_end};
