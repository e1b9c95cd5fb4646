/* SPDX-License-Identifier: Apache-2.0 */
/* balance_layer.c - see balance_layer.h. */
#include "balance/balance_layer.h"

#include <stdlib.h>
#include <string.h>

#include "balance/balancer.h"
#include "balance/load_gather.h"
#include "balance/move_orders.h"
#include "balance/sync_point.h"
#include "base/clock.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/sched/wait_report.h"
#include "objects/location/insertion.h"
#include "objects/location/migration.h"
#include "objects/measure/measure.h"

void skua_class_set_balance(skua_class of, const skua_balance_params *params)
{
    ski_class_set_balance(__func__, of, params);
}

/* Returns the state of this layer on the PE of a collection, if a class of the program takes part;
 * else NULL. */
static struct ski_balance *layer_of(const struct ski_collection *all)
{
    struct ski_balance *balance = ski_balance_of(all->self);

    return balance && balance->active ? balance : NULL;
}

/* ---- collections ------------------------------------------------------------------------ */

static void layer_collection_added(struct ski_collection *all)
{
    struct ski_balance *balance = layer_of(all);

    if (balance || all->self->objects->measure)
        ski_elements_measure(all);
    if (balance)
        ski_sync_point_collection_added(balance, all);
}

static void layer_collection_populated(struct ski_collection *all)
{
    struct ski_balance *balance = layer_of(all);

    if (!balance)
        return;
    ski_sync_point_collection_populated(balance);
    ski_balancer_start_timer(balance);
}

/* An object is about to leave.  A user thread of it may have run until now, so its time is charged
 * first. */
static void layer_stop_charging(const struct ski_object *object)
{
    struct ski_measure *measure = object->of->self->objects->measure;

    if (measure && measure->running == object)
        ski_measure_switch(measure, NULL);
}

static void layer_end_element(struct ski_object *object, void *arg)
{
    layer_stop_charging(object);
    ski_move_orders_void(object);
    ski_load_gather_forget(arg, object);
}

static void layer_collection_ending(struct ski_collection *all)
{
    struct ski_balance *balance = layer_of(all);

    if (!balance)
        return;
    ski_sync_point_collection_ending(balance, all);
    ski_elements_each(all, layer_end_element, balance);
}

/* ---- elements --------------------------------------------------------------------------- */

static void layer_element_created(struct ski_object *object)
{
    struct ski_balance *balance = layer_of(object->of);

    if (balance)
        ski_sync_point_created(balance, object);
}

static void layer_element_deleted(struct ski_object *object)
{
    struct ski_balance *balance = layer_of(object->of);

    layer_stop_charging(object);
    if (!balance)
        return;
    ski_sync_point_deleted(balance, object);
    layer_end_element(object, balance);
}

static void layer_element_staying(struct ski_object *object)
{
    if (layer_of(object->of))
        ski_move_orders_void(object);
}

/* Cancels the order of an element that cannot move: otherwise the balancing, and a sync point,
 * would wait for it. */
static void layer_element_blocked(struct ski_object *object)
{
    if (!layer_of(object->of) || !ski_element_load(object)->ordered)
        return;
    if (ski_element_load(object)->ordered == object->to + 1)
        ski_migration_order(object, object->of->self->pe);
    else
        ski_move_orders_void(object);
}

static void layer_element_departed(struct ski_object *object)
{
    struct ski_balance *balance = layer_of(object->of);

    if (!balance)
        return;
    if (ski_element_load(object)->ordered == object->to + 1)
        ski_element_load(object)->ordered = 0; /* it counts where it arrives */
    layer_end_element(object, balance);
}

static void layer_element_arrived(struct ski_object *object, int from)
{
    struct ski_balance *balance = layer_of(object->of);
    bool                ordered;

    (void)from;
    if (!balance)
        return;
    ordered                           = ski_element_load(object)->ordered;
    ski_element_load(object)->ordered = 0;
    ski_sync_point_arrived(balance, object);
    if (ordered)
        ski_move_orders_arrived(balance);
}

static void layer_insertion_begun(struct ski_collection *all, struct ski_account *account)
{
    struct ski_balance *balance = layer_of(all);

    if (balance)
        account->sync_point = ski_sync_point_insertion_begun(balance);
}

