/* SPDX-License-Identifier: Apache-2.0 */
/* detector.c - see detector.h. */
#include "objects/services/detector.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/collective/tree.h"
#include "objects/objects.h"
#include "objects/services/termination.h"

/* On the wire. */
struct start {
    skua_detector   name;
    uint64_t        producers;
    skua_completion done;
};

_Static_assert(sizeof(struct start) == SKI_DETECT_START_LEAST, "see detector.h");

/* At the root, once it was started. */
struct search {
    uint64_t             producers;
    skua_completion      done;
    struct ski_detection detection;
};

/* What this PE knows of one. */
struct detector {
    struct ski_link  link;  /* first; its hash is the name                      */
    struct ski_tally count; /* produced, consumed, producers that have finished */
    struct search   *search;
};

struct ski_detect {
    uint32_t          created;
    struct ski_chains table;
};

/* ---- the table --------------------------------------------------------------------- */

static uint64_t key_of(skua_detector name)
{
    return ski_name((uint32_t)name.pe, name.number);
}

static struct detector *find(struct ski_pe *self, skua_detector name)
{
    uint64_t         key  = key_of(name);
    struct ski_link *link = ski_chain_first(&self->objects->detect->table, key);

    while (link && link->hash != key)
        link = link->next;
    return (struct detector *)link;
}

static struct detector *known(struct ski_pe *self, const char *call, skua_detector name)
{
    struct detector *detector = find(self, name);

    if (SKI_LIKELY(detector != NULL))
        return detector;
    if (!ski_name_possible(self, key_of(name)))
        ski_misuse("%s: {%d, %u} is no detector", call, (int)name.pe, name.number);
    detector = ski_calloc(1, sizeof *detector);
    ski_chain_add(&self->objects->detect->table, &detector->link, key_of(name));
    return detector;
}

static void drop(struct ski_link *link, void *arg)
{
    struct detector *gone = (struct detector *)link;

    (void)arg;
    free(gone->search);
    free(gone);
}

/* ---- counting ---------------------------------------------------------------------- */

skua_detector skua_detector_create(void)
{
    struct ski_pe *self = SKI_SELF();

    return (skua_detector){self->pe, ++self->objects->detect->created};
}

void skua_detector_produce(skua_detector detector, uint64_t n)
{
    known(SKI_SELF(), __func__, detector)->count.sent += n;
}

void skua_detector_consume(skua_detector detector, uint64_t n)
{
    known(SKI_SELF(), __func__, detector)->count.received += n;
}

void skua_detector_done(skua_detector detector)
{
    known(SKI_SELF(), __func__, detector)->count.finished++;
}

/* ---- the end ----------------------------------------------------------------------- */

static void end(struct ski_pe *self, skua_detector name)
{
    struct ski_tree  tree = ski_tree_at(self->pe, self->pes, name.pe, (int)ski_config.tree_arity);
    struct detector *detector = find(self, name);

    for (int i = 0; i < tree.children; i++)
        skua_send_copy(ski_tree_child(&tree, i), (skua_handler){SKI_HANDLER_DETECT_END}, &name,
                       sizeof name);
    if (!detector)
        return;
    ski_chain_remove(&self->objects->detect->table, &detector->link);
    drop(&detector->link, NULL);
}

void ski_on_detect_end(skua_msg *msg)
{
    skua_detector name = *(skua_detector *)skua_msg_data(msg);

    /* Its root, where waves of it may be under way, ends it without a message. */
    if ((uint32_t)name.pe >= (uint32_t)ski_self->pes || name.pe == ski_self->pe) {
        ski_far_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    end(ski_self, name);
}

/* ---- waves ------------------------------------------------------------------------- */

static skua_detector name_of(struct ski_topic topic)
{
    return (skua_detector){topic.root, topic.number};
}

static struct ski_tally visit(struct ski_pe *self, struct ski_topic topic)
{
    const struct detector *detector = find(self, name_of(topic));

    return detector ? detector->count : (struct ski_tally){0, 0, 0};
}

/* Whether all producers had finished when the last wave began.  What cannot be any more
 * ends the job. */
static bool all_finished(const struct search *search)
{
    const struct ski_detection *d = &search->detection;

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

static void result(struct ski_pe *self, struct ski_topic topic, const struct ski_tally *sum)
{
    struct search  *search = find(self, name_of(topic))->search;
    bool            even   = ski_wave_note(&search->detection, sum);
    skua_completion done   = search->done;

    if (!all_finished(search) || !even) {
        ski_wave_again(self, &search->detection);
        return;
    }
    end(self, name_of(topic));
    skua_complete(done, NULL, 0);
}

const struct ski_wave_kind ski_detect_waves = {false, visit, result};

/* ---- the start --------------------------------------------------------------------- */

static void start(struct ski_pe *self, const char *call, const struct start *start)
{
    struct detector *detector = known(self, call, start->name);

    if (detector->search || start->name.number > self->objects->detect->created)
        ski_misuse("%s: this detector %s", call,
                   detector->search ? "was started before" : "was never created");
    detector->search  = ski_calloc(1, sizeof *detector->search);
    *detector->search = (struct search){
        .producers = start->producers,
        .done      = start->done,
        .detection = {.topic = {start->name.pe, start->name.number}},
    };
    ski_wave_send(self, &detector->search->detection);
}

void skua_detector_start(skua_detector detector, uint64_t producers, skua_completion done)
{
    struct ski_pe *self = SKI_SELF();
    struct start   what = {detector, producers, done};

    known(self, __func__, detector); /* or it ends here */
    if (detector.pe == self->pe)
        start(self, __func__, &what);
    else
        skua_send_copy(detector.pe, (skua_handler){SKI_HANDLER_DETECT_START}, &what, sizeof what);
}

void ski_on_detect_start(skua_msg *msg)
{
    struct start what = *(struct start *)skua_msg_data(msg);

    if (what.name.pe != ski_self->pe || what.name.number == 0 ||
        what.name.number > ski_self->objects->detect->created) {
        ski_far_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    start(ski_self, "skua_detector_start", &what);
}

/* ---- life -------------------------------------------------------------------------- */

struct ski_detect *ski_detect_begin(void)
{
    return ski_calloc(1, sizeof(struct ski_detect));
}

void ski_detect_end(struct ski_detect *detect)
{
    ski_chains_each(&detect->table, drop, NULL);
    ski_chains_clear(&detect->table);
    free(detect);
}
