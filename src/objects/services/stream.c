/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - see stream.h. */
#include "base/params_check.h"
#include "objects/services/stream.h"

#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/pe/pe_data.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/message/msg_counts.h"
#include "objects/services/mesh.h"
#include "objects/services/quiescence.h"
#include "objects/model/collection.h"
#include "objects/model/objects_pe.h"

#define STREAM_SLOT_BYTES ((size_t)16384) /* of a message: larger ones are no faster         */
#define STREAM_SLOT_FILL  ((size_t)4096)  /* of items, in a message that is worth its cost   */
#define STREAM_BOUND      1024            /* items that may wait at least, where not given   */
#define STREAM_SLOT_SHARE 4               /* times its share of the bound that a slot holds  */
#define STREAM_LEASES     4               /* leases of a slot that make its share            */

/* A stream that was registered, in every process. */
struct stream_kind {
    const char         *name;
    skua_stream_def     def;
    skua_pe_data        key;
    skua_handler        last, hop; /* handlers of the last hop, and of those before */
    struct stream_kind *next;
};

/* A stream on a PE, where its key leads. */
struct stream_pe {
    skua_stream_port          port; /* first: the key is its address */
    const struct stream_kind *kind;
    void                     *arg;
    struct ski_list           kept; /* messages that wait for arg       */
    skua_mesh                 mesh;
    uint32_t                  bound;     /* items that may wait, in all      */
    uint32_t                  slots;     /* slots, one for each neighbour    */
    uint32_t                  slot_room; /* items that a slot holds at most  */
    uint32_t                  lease;     /* items of the bound that a slot gets at a time */
    skua_completion           due;
    skua_timer                timer;
    _Alignas(uint64_t) char spare[]; /* an item that is in no message yet   */
};

static struct stream_kind *stream_kinds,
    **stream_kinds_end = &stream_kinds; /* in the order of registration */

/* Streams by the numbers of their handlers. */
static struct stream_kind **stream_of_handler;
static uint32_t             stream_of_handlers;

/* ---- registration ------------------------------------------------------------------- */

static void stream_on_last(skua_msg *msg);
static void stream_on_hop(skua_msg *msg);

static char *stream_handler_name(const char *name, const char *suffix)
{
    size_t bytes = strlen(name) + strlen(suffix) + sizeof "stream ";
    char  *text  = ski_malloc(bytes);

    snprintf(text, bytes, "stream %s%s", name, suffix);
    return text;
}

static skua_handler stream_add_handler(struct stream_kind *kind, const char *suffix,
                                       skua_handler_fn fn)
{
    skua_handler handler = ski_handler_register(
        "skua_stream_register", stream_handler_name(kind->name, suffix), fn); /* keeps the name */

    if (handler.id >= stream_of_handlers) {
        stream_of_handler =
            ski_realloc(stream_of_handler, (handler.id + 1) * sizeof(struct stream_kind *));
        memset(stream_of_handler + stream_of_handlers, 0,
               (handler.id + 1 - stream_of_handlers) * sizeof(struct stream_kind *));
        stream_of_handlers = handler.id + 1;
    }
    stream_of_handler[handler.id] = kind;
    return handler;
}

static void stream_check_def(const char *name, const skua_stream_def *def)
{
    if (def->item_bytes == 0 || def->item_bytes > STREAM_SLOT_BYTES)
        ski_misuse("skua_stream_register(\"%s\"): an item has 1 to %zu bytes, not %zu", name,
                   STREAM_SLOT_BYTES, def->item_bytes);
    if (!def->item == !def->batch)
        ski_misuse("skua_stream_register(\"%s\"): it needs a callback for items or for batches",
                   name);
    if (def->buffer > INT32_MAX || !(def->period >= 0))
        ski_misuse("skua_stream_register(\"%s\"): its buffer is too large or its period negative",
                   name);
    if (def->mesh_dims < 0 || def->mesh_dims > SKUA_MESH_DIMS)
        ski_misuse("skua_stream_register(\"%s\"): a mesh has 1 to %d dimensions, not %d", name,
                   SKUA_MESH_DIMS, def->mesh_dims);
}

