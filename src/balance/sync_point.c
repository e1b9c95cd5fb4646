/* SPDX-License-Identifier: Apache-2.0 */
/* sync_point.c - see sync_point.h. */
#include "balance/sync_point.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/pe/handler.h"
#include "objects/chare/invoke.h"
#include "objects/measure/measure.h"

/* The counts of a subtree, as they travel. */
struct sync_report {
    uint32_t               number; /* of the sync point */
    uint32_t               unused;
    struct ski_sync_counts counts;
};

_Static_assert(sizeof(struct sync_report) == SKI_SYNC_REPORT_LEAST, "see sync_point.h");

/* ---- reports ------------------------------------------------------------------------ */

/* Something has changed that a parent has to know: soon, since more may change in this handler. */
static void sync_point_change(struct ski_balance *balance)
{
    struct ski_sync_point *sync = &balance->sync;

    sync->changed = true;
    if (sync->queued || sync->running > 0)
        return;
    sync->queued = true;
    skua_send_copy(balance->self->pe, (skua_handler){SKI_HANDLER_SYNC_CHECK}, NULL, 0);
}

void ski_sync_counts_add(struct ski_sync_counts *sum, const struct ski_sync_counts *more)
{
    sum->produced += more->produced;
    sum->consumed += more->consumed;
    sum->waiting += more->waiting;
    sum->load_sum += more->load_sum;
    if (sum->load_max < more->load_max)
        sum->load_max = more->load_max;
}

struct ski_sync_counts ski_sync_point_counts(const struct ski_balance *balance)
{
    struct ski_measure_times times  = ski_measure_times_of(balance->self);
    struct ski_sync_counts   counts = balance->sync.counts;

    counts.load_max = counts.load_sum = times.wall - times.idle;
    return counts;
}

/* Sums the last reports of the children to those of this PE.  Returns whether all have reported. */
static bool sync_point_sum(const struct ski_balance *balance, struct ski_sync_counts *sum)
{
    const struct ski_sync_point *sync = &balance->sync;

    *sum = ski_sync_point_counts(balance);
    for (int i = 0; i < balance->tree.children; i++) {
        if (sync->child_number[i] != sync->number)
            return false;
        ski_sync_counts_add(sum, &sync->child[i]);
    }
    return true;
}

/* Reports to the parent, if there is something new and the whole subtree waits. */
static void sync_point_report(struct ski_balance *balance)
{
    struct ski_sync_point *sync   = &balance->sync;
    struct sync_report     report = {.number = sync->number};

    if (!sync->changed || sync->running > 0 || !sync_point_sum(balance, &report.counts))
        return;
    sync->changed = false;
    if (balance->tree.parent < 0)
        balance->root->reported(balance, &report.counts);
    else
        skua_send_copy(balance->tree.parent, (skua_handler){SKI_HANDLER_SYNC_REPORT}, &report,
                       sizeof report);
}

void ski_on_sync_check(skua_msg *msg)
{
    struct ski_balance *balance = ski_balance_of(ski_self);

    skua_msg_free(msg);
    balance->sync.queued = false;
    sync_point_report(balance);
}

void ski_on_sync_report(skua_msg *msg)
{
    const struct sync_report *report = skua_msg_data(msg);
    int                       child;
    struct ski_balance       *balance = ski_balance_accept_up(msg, &child);

    if (!balance)
        return;
    balance->sync.child_number[child] = report->number;
    balance->sync.child[child]        = report->counts;
    balance->sync.changed             = true;
    skua_msg_free(msg);
    sync_point_report(balance);
}

/* ---- elements ----------------------------------------------------------------------- */

/* An element here runs towards the sync point. */
static void sync_point_begin(struct ski_balance *balance)
{
    balance->sync.running++;
    balance->sync.counts.produced++;
    sync_point_change(balance);
}

/* An element here has reached the sync point, or never will. */
static void sync_point_finish(struct ski_balance *balance)
{
    ski_assert(balance->sync.running > 0);
    balance->sync.running--;
    balance->sync.counts.consumed++;
    sync_point_change(balance);
}

static SKI_COLD _Noreturn void sync_point_misuse(const struct ski_object *object)
{
    const char *text = ski_object_text(object);

    if (object->of->kind != SKI_ARRAY)
        ski_misuse("skua_at_sync: %s on PE %d is no element of an array: groups and single chares "
                   "take no part in balancing",
                   text, ski_self->pe);
    if (!ski_balance_syncs(object->of))
        ski_misuse("skua_at_sync: %s on PE %d: its class does not wait at sync points; call "
                   "skua_class_set_balance() with SKUA_BALANCE_AT_SYNC before skua_main()",
                   text, ski_self->pe);
    ski_misuse("skua_at_sync: %s on PE %d waits at sync point %u already; it has to wait for its "
               "entry `resume`",
               text, ski_self->pe, ski_element_load(object)->waits);
}