static void layer_element_inserted(struct ski_object *object, const struct ski_account *account)
{
    struct ski_balance *balance = layer_of(object->of);

    if (!balance)
        return;
    ski_sync_point_reach(balance, account->sync_point);
    ski_sync_point_inserted(balance, object);
}

/* ---- what migrates with an element -------------------------------------------------------- */

struct layer_baggage {
    uint64_t ns; /* CPU time of its load: the ticks of hosts differ */
    uint64_t bytes, messages;
    uint32_t point;
    uint32_t ordered; /* it is expected where it goes */
};

/* Returns the CPU time, in nanoseconds, of the load of an element. */
static uint64_t layer_load_ns(const struct ski_object *object)
{
    return (uint64_t)((double)ski_ticks_to_ns(ski_element_load(object)->ticks) *
                      ski_measure_cpu_share(object->of->self));
}

static size_t layer_baggage_bytes(const struct ski_object *object)
{
    return object->of->measured ? sizeof(struct layer_baggage) : 0;
}

static void layer_baggage_pack(struct ski_object *object, void *to)
{
    const struct ski_element_load *load;
    struct layer_baggage           baggage;

    if (!object->of->measured)
        return;
    layer_stop_charging(object);
    load    = ski_element_load(object);
    baggage = (struct layer_baggage){.ns       = layer_load_ns(object),
                                     .bytes    = load->bytes,
                                     .messages = load->messages,
                                     .point    = load->point,
                                     .ordered  = load->ordered == object->to + 1};
    memcpy(to, &baggage, sizeof baggage);
    ski_measure_carry(object->of->self, (int64_t)load->ticks);
    if (layer_of(object->of)) /* before the element is sent: it must not be counted there first */
        ski_sync_point_departed(layer_of(object->of), object);
}

static bool layer_baggage_valid(const struct ski_collection *all, const void *from, size_t bytes)
{
    (void)all, (void)from;
    return bytes == 0 || bytes == sizeof(struct layer_baggage);
}

/* Returns the time by the clock, in ticks, that @p ns of CPU time take with a share of a CPU. A
 * time that came from another PE is cut to a year. */
static uint64_t layer_ticks(uint64_t ns, double share)
{
    uint64_t most = UINT64_C(365) * 86400 * 1000000000;

    return ski_ns_to_ticks((uint64_t)((double)(ns < most ? ns : most) / share));
}

static void layer_baggage_unpack(struct ski_object *object, const void *from, size_t bytes)
{
    struct layer_baggage     baggage;
    struct ski_element_load *load;

    if (!object->of->measured || bytes == 0)
        return;
    memcpy(&baggage, from, sizeof baggage);
    load           = ski_element_load(object);
    load->ticks    = layer_ticks(baggage.ns, ski_measure_cpu_share(object->of->self));
    load->bytes    = baggage.bytes;
    load->messages = baggage.messages;
    load->point    = baggage.point;
    load->ordered  = baggage.ordered != 0;
    ski_measure_carry(object->of->self, -(int64_t)load->ticks);
}

static const struct ski_baggage layer_baggage = {.bytes  = layer_baggage_bytes,
                                                 .pack   = layer_baggage_pack,
                                                 .valid  = layer_baggage_valid,
                                                 .unpack = layer_baggage_unpack};

/* ---- what a checkpoint keeps -------------------------------------------------------------- */

struct layer_saved {
    uint64_t ns;
    uint64_t bytes, messages;
    uint64_t waits; /* at the next sync point */
};

static size_t layer_saved_bytes(const struct ski_object *object)
{
    return object->of->measured ? sizeof(struct layer_saved) : 0;
}

static void layer_save(const struct ski_object *object, void *to)
{
    struct layer_saved saved;

    if (!object->of->measured)
        return;
    saved = (struct layer_saved){.ns       = layer_load_ns(object),
                                 .bytes    = ski_element_load(object)->bytes,
                                 .messages = ski_element_load(object)->messages,
                                 .waits =
                                     ski_balance_syncs(object->of) && ski_sync_point_waits(object)};
    memcpy(to, &saved, sizeof saved);
}

