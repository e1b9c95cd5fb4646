/* SPDX-License-Identifier: Apache-2.0 */
/* migration.c - see migration.h. */
#include "objects/location/migration.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/config.h"
#include "core/message/message.h"
#include "core/message/msg_alloc.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/hold.h"
#include "objects/location/location.h"
#include "objects/location/thread_migration.h"
#include "objects/model/element.h"
#include "objects/model/pup.h"

/* Flags of a migration. */
enum { MIGRATION_CHECKED = 1, MIGRATION_BY_POINTER = 2, MIGRATION_WITHIN = 4 };

/* The header of an element and its baggage on the wire. */
struct migration_head {
    union {
        struct ski_iso_move block; /* packed: the block that the element is in; at 0: none */
        struct {
            uint64_t object; /* its address                                            */
            uint32_t gaps;   /* MIGRATION_WITHIN: gaps that follow the baggage; else 0 */
            uint32_t unused; /* 0                                                      */
        } pointer;           /* MIGRATION_BY_POINTER */
    };
    uint32_t moves; /* the element's number of migrations, with this one */
    uint16_t flags;
    uint16_t present;                     /* bit i: it has baggage i */
    uint32_t bytes[SKI_BAGGAGES_MAX + 1]; /* of each baggage; 0: there is none */
};

_Static_assert(sizeof(struct migration_head) == SKI_MIGRATE_MIN, "see migration.h");

/* A size up to which the size of the last element is the guess for the next one's.  Larger elements
 * are measured, so that messages do not waste more than this. */
#define MIGRATION_GUESS 8192

/* Bytes from which an object that owns nothing but its memory is not packed inside a host: copying
 * fewer costs less than the stub that stays. */
#define MIGRATION_WITHIN_MIN 1024

