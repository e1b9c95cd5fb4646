/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_collections.c - part `collections`: the next sync point, the strategy of balancing, and each
 * collection that was created, with what it was created with.
 *
 *      struct collections_head | struct collection_saved | creation | struct collection_saved ...
 *
 * All PEs know the same of a collection while nothing is in flight, but for their elements and
 * reductions, which are parts of their own.
 */
#include <stdio.h>
#include <string.h>

#include "balance/balancer.h"
#include "balance/sync_point.h"
#include "base/config.h"
#include "base/memory.h"
#include "checkpoint/parts.h"
#include "core/sched/thread.h"
#include "objects/chare/creation.h"
#include "objects/collective/array_broadcast.h"
#include "objects/collective/array_reduction_saved.h"
#include "objects/location/closing.h"
#include "objects/location/thread_saved.h"
#include "objects/zerocopy/object_channel.h"
#include "objects/zerocopy/object_channel_end.h"

struct collections_head {
    uint32_t sync_point; /* the next; 0: no class takes part in balancing */
    uint32_t zero;
    char     strategy[SKI_STRATEGY_NAME];
};

/* A collection; what it was created with follows, of `bytes`. */
struct collection_saved {
    uint64_t id, bytes;
    uint32_t class;
    uint32_t broadcast; /* the number of its last broadcast */
    uint32_t ended;     /* it was destroyed */
    uint32_t closed;    /* it was open, and is closed */
};

/* ---- what cannot be saved -------------------------------------------------------------- */

/* Where the reason is written that a checkpoint cannot be made; of the first, if there are several.
 */
struct collections_refusal {
    char  *why;
    size_t room;
    bool   refused;
};

/* Writes why an element cannot be saved, if that is so and no other was refused before. */
static void collections_refuse_element(struct ski_object *object, void *arg)
{
    struct collections_refusal *to = arg;
    const struct ski_class *class  = object->of->class;

    if (to->refused || object->state >= SKI_DEAD)
        return;
    to->refused = true;
    if (!ski_class_moves(class))
        snprintf(to->why, to->room,
                 "%s cannot be saved: its class has no `pup` (skua_pup_plain if its bytes may be "
                 "copied; in an interface file, a `state` or [migratable])",
                 ski_object_text(object));
    else if (ski_object_ends_unsent(object))
        snprintf(to->why, to->room,
                 "%s cannot be saved: its put to object channel end %s is not locally complete; "
                 "make the checkpoint after `sent` was called",
                 ski_object_text(object), ski_object_ends_unsent(object));
    else
        to->refused = !ski_thread_saved_possible(object, to->why, to->room);
}

static void collections_refuse_partial(const struct ski_saved_partial *partial, const void *data,
                                       void *arg)
{
    struct collections_refusal *to = arg;

    (void)data;
    to->refused = to->refused ||
                  !ski_saved_partial_possible(
                      partial, ski_collection_find(ski_self->objects, partial->id)->class->def.name,
                      to->why, to->room);
}

static void collections_refuse(struct ski_collection *all, void *arg)
{
    if (all->state != SKI_EXISTS)
        return;
    ski_elements_each(all, collections_refuse_element, arg);
    ski_array_reduction_each_saved(all, collections_refuse_partial, arg);
}

/* Returns the first user thread that does not run for an element which has its stack saved with it;
 * NULL: there is none. */
static const struct skua_thread *collections_own_thread(const struct ski_pe *self)
{
    const struct skua_thread *thread = self->threads.first;

    while (thread && thread->object)
        thread = thread->next;
    return thread;
}

/* Refuses what runs on a stack that stays in its process. */
static void collections_refuse_stacks(const struct ski_pe *self, struct collections_refusal *to)
{
    const struct skua_thread *thread = collections_own_thread(self);

    to->refused = self->blocked || thread;
    if (self->blocked)
        snprintf(to->why, to->room,
                 "the program waits in %s() on the stack of the PE, which cannot be saved",
                 self->blocked->call.name);
    else if (thread)
        snprintf(to->why, to->room,
                 "user thread %s cannot be saved: it is not that of a threaded entry of an element "
                 "that can migrate; let it end, or wait in `when` of an interface file instead",
                 ski_thread_name(thread));
}

bool ski_part_collections_possible(struct ski_pe *self, char *why, size_t room)
{
    struct collections_refusal to = {why, room, false};

    collections_refuse_stacks(self, &to);
    ski_collections_each(self->objects, collections_refuse, &to);
    return !to.refused;
}

/* ---- saving ---------------------------------------------------------------------------- */