skua_stream skua_stream_register(const char *name, const skua_stream_def *def)
{
    struct stream_kind *kind = ski_calloc(1, sizeof *kind);

    ski_params_check(__func__, "skua_stream_def", def->size, sizeof *def);
    stream_check_def(name, def);
    kind->name        = name;
    kind->def         = *def;
    kind->key         = skua_pe_data_register(sizeof(struct stream_pe) + def->item_bytes);
    kind->last        = stream_add_handler(kind, "", stream_on_last);
    kind->hop         = stream_add_handler(kind, ", on the way", stream_on_hop);
    *stream_kinds_end = kind;
    stream_kinds_end  = &kind->next;
    return (skua_stream){kind->key.offset};
}

__thread char *skua_stream_memory;

/* ---- beginning on a PE -------------------------------------------------------------- */

void skua_stream_nowhere(void)
{
    ski_not_a_pe("skua_stream_put");
}

static struct stream_pe *stream_at(uint32_t offset)
{
    return (struct stream_pe *)(void *)skua_stream_here(offset);
}

/* Makes the next item of a slot, which has no message, the spare one. */
static void stream_empty_slot(struct stream_pe *s, skua_stream_slot *slot)
{
    *slot = (skua_stream_slot){.next = s->spare, .end = s->spare + s->port.item_bytes};
}

/* Lets the first put into a stream find its spare item. */
static void stream_expect(uint32_t offset, size_t item_bytes)
{
    struct stream_pe *s = stream_at(offset);

    s->port.item_bytes = (uint32_t)item_bytes;
    stream_empty_slot(s, &s->port.none);
}

/* Puts of the calling thread, which is now a PE, find their streams in the data of the PE, also a
 * stream that was never registered. */
static void stream_pe_begin(struct ski_objects *objects)
{
    _Static_assert(sizeof(struct stream_pe) < SKI_DATA_BEGIN, "that of key 0 has a spare item");
    skua_stream_memory = objects->self->data;
    stream_expect(0, 1);
    for (const struct stream_kind *kind = stream_kinds; kind; kind = kind->next)
        stream_expect(kind->key.offset, kind->def.item_bytes);
}

/* Returns the kind of the stream at @p offset; ends the job if there is none.  @p call is the name
 * of the public function. */
static struct stream_kind *stream_find_kind(const char *call, uint32_t offset)
{
    struct stream_kind *kind = stream_kinds;

    while (kind && kind->key.offset != offset)
        kind = kind->next;
    if (!kind)
        ski_misuse("%s: a stream that was never registered; skua_stream_register() makes them, "
                   "before skua_main()",
                   call);
    return kind;
}

static skua_mesh stream_make_mesh(const struct stream_kind *kind, int pes)
{
    const skua_stream_def *def = &kind->def;
    skua_mesh              mesh;

    if (def->mesh_dims == 0 || (def->mesh_size[0] == 0 && def->mesh_size[def->mesh_dims - 1] == 0))
        mesh = skua_mesh_make(def->mesh_dims);
    else if (!ski_mesh_of(pes, def->mesh_dims, def->mesh_size, &mesh))
        ski_misuse("stream \"%s\": %d PEs do not form a mesh of %d x %d x %d", kind->name, pes,
                   def->mesh_size[0], def->mesh_size[1], def->mesh_size[2]);
    if (ski_mesh_slots(&mesh) > UINT16_MAX)
        ski_misuse("stream \"%s\": its mesh gives each PE %d neighbours; use more dimensions",
                   kind->name, ski_mesh_slots(&mesh));
    return mesh;
}

/* Returns the limit of the items that wait: that of the program, of the user, or as many as fill
 * messages to all neighbours. */
static uint32_t stream_bound(const struct stream_kind *kind, uint32_t slots)
{
    size_t given = kind->def.buffer ? kind->def.buffer : ski_config.stream_buffer;
    size_t fill  = STREAM_SLOT_FILL / kind->def.item_bytes * slots;

    if (given > 0)
        return (uint32_t)given;
    return fill < STREAM_BOUND ? STREAM_BOUND : (uint32_t)fill;
}

/* Items that a slot may hold: more than its share, since some slots fill sooner than others. */
static uint32_t stream_slot_room(const struct stream_pe *s)
{
    size_t most  = STREAM_SLOT_BYTES / (s->kind->def.item_bytes + sizeof(int32_t));
    size_t share = (size_t)STREAM_SLOT_SHARE * s->bound / s->slots + 1;

    most = most ? most : 1;
    most = most < share ? most : share;
    return (uint32_t)(most < s->bound ? most : s->bound);
}

/* Items of the bound that a slot gets at a time, so that a put counts none: less than its share,
 * since those that it does not use are missing elsewhere. */