void ski_migration_order(struct ski_object *object, int pe)
{
    bool leaving = object->state == SKI_LEAVING;

    object->to = pe;
    ski_object_change(object, pe == object->of->self->pe ? SKI_ALIVE : SKI_LEAVING);
    if (object->state)
        ski_element_settle(object);
    else if (leaving)
        ski_notify_element_staying(&object->of->self->objects->lifecycle, object);
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

/* ---- baggage ------------------------------------------------------------------------ */

/* Baggage i is that of module i; the one after the last module's is that of the class, which only
 * elements by pointer have. */

/* Returns baggage @p i, of which there is one. */
static inline const struct ski_baggage *migration_baggage(const struct ski_collection *all,
                                                          uint32_t                     i)
{
    const struct ski_lifecycle_table *table = &all->self->objects->lifecycle;

    return SKI_LIKELY(i < table->baggages) ? table->baggage[i] : all->class->baggage;
}

/* Returns the lowest bit of *present, which is not 0, and clears it there. */
static inline uint32_t migration_next(uint32_t *present)
{
    uint32_t i = (uint32_t)__builtin_ctz(*present);

    *present &= *present - 1;
    return i;
}

/* ---- departure ---------------------------------------------------------------------- */

/* Returns whether all that an element has is its memory, as its class packs it; *gaps are set.  A
 * class whose object packs anything else is not asked again on this PE. */
static bool migration_within(struct ski_object *object, struct ski_pup_gaps *gaps)
{
    struct ski_collection *all  = object->of;
    const skua_class_def *class = &all->class->def;

    if (all->packs_outside || !class->pup || class->destroy ||
        class->bytes < MIGRATION_WITHIN_MIN || ski_config.checked_pup)
        return false;
    all->packs_outside = !ski_pup_within(all->class, object + 1, gaps);
    return !all->packs_outside;
}

/* Returns the flags of an element that goes by pointer, or 0: to a PE of this host, because its
 * class requires it, or because it is all plain bytes, no message in the queue here names it by its
 * address, and the PE allocates from the same NUMA range: to another one it is copied, into near
 * memory. */
static unsigned migration_by_pointer(struct ski_object *object, struct ski_pup_gaps *gaps)
{
    const struct ski_class *class = object->of->class;
    const struct ski_pe *self     = object->of->self;
    int                  to       = ski_job_index(self->job, object->to);

    if (ski_object_block(object) || to < 0)
        return 0;
    if (ski_class_by_pointer(class))
        return MIGRATION_BY_POINTER;
    if (ski_object_queued(object) ||
        ski_job_numa_range(self->job, to) != ski_job_numa_range(self->job, self->index))
        return 0;
    if (class->def.pup == skua_pup_plain)
        return MIGRATION_BY_POINTER;
    return migration_within(object, gaps) ? MIGRATION_BY_POINTER | MIGRATION_WITHIN : 0;
}

/* Returns the bytes to reserve for the packed element. */
static size_t migration_room(struct ski_object *object)
{
    size_t guess = object->of->packed_bytes;

    if (guess == 0 || guess > MIGRATION_GUESS)
        return ski_pup_measure(object->of->class, object + 1);
    return guess;
}

static SKI_COLD _Noreturn void migration_too_heavy(const struct ski_object *object, size_t bytes)
{
    ski_misuse(
        "%s cannot migrate to PE %d: the messages that it keeps, the stacks of its threads or "
        "other data that the runtime has for it are %zu bytes, and at most %u can migrate",
        ski_object_text(object), object->to, bytes, UINT32_MAX);
}

/* Returns the bytes of one kind of baggage of an element. */
static inline uint32_t migration_bytes_of(struct ski_object        *object,
                                          const struct ski_baggage *baggage)
{
    size_t bytes = baggage->bytes ? baggage->bytes(object) : baggage->least;

    ski_assert(bytes >= baggage->least);
    if (SKI_UNLIKELY(bytes > UINT32_MAX))
        migration_too_heavy(object, bytes);
    return (uint32_t)bytes;
}

/* Records in *head how many bytes of baggage an element has of each module.  Returns their sum. */
static inline size_t migration_measure_baggage(struct ski_object     *object,
                                               struct migration_head *head)
{
    const struct ski_collection      *all     = object->of;
    const struct ski_lifecycle_table *table   = &all->self->objects->lifecycle;
    uint32_t                          count   = table->baggages;
    uint32_t                          present = 0;
    size_t                            bytes   = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = migration_bytes_of(object, table->baggage[i]);

        bytes += head->bytes[i] = own;
        present |= own ? 1u << i : 0;
    }
    if (head->flags & MIGRATION_BY_POINTER && all->class->baggage) {
        bytes += head->bytes[count] = migration_bytes_of(object, all->class->baggage);
        present |= head->bytes[count] ? 1u << count : 0;
    }
    head->present = (uint16_t)present;
    return bytes;
}

/* Returns a message with *head, the baggage of an element and @p room for the element after it, at
 * *used. */
static inline skua_msg *migration_pack_baggage(struct ski_object     *object,
                                               struct migration_head *head, size_t room,
                                               size_t *used)
{
    const struct ski_collection *all     = object->of;
    size_t                       bytes   = migration_measure_baggage(object, head);
    uint32_t                     present = head->present;
    skua_msg                    *msg     = ski_msg_new(all->self, sizeof *head + bytes + room);
    char                        *at      = skua_msg_data(msg);

    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    while (present) {
        uint32_t i = migration_next(&present);

        migration_baggage(all, i)->pack(object, at);
        at += head->bytes[i];
    }
    *used = sizeof *head + bytes;
    return msg;
}

/* Packs an element into a message, and lets its class free what it holds here. */
static skua_msg *migration_pack(struct ski_object *object)
{
    struct ski_collection *all  = object->of;
    struct migration_head  head = {.moves = object->moves + 1,
                                   .flags = ski_config.checked_pup ? MIGRATION_CHECKED : 0};
    struct ski_iso_move    block;
    size_t                 used;
    skua_msg *msg = migration_pack_baggage(object, &head, migration_room(object), &used);

    if (head.flags & MIGRATION_CHECKED)
        msg = ski_pup_pack_checked(all->class, object + 1, msg, used);
    else
        msg = ski_pup_pack(all->class, object + 1, msg, used);
    all->packed_bytes = msg->bytes - used;
    ski_object_change(object, SKI_LEFT); /* first: the class's function may look */
    ski_element_destroy(object);
    block = ski_thread_migration_block(object); /* last: `destroy` may use what is in it */
    memcpy((char *)skua_msg_data(msg) + offsetof(struct migration_head, block), &block,
           sizeof block);
    return msg;
}

