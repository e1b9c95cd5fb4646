/* SPDX-License-Identifier: Apache-2.0 */
/* migration.c - see migration.h. */
#include "objects/location/migration.h"

#include "base/assert.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/location.h"
#include "objects/location/thread_migration.h"
#include "objects/model/element.h"
#include "objects/model/pup.h"

struct migration_head {
    struct ski_iso_move block; /* the block that the element lies in; at 0: none    */
    uint32_t            moves; /* the element's number of migrations, with this one */
    uint32_t            zero;
    uint32_t bytes[SKI_BAGGAGES_MOST]; /* of the baggage of each module                     */
};

_Static_assert(sizeof(struct migration_head) == SKI_MIGRATE_LEAST, "see migration.h");

void ski_migration_order(struct ski_object *object, int pe)
{
    bool leaving = object->state == SKI_LEAVING;

    object->to = pe;
    ski_object_change(object, pe == object->of->self->pe ? SKI_ALIVE : SKI_LEAVING);
    if (object->state)
        ski_element_settle(object);
    else if (leaving)
        ski_notify_migration_ended(&object->of->self->objects->lifecycle, object);
}

void skua_migrate(void *self, int pe)
{
    struct ski_object *object = ski_object_of(self);

    if ((unsigned)pe >= (unsigned)object->of->self->pes)
        ski_misuse("skua_migrate: %s cannot move to PE %d; this job has PEs 0 to %d",
                   ski_object_text(object), pe, object->of->self->pes - 1);
    if (object->of->kind == SKI_GROUP || object->of->kind == SKI_PROCESS_GROUP)
        ski_misuse("skua_migrate: %s is a member of a group, which does not move",
                   ski_object_text(object));
    if (!ski_class_moves(object->of->class))
        ski_misuse("skua_migrate: %s cannot move: its class does not say how to pack it; give the "
                   "class a `pup` (skua_pup_plain if its bytes may be copied), or, in an interface "
                   "file, a `state` or [migratable]",
                   ski_object_text(object));
    if (object->state != SKI_ALIVE && object->state != SKI_LEAVING)
        return;
    ski_migration_order(object, pe);
}

/* ---- departure ---------------------------------------------------------------------- */

static const struct ski_baggage *const *migration_baggage(const struct ski_collection *all)
{
    return all->self->objects->lifecycle.baggage;
}

/* A message with an element and its baggage. */
static skua_msg *migration_pack(struct ski_object *object)
{
    const struct ski_baggage *const *baggage = migration_baggage(object->of);
    const struct ski_class *class            = object->of->class;
    struct migration_head head               = {.block = ski_thread_migration_block(object),
                                                .moves = object->moves + 1};
    size_t                bytes = ski_pup_measure(class, object + 1), baggage_bytes = 0;
    skua_msg             *msg;
    char                 *at;

    for (int i = 0; baggage[i]; i++)
        baggage_bytes += head.bytes[i] = (uint32_t)baggage[i]->bytes(object);
    msg = skua_msg_alloc(sizeof head + baggage_bytes + bytes);
    at  = skua_msg_data(msg);
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int i = 0; baggage[i]; at += head.bytes[i++])
        baggage[i]->pack(object, at);
    ski_assert(at + bytes == (char *)skua_msg_data(msg) + msg->bytes);
    ski_pup_pack(class, object + 1, at, bytes);
    return msg;
}

static void migration_depart(struct ski_object *object)
{
    struct ski_collection            *all       = object->of;
    const struct ski_lifecycle_table *lifecycle = &all->self->objects->lifecycle;
    skua_index                        index     = ski_object_index_get(object);
    skua_msg                         *msg;

    ski_assert(object->state == SKI_LEAVING && object->to != all->self->pe);
    if (!ski_thread_migration_may_depart(object))
        return; /* when the next message to it has been delivered */
    ski_notify_element_detached(lifecycle, object);
    msg = migration_pack(object);
    ski_object_change(object, SKI_LEFT); /* first: the class's function may look */
    ski_element_destroy(object);
    object = ski_thread_migration_split(object);
    ski_directory_set(&all->directory, &index, 0);
    ski_location_update(all, &index, &(struct ski_location_update){object->to, object->moves + 1});
    msg->handler = SKI_HANDLER_MIGRATE;
    msg->source  = all->self->pe;
    ski_msg_post(all->self, object->to, SKI_HANDLER_MIGRATE,
                 ski_msg_set_target(msg, all->id, &index));
    ski_notify_element_departed(lifecycle, object);
    ski_element_remove(object, SKI_LEFT);
}

/* ---- arrival ------------------------------------------------------------------------ */

/* Whether an element that came from another PE can arrive: it is of a kind that migrates, and not
 * here, and each module takes its baggage. */
static bool migration_valid(const struct ski_collection *all, const skua_index *index,
                            const struct migration_head *head, const char *from, size_t bytes)
{
    const struct ski_baggage *const *baggage = migration_baggage(all);

    if ((all->kind != SKI_ARRAY && all->kind != SKI_CHARES) || ski_element_here(all, index) ||
        !ski_thread_migration_valid(all, &head->block))
        return false;
    for (int i = 0; baggage[i]; i++) {
        if (head->bytes[i] > bytes || !baggage[i]->valid(all, from, head->bytes[i]))
            return false;
        from += head->bytes[i];
        bytes -= head->bytes[i];
    }
    return true;
}

/* Unpacks an element and its baggage, which were found valid. */
static void migration_unpack(struct ski_object *object, const struct migration_head *head,
                             const char *from, size_t bytes)
{
    const struct ski_baggage *const *baggage = migration_baggage(object->of);

    for (int i = 0; baggage[i]; i++) {
        ski_assert(head->bytes[i] <= bytes);
        baggage[i]->unpack(object, from, head->bytes[i]);
        from += head->bytes[i];
        bytes -= head->bytes[i];
    }
    ski_pup_unpack(object->of->class, object + 1, from, bytes);
}

/* Tells the home of an element where it is; after other modules have entered it. */
static void migration_arrived(struct ski_object *object, int from)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);
    int                    home  = ski_home(all, &index);

    (void)from;
    if (home != all->self->pe)
        ski_location_send(all, home, &index,
                          &(struct ski_location_update){all->self->pe, object->moves});
}

void ski_on_migrate(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;
    struct migration_head  head;
    struct ski_object     *object;
    const char            *from  = (const char *)skua_msg_data(msg) + sizeof head;
    size_t                 bytes = msg->bytes - sizeof head;

    if (!ski_element_msg(msg, sizeof head, &all, &index))
        return;
    memcpy(&head, skua_msg_data(msg), sizeof head);
    if (!migration_valid(all, &index, &head, from, bytes)) {
        ski_net_drop(all->self, msg);
        return;
    }
    object        = ski_element_add_at(all, &index, ski_thread_migration_arrive(all, &head.block));
    object->moves = head.moves;
    ski_element_enter(object); /* it stays until all have seen it, whatever a reduction sets off */
    migration_unpack(object, &head, from, bytes);
    ski_notify_element_arrived(&all->self->objects->lifecycle, object, msg->source);
    ski_element_leave(object);
    skua_msg_free(msg);
}

const struct ski_lifecycle ski_migration_lifecycle = {
    .element_leaving = migration_depart,
    .element_arrived = migration_arrived,
};