static uint32_t stream_lease(const struct stream_pe *s)
{
    uint32_t lease = s->bound / (STREAM_LEASES * s->slots);

    lease = lease ? lease : 1;
    return lease < s->slot_room ? lease : s->slot_room;
}

static void stream_on_due(void *arg, const void *data, size_t bytes);
static bool stream_flush_slots(struct stream_pe *s);

/* Called when the PE is idle: flushes all streams that are not `patient`. */
static bool stream_flush_idle(void *arg)
{
    bool sent = false;

    (void)arg;
    for (struct stream_kind *kind = stream_kinds; kind; kind = kind->next)
        if (!kind->def.patient)
            sent |= stream_flush_slots(stream_at(kind->key.offset));
    return sent;
}

/* Sends all items that wait on this PE, of every stream.  Returns false if there were none.
 * Quiescence detection calls it, with @p arg NULL. */
static bool stream_flush_all(void *arg)
{
    bool sent = false;

    (void)arg;
    for (struct stream_kind *kind = stream_kinds; kind; kind = kind->next)
        sent |= stream_flush_slots(stream_at(kind->key.offset));
    return sent;
}

/* Returns whether any stream has begun on this PE. */
static bool stream_any_begun(void)
{
    for (struct stream_kind *kind = stream_kinds; kind; kind = kind->next)
        if (stream_at(kind->key.offset)->port.pes)
            return true;
    return false;
}

static void stream_watch(void)
{
    skua_idle_add(stream_flush_idle, NULL);
    ski_quiescence_hook(stream_flush_all, NULL);
}

/* Begins a stream on this PE, at its first item. */
static void stream_begin(struct stream_pe *s, const struct stream_kind *kind)
{
    struct ski_pe *self  = SKI_SELF();
    bool           first = !stream_any_begun();

    ski_list_init(&s->kept);
    s->kind        = kind;
    s->mesh        = stream_make_mesh(kind, self->pes);
    s->slots       = (uint32_t)ski_mesh_slots(&s->mesh);
    s->bound       = stream_bound(kind, s->slots);
    s->slot_room   = stream_slot_room(s);
    s->lease       = stream_lease(s);
    s->due         = skua_done_call(stream_on_due, s);
    s->port.slot   = ski_calloc(s->slots, sizeof *s->port.slot);
    s->port.left   = s->bound;
    s->port.direct = s->mesh.dims == 1 ? (uint32_t)self->pes : 0;
    ski_mesh_routes(&s->mesh, self->pe, s->port.dim);
    ski_assert(s->slot_room > 0 && s->slots > 0);
    for (uint32_t i = 0; i < s->slots; i++)
        stream_empty_slot(s, &s->port.slot[i]);
    s->port.pes = (uint32_t)self->pes;
    if (first)
        stream_watch();
}

static struct stream_pe *stream_get(const char *call, uint32_t offset)
{
    struct stream_pe *s = stream_at(offset);

    if (SKI_UNLIKELY(!s->port.pes))
        stream_begin(s, stream_find_kind(call, offset));
    return s;
}

/* Returns the stream of a call, which may not have begun on this PE; ends the job if the caller is
 * no PE or the stream was never registered. */
static struct stream_pe *stream_of_call(const char *call, skua_stream stream)
{
    if (SKI_UNLIKELY(!skua_stream_memory))
        ski_not_a_pe(call);
    if (SKI_UNLIKELY(!stream.offset))
        stream_find_kind(call, stream.offset);
    return stream_at(stream.offset);
}

/* Returns the bytes at the end of each message that name its group. */
static size_t stream_group_bytes(const struct stream_pe *s)
{
    return s->kind->def.held ? sizeof s->port.group : 0;
}

/* Returns the group that the items of a message of a held stream are for; 0: it names none. */
static uint64_t stream_group_of(const skua_msg *msg)
{
    uint64_t group;

    ski_assert(msg->bytes >= sizeof group);
    memcpy(&group, (const char *)(msg + 1) + msg->bytes - sizeof group, sizeof group);
    return group;
}

/* Drops the messages that wait for members of a group that was destroyed. */
static void stream_drop_ended(struct ski_pe *self, struct stream_pe *s)
{
    struct ski_list kept = s->kept;
    skua_msg       *msg;

    ski_list_init(&s->kept);
    while ((msg = ski_list_pop(&kept))) {
        uint64_t                     group = stream_group_of(msg);
        const struct ski_collection *all = group ? ski_collection_find(self->objects, group) : NULL;

        if (all && all->state == SKI_ENDED) {
            self->held--;
            ski_collection_drop(all, msg);
        } else {
            ski_list_push(&s->kept, msg);
        }
    }
}