/* Writes the address of an element into a message, and its gaps if @p flags have MIGRATION_WITHIN.
 * *object becomes the stub that stays here, in @p room if it can. */
static skua_msg *migration_pack_pointer(struct ski_object **object, unsigned flags,
                                        const struct ski_pup_gaps *gaps, struct ski_stub *room)
{
    uint32_t              count = flags & MIGRATION_WITHIN ? gaps->count : 0;
    struct migration_head head  = {.pointer = {(uintptr_t)*object, count, 0},
                                   .moves   = (*object)->moves + 1,
                                   .flags   = (uint16_t)flags};
    size_t                used;
    skua_msg             *msg;

    if (ski_config.checked_pup)
        ski_pup_check_shared((*object)->of->class, *object + 1);
    msg = migration_pack_baggage(*object, &head, count * sizeof *gaps->gap, &used);
    if (count)
        memcpy((char *)skua_msg_data(msg) + used, gaps->gap, count * sizeof *gaps->gap);
    *object = ski_element_replace(*object, room);
    return msg;
}

/* Puts a stub, in @p room if it can, in the place of an element whose block has left. */
static struct ski_object *migration_replace_block(struct ski_object *object, struct ski_stub *room)
{
    unsigned char     *index = ski_object_long_index(object);
    struct ski_object *stub  = ski_element_replace(object, room); /* which has the index, too */

    free(index);
    return stub;
}

/* Sends an element in which no entry is running to its next PE. */
static void migration_depart(struct ski_object *object)
{
    struct ski_collection            *all       = object->of;
    const struct ski_lifecycle_table *lifecycle = &all->self->objects->lifecycle;
    skua_index                        index     = ski_object_index_get(object);
    struct ski_absent                *absent;
    struct ski_stub                   room;
    struct ski_pup_gaps               gaps;
    unsigned                          flags;
    skua_msg                         *msg;

    ski_assert(object->state == SKI_LEAVING && object->to != all->self->pe);
    if (!ski_thread_migration_may_depart(object))
        return; /* when the next message to it has been delivered */
    ski_notify_element_detached(lifecycle, object);
    flags = migration_by_pointer(object, &gaps);
    if (flags) {
        msg = migration_pack_pointer(&object, flags, &gaps, &room);
    } else {
        msg = migration_pack(object);
        if (ski_object_block(object))
            object = migration_replace_block(object, &room);
    }
    absent       = ski_location_left(all, &index,
                                     &(struct ski_location_update){object->to, object->moves + 1});
    msg->handler = SKI_HANDLER_MIGRATE;
    msg->source  = all->self->pe;
    ski_msg_post(all->self, object->to, SKI_HANDLER_MIGRATE,
                 ski_msg_set_target(msg, all->id, &index));
    if (SKI_UNLIKELY(ski_absent_waits(absent)))
        ski_hold_departed(all, absent);
    ski_notify_element_departed(lifecycle, object);
    ski_element_remove(object, SKI_LEFT, &room);
}

/* ---- arrival ------------------------------------------------------------------------ */

const void *ski_migration_baggage(const skua_msg *msg, const struct ski_baggage *of, size_t *bytes)
{
    const struct ski_lifecycle_table *table = &ski_self->objects->lifecycle;
    const struct migration_head      *head  = skua_msg_data((skua_msg *)msg);
    size_t                            at    = sizeof *head;

    for (uint32_t i = 0; msg->bytes >= sizeof *head && i < table->baggages; i++) {
        uint32_t own = head->present >> i & 1 ? head->bytes[i] : 0;

        if (table->baggage[i] == of && at <= msg->bytes && own <= msg->bytes - at) {
            *bytes = own;
            return (const char *)head + at;
        }
        at += own;
    }
    return NULL;
}