static const char *layer_restore(struct ski_object *object, const void *from, size_t bytes)
{
    struct layer_saved       saved;
    struct ski_element_load *load;

    if (bytes == 0 || !object->of->measured)
        return NULL;
    if (bytes != sizeof saved)
        return "its load is damaged";
    memcpy(&saved, from, sizeof saved);
    load           = ski_element_load(object);
    load->ticks    = layer_ticks(saved.ns, ski_measure_cpu_share(object->of->self));
    load->bytes    = saved.bytes;
    load->messages = saved.messages;
    if (saved.waits && layer_of(object->of) && ski_balance_syncs(object->of))
        ski_sync_point_wait(layer_of(object->of), object);
    return NULL;
}

static const struct ski_saved_part layer_saved = {layer_saved_bytes, layer_save, layer_restore,
                                                  NULL};

/* Returns whether a message brings an element that is expected here. */
static bool layer_is_ordered(const skua_msg *msg)
{
    size_t               bytes;
    const void          *at = ski_migration_baggage(msg, &layer_baggage, &bytes);
    struct layer_baggage baggage;

    if (!at || bytes != sizeof baggage)
        return false;
    memcpy(&baggage, at, sizeof baggage);
    return baggage.ordered;
}

/* An element that is dropped in transit, because its collection was destroyed, is no longer in
 * transit. */
static void layer_message_discarded(skua_msg *msg)
{
    struct ski_balance *balance = ski_balance_of(ski_self);

    if (!balance || !balance->active)
        return;
    if (msg->handler == SKI_HANDLER_INSERT &&
        ((struct ski_insertion *)skua_msg_data(msg))->account.pe != SKI_NO_ACCOUNT)
        ski_sync_point_dropped(balance);
    if (msg->handler == SKI_HANDLER_MIGRATE) {
        const struct ski_collection *all = ski_collection_find(ski_self->objects, msg->target >> 8);

        if (all && ski_balance_syncs(all))
            ski_sync_point_dropped(balance);
        if (layer_is_ordered(msg))
            ski_move_orders_arrived(balance);
    }
}

/* ---- life ------------------------------------------------------------------------------- */

static void layer_report(struct ski_objects *objects, struct ski_text *text)
{
    const struct ski_balance *balance = objects->slot[SKI_SLOT_BALANCE];

    if (!balance || balance->sync.counts.waiting == 0)
        return;
    ski_text_item(text,
                  "%llu elements wait at sync point %u, and %llu have not called skua_at_sync()",
                  (unsigned long long)balance->sync.counts.waiting, balance->sync.number,
                  (unsigned long long)balance->sync.running);
}

static const struct ski_lifecycle layer_lifecycle = {
    .collection_added     = layer_collection_added,
    .collection_populated = layer_collection_populated,
    .collection_ending    = layer_collection_ending,
    .element_created      = layer_element_created,
    .element_deleted      = layer_element_deleted,
    .element_departed     = layer_element_departed,
    .element_arrived      = layer_element_arrived,
    .element_staying      = layer_element_staying,
    .element_blocked      = layer_element_blocked,
    .insertion_begun      = layer_insertion_begun,
    .element_inserted     = layer_element_inserted,
    .message_discarded    = layer_message_discarded,
    .pe_report            = layer_report,
    .baggage              = &layer_baggage,
    .saved                = &layer_saved,
    .late                 = (const uint32_t[]){SKI_HANDLER_SYNC_RESUME, 0},
};

static void layer_begin(struct ski_pe *self)
{
    struct ski_balance *balance;

    ski_lifecycle_add(&self->objects->lifecycle, &layer_lifecycle);
    if (ski_pe_hidden(self))
        return;
    balance         = ski_calloc(1, sizeof *balance);
    balance->self   = self;
    balance->active = ski_classes_balanced();
    if (balance->active) { /* others need not ask for the hosts of the job */
        ski_balance_connect(balance);
        ski_sync_point_init(balance);
    }
    ski_balancer_init(balance);
    self->objects->slot[SKI_SLOT_BALANCE] = balance;
}

static void layer_end(struct ski_pe *self)
{
    struct ski_balance *balance = ski_balance_of(self);

    if (!balance)
        return;
    self->objects->slot[SKI_SLOT_BALANCE] = NULL;
    ski_load_gather_end(balance);
    ski_balancer_destroy(balance);
    ski_sync_point_destroy(balance);
    ski_balance_tree_destroy(&balance->tree);
    free(balance->rounds);
    free(balance);
}

const struct ski_layer ski_balance_layer = {
    .name  = "balance",
    .begin = layer_begin,
    .end   = layer_end,
};
