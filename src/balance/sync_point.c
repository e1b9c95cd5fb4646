/* SPDX-License-Identifier: Apache-2.0 */
/* sync_point.c - see sync_point.h. */
#include "balance/sync_point.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/message/message.h"
#include "objects/chare/entry.h"
#include "objects/measure/measure.h"

/* The number of the sync point in the record of an element (struct ski_element_load): of the last
 * that it has passed, or, with a flag, of that which it waits at; 0 stands for none. */
#define SYNC_RESUMING                                                                              \
    UINT32_C(0x80000000) /* it is passed; a message resumes the element, which runs */
#define SYNC_WAITING UINT32_C(0x40000000)
#define SYNC_NUMBER  UINT32_C(0x3fffffff)

/* The counts of a subtree on the wire. */
struct sync_report {
    uint32_t               number; /* of the sync point */
    uint32_t               unused;
    struct ski_sync_counts counts;
};

_Static_assert(sizeof(struct sync_report) == SKI_SYNC_REPORT_MIN, "see sync_point.h");

/* ---- reports ------------------------------------------------------------------------ */

/* Schedules a report to the parent. It is sent later, since more may change in this handler. */
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

    counts.load_max = counts.load_sum = times.wall - times.idle - times.carried;
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
        ski_misuse(
            "skua_at_sync: %s on PE %d is not an element of an array: groups and single chares "
            "take no part in balancing",
            text, ski_self->pe);
    if (!ski_balance_syncs(object->of))
        ski_misuse("skua_at_sync: %s on PE %d: its class does not wait at sync points; call "
                   "skua_class_set_balance() with SKUA_BALANCE_AT_SYNC before skua_main()",
                   text, ski_self->pe);
    ski_misuse("skua_at_sync: %s on PE %d waits at sync point %u already; it has to wait for its "
               "entry `resume`",
               text, ski_self->pe, ski_element_load(object)->point & SYNC_NUMBER);
}

/* Returns the number of the sync point after @p number. */
static uint32_t sync_point_after(uint32_t number)
{
    return (number + 1) & SYNC_NUMBER ? (number + 1) & SYNC_NUMBER : 1;
}

/* Returns the number of the sync point before @p number. */
static uint32_t sync_point_before(uint32_t number)
{
    return number > 1 ? number - 1 : SYNC_NUMBER;
}

bool ski_sync_point_passed(const struct ski_balance *balance, uint32_t number)
{
    return ((number - balance->sync.number) & SYNC_NUMBER) > SYNC_NUMBER / 2;
}

void ski_sync_point_wait(struct ski_balance *balance, struct ski_object *object)
{
    ski_element_load(object)->point = SYNC_WAITING | balance->sync.number;
    balance->sync.counts.waiting++;
    sync_point_finish(balance);
}

bool ski_sync_point_restore(struct ski_balance *balance, uint32_t number)
{
    if (number == 0 || number > SYNC_NUMBER)
        return false;
    balance->sync.number = number;
    return true;
}

void skua_at_sync(void *self)
{
    struct ski_balance *balance = ski_balance_of(SKI_SELF());
    struct ski_object  *object  = ski_object_of(self);

    if (!ski_balance_syncs(object->of))
        sync_point_misuse(object);
    if (object->of->state == SKI_ENDED || object->state >= SKI_DEAD)
        return;
    if (ski_element_load(object)->point & (SYNC_WAITING | SYNC_RESUMING))
        sync_point_misuse(object);
    ski_sync_point_wait(balance, object);
}

/* Returns whether a record is that of an element which waits at a sync point, and is not about to
 * be resumed. */
static bool sync_record_waits(const struct ski_element_load *load)
{
    return load->point & SYNC_WAITING;
}

bool ski_sync_point_waits(const struct ski_object *object)
{
    return sync_record_waits(ski_element_load(object));
}

/* Invokes `resume` of an element soon. */
static void sync_point_queue_resume(struct ski_balance *balance, const struct ski_object *object)
{
    skua_msg  *msg   = skua_msg_alloc(0);
    skua_index index = ski_object_index_get(object);

    msg->handler = SKI_HANDLER_SYNC_RESUME;
    msg->source  = balance->self->pe;
    ski_msg_post(balance->self, balance->self->pe, SKI_HANDLER_SYNC_RESUME,
                 ski_msg_set_target(msg, object->of->id, &index));
}

/* Resumes an element that waits; it runs towards the next sync point. */
static void sync_point_resume(struct ski_balance *balance, struct ski_object *object)
{
    ski_element_load(object)->point ^= SYNC_WAITING | SYNC_RESUMING;
    balance->sync.counts.waiting--;
    sync_point_begin(balance);
    sync_point_queue_resume(balance, object);
}

void ski_on_sync_resume(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    struct ski_object     *object;
    uint32_t               resume;

    if (!ski_element_msg(msg, 0, &all, &index))
        return;
    object = ski_element_here(all, &index);
    if (!object || object->state >= SKI_DEAD || object->state == SKI_DYING ||
        !(ski_element_load(object)->point & SYNC_RESUMING)) {
        skua_msg_free(msg);
        return;
    }
    ski_element_load(object)->point &= SYNC_NUMBER;
    resume       = all->class->balance->resume.id;
    msg->handler = (uint16_t)resume;
    ski_entry_run(object, &all->self->objects->run[resume], msg);
}

static void sync_point_pass_element(struct ski_object *object, void *arg)
{
    struct ski_balance      *balance = arg;
    struct ski_element_load *load    = ski_element_load(object);

    if (sync_record_waits(load) && ski_sync_point_passed(balance, load->point))
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
    balance->sync.number = sync_point_after(number);
    ski_collections_each(balance->self->objects, sync_point_pass_collection, balance);
    sync_point_change(balance);
}

void ski_sync_point_reach(struct ski_balance *balance, uint32_t number)
{
    if ((number & SYNC_NUMBER) == sync_point_after(balance->sync.number))
        ski_sync_point_pass(balance, balance->sync.number);
}

/* ---- life cycle --------------------------------------------------------------------- */

void ski_sync_point_collection_added(struct ski_balance *balance, struct ski_collection *all)
{
    all->sync_point = balance->sync.number;
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
    if (!ski_balance_syncs(object->of))
        return;
    ski_sync_point_reach(balance, object->of->sync_point);
    ski_element_load(object)->point = sync_point_before(balance->sync.number);
    sync_point_begin(balance);
}

void ski_sync_point_deleted(struct ski_balance *balance, struct ski_object *object)
{
    if (!ski_balance_syncs(object->of))
        return;
    if (!ski_sync_point_waits(object)) {
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
    if (object->of->state == SKI_ENDED) { /* which has counted it as destroyed */
        balance->sync.counts.produced++;
    } else if (ski_sync_point_waits(object)) {
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
    struct ski_element_load *load;

    if (!ski_balance_syncs(object->of))
        return;
    load = ski_element_load(object);
    ski_sync_point_reach(balance,
                         load->point & SYNC_WAITING ? load->point : sync_point_after(load->point));
    balance->sync.counts.consumed++;
    if (!sync_record_waits(load)) {
        sync_point_begin(balance);
        if (load->point & SYNC_RESUMING)
            sync_point_queue_resume(balance, object);
        return;
    }
    balance->sync.counts.waiting++;
    sync_point_change(balance);
    if (ski_sync_point_passed(balance, load->point))
        sync_point_resume(balance, object);
}

uint32_t ski_sync_point_insertion_begun(struct ski_balance *balance)
{
    balance->sync.counts.produced++;
    sync_point_change(balance);
    return balance->sync.number;
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