/* An element that arrives, and the data that are not read yet. */
struct migration_arrival {
    struct ski_collection *all;
    skua_index             index;
    struct migration_head  head;
    int                    source;
    const char            *from;
    size_t                 bytes;
    struct ski_object     *object; /* by pointer: the element */
    struct ski_pup_gaps    gaps;   /* MIGRATION_WITHIN: of it */
};

/* Returns whether an object has an index of as many bytes.  Both end in zeros. */
static inline bool migration_index_is(const struct ski_object *object, const skua_index *index)
{
    return SKI_LIKELY(object->index_bytes <= sizeof object->index.raw)
               ? memcmp(object->index.raw, &index->at, sizeof object->index.raw) == 0
               : ski_object_is(object, index);
}

/* Returns the element that came by pointer, or NULL: no element that is in flight to this PE begins
 * there. */
static struct ski_object *migration_pointer(const struct migration_arrival *came)
{
    struct ski_pe     *self   = came->all->self;
    struct ski_object *object = (struct ski_object *)(uintptr_t)came->head.pointer.object;

    if (!ski_class_shared(came->all->class) || ski_job_index(self->job, came->source) < 0)
        return NULL;
    if (!ski_arena_contains(self->pool.arena, object) ||
        !ski_block_begins(self->pool.arena, object) || object->to != self->pe ||
        object->index_bytes != came->index.bytes || !migration_index_is(object, &came->index))
        return NULL;
    return object;
}

/* Reads the gaps of an element that moves with its memory, which are all of the @p bytes at
 * @p from.  Returns false if they are not those of an object of its class. */
static bool migration_read_gaps(struct migration_arrival *came, const char *from, size_t bytes)
{
    if (came->head.pointer.gaps > SKI_PUP_GAPS ||
        bytes != came->head.pointer.gaps * sizeof *came->gaps.gap)
        return false;
    came->gaps.count = came->head.pointer.gaps;
    if (bytes)
        memcpy(came->gaps.gap, from, bytes);
    return ski_pup_gaps_set(came->all->class, &came->gaps);
}

/* Returns whether @p flags, which another PE has sent, are those of an element of the class: only
 * one that its class packs, and that comes by pointer, can have moved with its memory. */
static bool migration_flags_valid(const struct ski_class *class, uint32_t flags)
{
    if (flags & ~(uint32_t)(MIGRATION_CHECKED | MIGRATION_BY_POINTER | MIGRATION_WITHIN))
        return false;
    return !(flags & MIGRATION_WITHIN) || (flags & MIGRATION_BY_POINTER && class->def.pup);
}

/* Returns whether the baggage at the front of *bytes at *from, which advance over it, is that of an
 * element. */
static inline bool migration_baggage_valid(const struct migration_arrival *came, const char **from,
                                           size_t *bytes)
{
    const struct ski_lifecycle_table *table    = &came->all->self->objects->lifecycle;
    const struct ski_baggage         *of_class = came->all->class->baggage;
    uint32_t                          present  = came->head.present;
    uint32_t                          count    = table->baggages;
    uint32_t                          required = table->baggage_required;

    if (of_class && came->head.flags & MIGRATION_BY_POINTER)
        required |= (uint32_t)(of_class->least > 0) << count++;
    if (present >> count || required & ~present)
        return false;
    while (present) {
        uint32_t                  i       = migration_next(&present);
        uint32_t                  own     = came->head.bytes[i];
        const struct ski_baggage *baggage = migration_baggage(came->all, i);

        if (own == 0 || own > *bytes || own < baggage->least ||
            !baggage->valid(came->all, *from, own))
            return false;
        *from += own;
        *bytes -= own;
    }
    return true;
}

/* Returns whether an element that came from another PE can arrive: it is of a kind that migrates,
 * and not here, each module takes its baggage, and an element that comes by pointer, came->object,
 * is there. */