void skua_stream_bind(skua_stream stream, void *arg)
{
    struct stream_pe *s;

    stream_of_call(__func__, stream);
    s = stream_get(__func__, stream.offset);
    if (s->kind->def.held && s->arg && arg)
        ski_misuse("skua_stream_bind: stream \"%s\" is bound on this PE already; of a class with "
                   "entries that are [aggregate] there is one group at a time",
                   s->kind->name);
    s->arg = arg;
    if (arg) {
        ski_msg_unhold(SKI_SELF(), &s->kept);
    } else {
        s->port.bound = 0;
        stream_drop_ended(SKI_SELF(), s);
    }
}

static void stream_pe_end(struct ski_objects *objects)
{
    for (struct stream_kind *kind = stream_kinds; kind; kind = kind->next) {
        struct stream_pe *s =
            (struct stream_pe *)(void *)((char *)objects->self->data + kind->key.offset);
        free(s->port.slot); /* messages in its slots go with the arena */
        s->port = (skua_stream_port){0};
    }
    skua_stream_memory = NULL;
}

/* ---- sending ------------------------------------------------------------------------ */

static double stream_period(const struct stream_pe *s)
{
    return s->kind->def.period > 0 ? s->kind->def.period : ski_config.stream_period * 1e-6;
}

static bool stream_is_empty(const struct stream_pe *s)
{
    return s->port.left == s->bound;
}

static size_t stream_items_in(const struct stream_pe *s, const skua_stream_slot *slot)
{
    return slot->msg ? (size_t)(slot->next - (char *)skua_msg_data(slot->msg)) / s->port.item_bytes
                     : 0;
}

/* Returns the number of items that wait. */
static size_t stream_waiting(const struct stream_pe *s)
{
    size_t count = 0;

    for (uint32_t i = 0; s->port.pes && i < s->slots; i++)
        count += stream_items_in(s, &s->port.slot[i]);
    return count;
}

/* Returns the bytes of the items that a slot holds at most. */
static size_t stream_slot_bytes(const struct stream_pe *s)
{
    return (size_t)s->slot_room * s->port.item_bytes;
}

/* Returns whether a slot with a message can hold no more items, whatever the bound. */
static bool stream_slot_is_full(const struct stream_pe *s, const skua_stream_slot *slot)
{
    return slot->next == (char *)skua_msg_data(slot->msg) + stream_slot_bytes(s);
}

/* Gives a slot that has used its room more of it.  Returns false if it is full or the bound is
 * reached. */
static bool stream_extend_slot(struct stream_pe *s, skua_stream_slot *slot)
{
    size_t   room  = stream_slot_bytes(s) - (size_t)(slot->end - (char *)skua_msg_data(slot->msg));
    uint32_t items = s->lease < s->port.left ? s->lease : s->port.left;

    ski_assert(slot->next == slot->end);
    if (room < (size_t)items * s->port.item_bytes)
        items = (uint32_t)(room / s->port.item_bytes);
    slot->end += (size_t)items * s->port.item_bytes;
    s->port.left -= items;
    return items > 0;
}

/* Allocates a message for a slot that has none. */
static SKI_COLD void stream_open_slot(struct stream_pe *s, skua_stream_slot *slot)
{
    bool   last  = ski_mesh_slot_last(&s->mesh, (int)(slot - s->port.slot));
    size_t items = stream_slot_bytes(s);
    size_t to    = (items + 3) & ~(size_t)3;

    ski_assert(!slot->msg && s->port.left > 0);
    if (stream_is_empty(s) && stream_period(s) > 0)
        s->timer = skua_timer_after(stream_period(s), s->due);
    slot->msg  = skua_msg_alloc((last ? items : to + s->slot_room * sizeof(int32_t)) +
                                stream_group_bytes(s));
    slot->next = slot->end = skua_msg_data(slot->msg);
    slot->to               = last ? NULL : (int32_t *)(void *)(slot->next + to);
    stream_extend_slot(s, slot);
}

/* Moves items, destinations and group together; returns the bytes of all. */
static size_t stream_close_slot(const struct stream_pe *s, const skua_stream_slot *slot,
                                size_t count)
{
    char  *data  = skua_msg_data(slot->msg);
    size_t items = count * s->port.item_bytes, to = slot->to ? count * sizeof(int32_t) : 0;
    size_t group = stream_group_bytes(s);

    if (to)
        memmove(data + items, slot->to - count, to);
    if (group)
        memcpy(data + items + to, &s->port.group, group);
    return items + to + group;
}