static void collections_save_one(struct ski_collection *all, void *to)
{
    struct collection_saved saved = {.id        = all->id,
                                     .broadcast = all->broadcast->number,
                                     .ended     = all->state == SKI_ENDED,
                                     .closed    = all->def.flags & SKUA_ARRAY_OPEN && !all->open};

    if (all->root < 0 || (all->state != SKI_EXISTS && all->state != SKI_ENDED))
        return;
    saved.class = all->class->id;
    saved.bytes = all->creation ? all->creation->bytes : 0;
    ski_image_write(to, &saved, sizeof saved);
    if (saved.bytes)
        ski_image_write(to, skua_msg_data(all->creation), saved.bytes);
}

void ski_part_collections_save(struct ski_pe *self, struct ski_image_writer *to,
                               const struct ski_image_common *common)
{
    const struct ski_balance *balance = ski_balance_of(self);
    struct collections_head   head    = {.sync_point = balance->active ? balance->sync.number : 0};

    (void)common;
    snprintf(head.strategy, sizeof head.strategy, "%s", balance->choice.name);
    ski_image_write(to, &head, sizeof head);
    ski_collections_each(self->objects, collections_save_one, to);
}

/* ---- restoring ------------------------------------------------------------------------- */

static const char *collections_restore_head(struct ski_pe *self, struct ski_image_reader *from)
{
    struct ski_balance     *balance = ski_balance_of(self);
    struct collections_head head;

    if (!ski_image_get(from, &head) || head.strategy[sizeof head.strategy - 1])
        return "its head is damaged";
    if (balance->active && !ski_sync_point_restore(balance, head.sync_point))
        return "the number of its sync point is not valid";
    if (strcmp(ski_config.balance, "default") == 0 && !ski_balancer_restore(balance, head.strategy))
        return "there is no such strategy of balancing";
    return NULL;
}

/* Restores a collection that was destroyed: calls with its id are errors, as before. */
static const char *collections_restore_ended(struct ski_pe                 *self,
                                             const struct collection_saved *saved)
{
    struct ski_collection *all = ski_collection_expect(self->objects, saved->id);

    if (!all || all->state != SKI_EXPECTED || !ski_class_find(saved->class))
        return "a destroyed collection is not valid";
    all->class = ski_class_find(saved->class);
    all->state = SKI_ENDED;
    if (ski_balance_of(self)->active) /* sync points wait for no elements of the collection */
        ski_sync_point_collection_populated(ski_balance_of(self));
    return NULL;
}

/* Restores a collection, without its elements. */
static const char *collections_restore_one(struct ski_pe *self, struct ski_image_reader *from)
{
    struct collection_saved saved;
    const void             *creation;
    struct ski_collection  *all;

    if (!ski_image_get(from, &saved) || !(creation = ski_image_read(from, saved.bytes)))
        return "it is too short";
    if (saved.ended)
        return collections_restore_ended(self, &saved);
    all = ski_creation_restore(self->objects, creation, saved.bytes);
    if (!all || all->id != saved.id)
        return "a collection is not valid";
    ski_array_broadcast_restore(all, saved.broadcast);
    if (saved.closed)
        ski_closing_restore(all);
    return NULL;
}

const char *ski_part_collections_restore(struct ski_pe *self, struct ski_image_reader *from,
                                         struct ski_restart *restart)
{
    const char *why = collections_restore_head(self, from);

    (void)restart;
    while (!why && ski_image_left(from) > 0)
        why = collections_restore_one(self, from);
    return why;
}

/* ---- continuation ---------------------------------------------------------------------- */

static void collections_moved(struct ski_object *object, void *arg)
{
    (void)arg;
    object->of->class->def.moved(object + 1);
}

/* Objects have other addresses than in the former job, so their classes are notified. */
static void collections_tell_class(struct ski_collection *all, void *arg)
{
    (void)arg;
    if (all->state == SKI_EXISTS && all->class->def.moved && ski_class_moves(all->class) &&
        (all->kind == SKI_ARRAY || all->kind == SKI_CHARES))
        ski_elements_each(all, collections_moved, NULL);
}

static void collections_exist_one(struct ski_collection *all, void *arg)
{
    struct ski_pe *self = arg;

    if (all->state != SKI_DEFINED)
        return;
    if (all->kind == SKI_PROCESS_GROUP && self->pe == skua_process_first(self->process) &&
        all->live == 1)
        ski_creation_share_member(all);
    ski_creation_restored(all);
    if (!ski_array_reduction_restore(all))
        ski_fatal("restart: the elements of %s on PE %d do not fit its reductions",
                  all->class->def.name, self->pe);
}

void ski_part_collections_exist(struct ski_pe *self)
{
    ski_collections_each(self->objects, collections_exist_one, self);
}

void ski_part_collections_resume(struct ski_pe *self)
{
    ski_collections_each(self->objects, collections_tell_class, NULL);
    ski_object_channels_restored(self->objects);
}