static bool migration_valid(struct migration_arrival *came)
{
    const char *from  = came->from;
    size_t      bytes = came->bytes;

    if ((came->all->kind != SKI_ARRAY && came->all->kind != SKI_CHARES) ||
        ski_element_here(came->all, &came->index) ||
        !migration_flags_valid(came->all->class, came->head.flags))
        return false;
    if (!migration_baggage_valid(came, &from, &bytes))
        return false;
    if (!(came->head.flags & MIGRATION_BY_POINTER))
        return ski_thread_migration_valid(came->all, &came->head.block);
    if (came->head.flags & MIGRATION_WITHIN ? !migration_read_gaps(came, from, bytes) : bytes != 0)
        return false;
    came->object = migration_pointer(came);
    return came->object != NULL;
}

/* Unpacks the baggage of an element. */
static void migration_unpack_baggage(struct ski_object *object, struct migration_arrival *came)
{
    uint32_t present = came->head.present;

    while (present) {
        uint32_t i = migration_next(&present), own = came->head.bytes[i];

        ski_assert(own <= came->bytes);
        migration_baggage(came->all, i)->unpack(object, came->from, own);
        came->from += own;
        came->bytes -= own;
    }
}

/* Enters an element that came by pointer: what precedes its memory is this PE's from now on. */
static struct ski_object *migration_adopt(const struct migration_arrival *came)
{
    struct ski_object *object = came->object;

    object->of       = came->all;
    object->life     = 0;
    object->state    = SKI_ALIVE;
    object->sections = 0;
    ski_element_place(object, &came->index);
    return object;
}

/* Adds an element that was found valid, with its baggage and, unless it came by pointer, its packed
 * memory.  It is entered: it stays until all have seen it, whatever a reduction sets off. */
static struct ski_object *migration_add(struct migration_arrival *came)
{
    bool               by_pointer = came->head.flags & MIGRATION_BY_POINTER;
    struct ski_object *object =
        by_pointer ? migration_adopt(came)
                   : ski_element_add_at(came->all, &came->index,
                                        ski_thread_migration_arrive(came->all, &came->head.block));
    struct ski_pup_packed packed;

    object->moves = came->head.moves;
    ski_element_enter(object);
    migration_unpack_baggage(object, came);
    if (came->head.flags & MIGRATION_WITHIN)
        ski_pup_unpack_within(came->all->class, object + 1, &came->gaps, came->source);
    if (by_pointer)
        return object;
    packed = (struct ski_pup_packed){came->from, came->bytes, came->source,
                                     came->head.flags & MIGRATION_CHECKED};
    ski_pup_unpack(came->all->class, object + 1, &packed);
    return object;
}

/* Reports the location of an element to its home, unless it came from there: then the home has
 * recorded it when it departed. */
static inline void migration_report(const struct ski_object *object, int from)
{
    struct ski_collection *all   = object->of;
    skua_index             index = ski_object_index_get(object);
    int                    home  = ski_home(all, &index);

    if (home != all->self->pe && home != from)
        ski_location_send(all, home, &index,
                          &(struct ski_location_update){all->self->pe, object->moves});
}

/* Fetches what the elements need that arrive next: the messages of a batch are in the queue, and
 * their data and objects in the cache of the core that has sent them.  An address that is not valid
 * is fetched without harm. */
static inline void migration_prefetch(const struct ski_pe *self)
{
    skua_msg                    *next = self->queue.plain.first;
    const struct migration_head *head;

    if (!next || next->handler != SKI_HANDLER_MIGRATE || next->bytes < sizeof *head)
        return;
    head = skua_msg_data(next);
    if (head->flags & MIGRATION_BY_POINTER)
        ski_prefetch_write((const void *)(uintptr_t)head->pointer.object);
    if (next->link)
        __builtin_prefetch(next->link + 1);
}

void ski_on_migrate(skua_msg *msg)
{
    struct migration_arrival came; /* not zeroed: what it is read for is set */
    struct ski_object       *object;
    bool                     holds;

    if (!ski_element_msg(msg, sizeof came.head, &came.all, &came.index))
        return;
    migration_prefetch(came.all->self);
    memcpy(&came.head, skua_msg_data(msg), sizeof came.head);
    came.source = msg->source;
    came.from   = (const char *)skua_msg_data(msg) + sizeof came.head;
    came.bytes  = msg->bytes - sizeof came.head;
    if (!migration_valid(&came)) {
        ski_net_drop(came.all->self, msg);
        return;
    }
    holds  = ski_hold_begin(came.all, &came.index, came.head.moves);
    object = migration_add(&came);
    ski_notify_element_arrived(&came.all->self->objects->lifecycle, object, came.source);
    if (!holds)
        migration_report(object, came.source);
    if (came.all->class->def.moved)
        came.all->class->def.moved(object + 1);
    ski_element_leave(object);
    skua_msg_free(msg);
}