void skua_at_sync(void *self)
{
    struct ski_balance      *balance = ski_balance_of(SKI_SELF());
    struct ski_object       *object  = ski_object_of(self);
    struct ski_element_load *load;

    if (!ski_balance_syncs(object->of))
        sync_point_misuse(object);
    if (object->of->state == SKI_ENDED || object->state >= SKI_DEAD)
        return;
    load = ski_element_load(object);
    if (load->waits)
        sync_point_misuse(object);
    load->waits = balance->sync.number;
    balance->sync.counts.waiting++;
    sync_point_finish(balance);
}

/* Resumes an element that waits; it runs towards the next sync point. */
static void sync_point_resume(struct ski_balance *balance, struct ski_object *object)
{
    ski_element_load(object)->waits = 0;
    balance->sync.counts.waiting--;
    sync_point_begin(balance);
    ski_invoke_here(balance->self, object, object->of->class->balance->resume, skua_msg_alloc(0));
}

static void sync_point_pass_element(struct ski_object *object, void *arg)
{
    struct ski_balance *balance = arg;
    uint32_t            waits   = ski_element_load(object)->waits;

    if (waits && (int32_t)(waits - balance->sync.number) < 0)
        sync_point_resume(balance, object);
}

static void sync_point_pass_collection(struct ski_collection *all, void *arg)
{
    if (ski_balance_syncs(all) && all->state != SKI_ENDED)
        ski_elements_each(all, sync_point_pass_element, arg);
}

void ski_sync_point_pass(struct ski_balance *balance, uint32_t number)
{
    ski_assert(number == balance->sync.number);
    balance->sync.number = number + 1 ? number + 1 : 1;
    ski_collections_each(balance->self->objects, sync_point_pass_collection, balance);
    sync_point_change(balance);
}

/* ---- life cycle --------------------------------------------------------------------- */

void ski_sync_point_collection_added(struct ski_balance *balance, struct ski_collection *all)
{
    if (all->root == balance->self->pe)
        balance->sync.counts.produced += (uint64_t)balance->self->pes;
    sync_point_change(balance);
}

void ski_sync_point_collection_populated(struct ski_balance *balance)
{
    balance->sync.counts.consumed++;
    sync_point_change(balance);
}

static void sync_point_end_element(struct ski_object *object, void *arg)
{
    ski_sync_point_deleted(arg, object);
}

void ski_sync_point_collection_ending(struct ski_balance *balance, struct ski_collection *all)
{
    if (ski_balance_syncs(all))
        ski_elements_each(all, sync_point_end_element, balance);
}

void ski_sync_point_created(struct ski_balance *balance, struct ski_object *object)
{
    if (ski_balance_syncs(object->of))
        sync_point_begin(balance);
}

void ski_sync_point_deleted(struct ski_balance *balance, struct ski_object *object)
{
    if (!ski_balance_syncs(object->of))
        return;
    if (!ski_element_load(object)->waits) {
        sync_point_finish(balance);
    } else {
        balance->sync.counts.waiting--;
        sync_point_change(balance);
    }
}

void ski_sync_point_departed(struct ski_balance *balance, struct ski_object *object)
{
    if (!ski_balance_syncs(object->of))
        return;
    if (object->of->state == SKI_ENDED) { /* which has counted it as deleted */
        balance->sync.counts.produced++;
    } else if (ski_element_load(object)->waits) {
        balance->sync.counts.waiting--;
        balance->sync.counts.produced++;
    } else { /* its unit is that of its transit now */
        ski_assert(balance->sync.running > 0);
        balance->sync.running--;
    }
    sync_point_change(balance);
}

void ski_sync_point_arrived(struct ski_balance *balance, struct ski_object *object)
{
    uint32_t waits;

    if (!ski_balance_syncs(object->of))
        return;
    waits = ski_element_load(object)->waits;
    balance->sync.counts.consumed++;
    if (!waits) {
        sync_point_begin(balance);
        return;
    }
    balance->sync.counts.waiting++;
    sync_point_change(balance);
    if ((int32_t)(waits - balance->sync.number) < 0)
        sync_point_resume(balance, object);
}

void ski_sync_point_insertion_begun(struct ski_balance *balance)
{
    balance->sync.counts.produced++;
    sync_point_change(balance);
}

void ski_sync_point_inserted(struct ski_balance *balance, struct ski_object *object)
{
    ski_sync_point_dropped(balance); /* it is in transit no more */
    ski_sync_point_created(balance, object);
}

void ski_sync_point_dropped(struct ski_balance *balance)
{
    balance->sync.counts.consumed++;
    sync_point_change(balance);
}

void ski_sync_point_init(struct ski_balance *balance)
{
    size_t children = (size_t)balance->tree.children;

    balance->sync.number       = 1;
    balance->sync.child        = ski_calloc(children + 1, sizeof *balance->sync.child);
    balance->sync.child_number = ski_calloc(children + 1, sizeof *balance->sync.child_number);
}

void ski_sync_point_destroy(struct ski_balance *balance)
{
    free(balance->sync.child);
    free(balance->sync.child_number);
}