static void stream_send_slot(struct stream_pe *s, skua_stream_slot *slot)
{
    size_t       count   = stream_items_in(s, slot);
    skua_msg    *msg     = slot->msg;
    size_t       room    = (size_t)(slot->end - (char *)skua_msg_data(msg));
    skua_handler handler = slot->to ? s->kind->hop : s->kind->last;
    int          to      = ski_mesh_slot_pe(&s->mesh, ski_self->pe, (int)(slot - s->port.slot));

    ski_assert(msg && count > 0 && count <= s->slot_room);
    msg->bytes = stream_close_slot(s, slot, count);
    stream_empty_slot(s, slot);
    s->port.left += (uint32_t)(room / s->port.item_bytes);
    ski_assert(s->port.left <= s->bound);
    if (stream_is_empty(s) && stream_period(s) > 0)
        skua_timer_cancel(s->timer);
    skua_send(to, handler, msg);
}

static skua_stream_slot *stream_fullest_slot(const struct stream_pe *s)
{
    skua_stream_slot *best  = s->port.slot;
    size_t            count = 0;

    for (uint32_t i = 0; i < s->slots; i++) {
        skua_stream_slot *slot  = &s->port.slot[i];
        size_t            bytes = slot->msg ? (size_t)(slot->next - (char *)slot->msg) : 0;
        if (bytes > count) {
            best  = slot;
            count = bytes;
        }
    }
    return best;
}

/* Moves the spare item, which was put into @p slot for want of a message, into the message to its
 * PE.  Returns the slot of that. */
static SKI_COLD skua_stream_slot *stream_move_spare(struct stream_pe *s, skua_stream_slot *slot,
                                                    int pe)
{
    stream_empty_slot(s, slot);
    if ((uint32_t)pe >= s->port.pes)
        ski_misuse("skua_stream_put: PE %d does not exist; this job has PEs 0 to %u", pe,
                   s->port.pes - 1);
    slot = &s->port.slot[skua_stream_route(&s->port, (uint32_t)pe)];
    ski_assert(slot < s->port.slot + s->slots);
    if (s->port.left == 0)
        stream_send_slot(s, stream_fullest_slot(s));
    stream_open_slot(s, slot);
    memcpy(slot->next, s->spare, s->port.item_bytes);
    slot->next += s->port.item_bytes;
    if (slot->to)
        *slot->to++ = pe;
    return slot;
}

void skua_stream_next(uint32_t offset, skua_stream_slot *slot, int pe)
{
    struct stream_pe *s = stream_get("skua_stream_put", offset);

    if (!slot->msg)
        slot = stream_move_spare(s, slot, pe);
    if (slot->next != slot->end || stream_extend_slot(s, slot))
        return;
    if (stream_slot_is_full(s, slot)) {
        stream_send_slot(s, slot);
        return;
    }
    stream_send_slot(s, stream_fullest_slot(s));
    if (slot->msg) /* another one was fuller */
        stream_extend_slot(s, slot);
}

static bool stream_flush_slots(struct stream_pe *s)
{
    bool any = s->port.pes && !stream_is_empty(s);

    for (uint32_t i = 0; i < s->slots && !stream_is_empty(s); i++)
        if (s->port.slot[i].msg)
            stream_send_slot(s, &s->port.slot[i]);
    ski_assert(!any || stream_is_empty(s));
    return any;
}

bool skua_stream_flush(skua_stream stream)
{
    return stream_flush_slots(stream_of_call(__func__, stream));
}

size_t skua_stream_waiting(skua_stream stream)
{
    const struct stream_pe *s = stream_of_call(__func__, stream);

    return stream_waiting(s);
}

static void stream_on_due(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    stream_flush_slots(arg);
}

/* ---- receiving ---------------------------------------------------------------------- */

static struct stream_pe *stream_of(const skua_msg *msg)
{
    const struct stream_kind *kind = stream_of_handler[msg->handler];

    return stream_get("skua_stream_put", kind->key.offset);
}

/* The items are in the cache of the PE that wrote them.  Callbacks that wait for memory of their
 * own keep the processor from prefetching, so all items are prefetched before the first callback.
 */
static void stream_prefetch(const char *items, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SKI_CACHE_LINE)
        __builtin_prefetch(items + at);
}