/* Advances came->from and came->bytes over all baggage.  *flow is where that of the class is, or
 * NULL.  Returns false if the message is too short. */
static bool migration_skip_baggage(struct migration_arrival *came, const char **flow)
{
    uint32_t count   = came->all->self->objects->lifecycle.baggages;
    uint32_t present = came->head.present;

    *flow = NULL;
    while (present) {
        uint32_t i = migration_next(&present);

        if (i > count || came->head.bytes[i] > came->bytes)
            return false;
        if (i == count)
            *flow = came->from;
        came->from += came->head.bytes[i];
        came->bytes -= came->head.bytes[i];
    }
    return true;
}

/* Unpacks an element, or its flow at @p flow if it came by pointer, to be destroyed. */
static void migration_unpack_dead(struct ski_object *object, const struct migration_arrival *came,
                                  const char *flow)
{
    const struct ski_class *class = came->all->class;
    struct ski_pup_packed packed  = {came->from, came->bytes, came->source,
                                     came->head.flags & MIGRATION_CHECKED};

    if (!(came->head.flags & MIGRATION_BY_POINTER))
        ski_pup_unpack(class, object + 1, &packed);
    else if (flow && class->baggage)
        class->baggage->unpack(object, flow, (size_t)(came->from - flow));
}

/* Destroys an element that came after its collection had been destroyed: no other PE has it.  One
 * that was packed owns nothing, but its flow may keep nocopy messages whose senders wait. */
static void migration_discard_element(struct migration_arrival *came)
{
    const skua_class_def *def    = &came->all->class->def;
    struct ski_pool      *pool   = ski_collection_pool(came->all);
    struct ski_object    *object = NULL;
    const char           *flow;

    if (!migration_skip_baggage(came, &flow))
        return;
    if (came->head.flags & MIGRATION_BY_POINTER)
        object = migration_pointer(came);
    else if (came->all->class->flow && !ski_pe_exiting(came->all->self))
        object = ski_object_alloc(pool, def->bytes, &came->index);
    if (!object)
        return;
    object->of = came->all;
    ski_object_change(object, SKI_DEAD);
    migration_unpack_dead(object, came, flow);
    if (def->destroy)
        def->destroy(object + 1);
    ski_object_free(object, pool);
}

/* Frees what an element owns that comes after the end of its collection.  Returns false: other
 * modules look at the message as well, and the caller frees it. */
static bool migration_discard(skua_msg *msg)
{
    struct migration_arrival came = {.source = msg->source};
    const void              *threads;
    size_t                   bytes = 0;

    if (msg->handler != SKI_HANDLER_MIGRATE)
        return false;
    came.all   = ski_collection_find(ski_self->objects, msg->target >> 8);
    came.index = ski_msg_index(msg);
    memcpy(&came.head, skua_msg_data(msg), sizeof came.head);
    came.from  = (const char *)skua_msg_data(msg) + sizeof came.head;
    came.bytes = msg->bytes - sizeof came.head;
    if (!came.all || !came.all->class)
        return false;
    if (!(came.head.flags & MIGRATION_BY_POINTER)) { /* no thread comes by pointer */
        threads = ski_migration_baggage(msg, ski_thread_migration_lifecycle.baggage, &bytes);
        ski_thread_migration_discard(came.all, &came.head.block, threads, bytes);
    }
    migration_discard_element(&came);
    return false;
}

const struct ski_lifecycle ski_migration_lifecycle = {
    .element_leaving = migration_depart,
    .discard         = migration_discard,
    .late            = (const uint32_t[]){SKI_HANDLER_MIGRATE, 0},
};