static void stream_deliver(struct stream_pe *s, const char *items, size_t count)
{
    const skua_stream_def *def = &s->kind->def;

    stream_prefetch(items, count * def->item_bytes);
    if (def->batch && count)
        def->batch(s->arg, items, count);
    for (size_t i = 0; def->item && i < count; i++)
        def->item(s->arg, items + i * def->item_bytes);
}

static SKI_COLD _Noreturn void stream_malformed(const struct stream_pe *s, const skua_msg *msg)
{
    ski_fatal("stream \"%s\" on PE %d: a message of %zu bytes from PE %d holds no whole items",
              s->kind->name, ski_self->pe, msg->bytes, msg->source);
}

/* Holds a message for a member of @p group that is not bound here yet; 0: for what the program will
 * bind.  Drops it if the group was destroyed. */
static SKI_COLD void stream_keep(struct stream_pe *s, skua_msg *msg, uint64_t group)
{
    struct ski_pe               *self = SKI_SELF();
    const struct ski_collection *all  = group ? ski_collection_expect(self->objects, group) : NULL;

    if (group && !all)
        ski_fatal("stream \"%s\": PE %d sent items for %llx, which is not a group", s->kind->name,
                  msg->source, (unsigned long long)group);
    if (all && all->state == SKI_ENDED)
        ski_collection_drop(all, msg);
    else
        ski_msg_hold(self, &s->kept, msg);
}

/* Returns whether the items of a message are for what is bound here; if not, it is kept or dropped.
 * Takes the group off its end, and sets *group; a stream that is not held has none: 0. */
static bool stream_accepts(struct stream_pe *s, skua_msg *msg, uint64_t *group)
{
    *group = 0;
    if (!s->kind->def.held)
        return true;
    if (SKI_UNLIKELY(msg->bytes < sizeof *group))
        stream_malformed(s, msg);
    *group = stream_group_of(msg);
    if (SKI_UNLIKELY(!s->arg || (*group && *group != s->port.bound))) {
        stream_keep(s, msg, *group);
        return false;
    }
    msg->bytes -= sizeof *group;
    return true;
}

static void stream_on_last(skua_msg *msg)
{
    struct stream_pe *s = stream_of(msg);
    uint64_t          group;
    size_t            count;

    if (!stream_accepts(s, msg, &group))
        return;
    count = msg->bytes / s->kind->def.item_bytes;
    if (SKI_UNLIKELY(count * s->kind->def.item_bytes != msg->bytes))
        stream_malformed(s, msg);
    stream_deliver(s, skua_msg_data(msg), count);
    skua_msg_free(msg);
}

/* Items for other PEs go into slots of this PE; those for this PE are moved together and delivered.
 */
static void stream_on_hop(skua_msg *msg)
{
    struct stream_pe *s      = stream_of(msg);
    skua_stream       stream = {s->kind->key.offset};
    size_t            bytes  = s->kind->def.item_bytes;
    char             *items  = skua_msg_data(msg);
    uint64_t          group;
    size_t            count, ours = 0;

    if (!stream_accepts(s, msg, &group))
        return;
    count = msg->bytes / (bytes + sizeof(int32_t));
    if (SKI_UNLIKELY(count * (bytes + sizeof(int32_t)) != msg->bytes))
        stream_malformed(s, msg);
    for (size_t i = 0; i < count; i++) {
        int32_t pe;
        memcpy(&pe, items + count * bytes + i * sizeof pe, sizeof pe);
        if (pe != ski_self->pe)
            skua_stream_put_member(stream, group, pe, items + i * bytes);
        else if (ours++ != i)
            memcpy(items + (ours - 1) * bytes, items + i * bytes, bytes);
    }
    stream_deliver(s, items, ours);
    skua_msg_free(msg);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void stream_report(struct ski_objects *objects, struct ski_text *text)
{
    (void)objects;
    for (const struct stream_kind *kind = stream_kinds; kind; kind = kind->next) {
        const struct stream_pe *s = stream_at(kind->key.offset);

        if (s->port.pes && !stream_is_empty(s))
            ski_text_item(text, "stream %s keeps %zu items until skua_stream_flush()", kind->name,
                          stream_waiting(s));
        if (s->port.pes && s->kept.first)
            ski_text_item(text, "items of stream %s wait for skua_stream_bind()", kind->name);
    }
}

const struct ski_lifecycle ski_stream_lifecycle = {
    .pe_begin  = stream_pe_begin,
    .pe_end    = stream_pe_end,
    .pe_report = stream_report,
};
