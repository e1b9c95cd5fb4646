/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - see stream.h. */
#include "objects/services/stream.h"

#include <stdlib.h>
#include <string.h>

#include <skua/pe.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/pe_data.h"
#include "core/sched/wait_report.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/message/msg_counts.h"
#include "objects/services/host_topology.h"
#include "objects/services/mesh.h"
#include "objects/services/quiescence.h"

#define SLOT_BYTES ((size_t)16384) /* of a message: larger ones gather no better */
#define SLOT_SHARE 4               /* a slot holds so many times its share of the bound */

/* A stream, in every process. */
struct kind {
    const char     *name;
    skua_stream_def def;
    skua_pe_data    key;
    skua_handler    last, on_the_way; /* hops */
    struct kind    *next;
};

/* A stream on a PE; what its key leads to. */
struct stream {
    skua_stream_port   port; /* first: the key is its address */
    const struct kind *kind;
    void              *arg;
    struct ski_list    kept; /* messages that wait for arg      */
    skua_mesh          mesh;
    uint32_t           bound;     /* items that may wait             */
    uint32_t           slots;     /* ... in so many                  */
    uint32_t           slot_room; /* ... each of which holds so many */
    skua_completion    due;
    skua_timer         timer;
    uint16_t          *route;
};

static struct kind *kinds, **kinds_end = &kinds; /* in the order of registration */

/* Streams by the handlers of their messages. */
static struct kind **of_handler;
static uint32_t      of_handlers;

/* ---- registration ----------------------------------------------------------------------- */

static void on_last(skua_msg *msg);
static void on_the_way(skua_msg *msg);

static char *named(const char *name, const char *suffix)
{
    size_t bytes = strlen(name) + strlen(suffix) + sizeof "stream ";
    char  *text  = ski_malloc(bytes);

    snprintf(text, bytes, "stream %s%s", name, suffix);
    return text;
}

static skua_handler add_handler(struct kind *kind, const char *suffix, skua_handler_fn fn)
{
    skua_handler handler = skua_register(named(kind->name, suffix), fn); /* keeps the name */

    if (handler.id >= of_handlers) {
        of_handler = ski_realloc(of_handler, (handler.id + 1) * sizeof(struct kind *));
        memset(of_handler + of_handlers, 0, (handler.id + 1 - of_handlers) * sizeof(struct kind *));
        of_handlers = handler.id + 1;
    }
    of_handler[handler.id] = kind;
    return handler;
}

static void check_def(const char *name, const skua_stream_def *def)
{
    if (def->item_bytes == 0 || def->item_bytes > SLOT_BYTES)
        ski_misuse("skua_stream_register(\"%s\"): an item has 1 to %zu bytes, not %zu", name,
                   SLOT_BYTES, def->item_bytes);
    if (!def->item == !def->batch)
        ski_misuse("skua_stream_register(\"%s\"): it needs a callback for items or for batches",
                   name);
    if (def->buffer > INT32_MAX || !(def->period >= 0))
        ski_misuse("skua_stream_register(\"%s\"): its buffer or period makes no sense", name);
    if (def->dims < 0 || def->dims > SKUA_MESH_DIMS)
        ski_misuse("skua_stream_register(\"%s\"): a mesh has 1 to %d dimensions, not %d", name,
                   SKUA_MESH_DIMS, def->dims);
}

skua_stream skua_stream_register(const char *name, const skua_stream_def *def)
{
    struct kind *kind = ski_calloc(1, sizeof *kind);

    check_def(name, def);
    kind->name       = name;
    kind->def        = *def;
    kind->key        = skua_pe_data_register(sizeof(struct stream));
    kind->last       = add_handler(kind, "", on_last);
    kind->on_the_way = add_handler(kind, ", on the way", on_the_way);
    *kinds_end       = kind;
    kinds_end        = &kind->next;
    return (skua_stream){kind->key.offset};
}

/* ---- beginning on a PE --------------------------------------------------------------------- */

void skua_stream_nowhere(void)
{
    ski_not_a_pe("skua_stream_put");
}

void ski_streams_begin(const struct ski_pe *self)
{
    ski_stream_memory_set(self->data);
}

static struct stream *at(uint32_t offset)
{
    _Static_assert(sizeof(struct stream) <= SKI_DATA_BEGIN, "that of key 0 has not begun");
    return (struct stream *)(void *)skua_stream_here(offset);
}

static struct kind *find_kind(uint32_t offset)
{
    struct kind *kind = kinds;

    while (kind && kind->key.offset != offset)
        kind = kind->next;
    if (!kind)
        ski_misuse("a stream that was never registered; skua_stream_register() makes them, before "
                   "skua_main()");
    return kind;
}

static skua_mesh make_mesh(const struct kind *kind, int pes)
{
    const skua_stream_def *def = &kind->def;
    skua_mesh              mesh;

    if (def->dims == 0 || (def->size[0] == 0 && def->size[def->dims - 1] == 0))
        mesh = skua_mesh_make(def->dims);
    else if (!ski_mesh_of(pes, def->dims, def->size, &mesh))
        ski_misuse("stream \"%s\": %d PEs do not form a mesh of %d x %d x %d", kind->name, pes,
                   def->size[0], def->size[1], def->size[2]);
    if (ski_mesh_slots(&mesh) > UINT16_MAX)
        ski_misuse("stream \"%s\": its mesh gives each PE %d neighbours; use more dimensions",
                   kind->name, ski_mesh_slots(&mesh));
    return mesh;
}

/* What each slot may hold: more than its share, for some fill sooner than others. */
static uint32_t room_of_slot(const struct stream *s)
{
    size_t most  = SLOT_BYTES / (s->kind->def.item_bytes + sizeof(int32_t));
    size_t share = (size_t)SLOT_SHARE * s->bound / s->slots + 1;

    most = most ? most : 1;
    most = most < share ? most : share;
    return (uint32_t)(most < s->bound ? most : s->bound);
}

static void is_due(void *arg, const void *data, size_t bytes);
static bool flush(struct stream *s);

/* When it is idle a PE flushes the streams that let it: once for all of them. */
static bool flush_idle(void *arg)
{
    bool sent = false;

    (void)arg;
    for (struct kind *kind = kinds; kind; kind = kind->next)
        if (!kind->def.patient)
            sent |= flush(at(kind->key.offset));
    return sent;
}

/* Whether a stream has begun on this PE. */
static bool any_begun(void)
{
    for (struct kind *kind = kinds; kind; kind = kind->next)
        if (at(kind->key.offset)->port.pes)
            return true;
    return false;
}

static void watch(void)
{
    skua_idle_add(flush_idle, NULL);
    ski_quiescence_hook(ski_streams_flush, NULL);
}

/* The first item on this PE: nothing was there before. */
static void begin(struct stream *s, const struct kind *kind)
{
    struct ski_pe *self  = SKI_SELF();
    bool           first = !any_begun();

    ski_list_init(&s->kept);
    s->kind            = kind;
    s->mesh            = make_mesh(kind, self->pes);
    s->slots           = (uint32_t)ski_mesh_slots(&s->mesh);
    s->bound           = (uint32_t)(kind->def.buffer ? kind->def.buffer : ski_config.stream_buffer);
    s->bound           = s->bound ? s->bound : 1;
    s->slot_room       = room_of_slot(s);
    s->due             = skua_done_call(is_due, s);
    s->route           = ski_malloc((size_t)self->pes * sizeof *s->route);
    s->port.slot       = ski_calloc(s->slots, sizeof *s->port.slot);
    s->port.route      = s->route;
    s->port.left       = s->bound;
    s->port.item_bytes = (uint32_t)kind->def.item_bytes;
    for (int pe = 0; pe < self->pes; pe++)
        s->route[pe] = (uint16_t)ski_mesh_route(&s->mesh, self->pe, pe);
    s->port.pes = (uint32_t)self->pes;
    if (first)
        watch();
}

static struct stream *begun(uint32_t offset)
{
    struct stream *s = at(offset);

    if (SKI_UNLIKELY(!s->port.pes))
        begin(s, find_kind(offset));
    return s;
}

void skua_stream_bind(skua_stream stream, void *arg)
{
    struct stream *s = begun(stream.offset);

    if (s->kind->def.held && s->arg && arg)
        ski_misuse("skua_stream_bind: stream \"%s\" is bound on this PE already; of a class with "
                   "entries that are [aggregate] there is one group at a time",
                   s->kind->name);
    s->arg = arg;
    if (arg)
        ski_unhold(SKI_SELF(), &s->kept);
}

void ski_streams_end(struct ski_pe *self)
{
    for (struct kind *kind = kinds; kind; kind = kind->next) {
        struct stream *s = (struct stream *)(void *)((char *)self->data + kind->key.offset);
        free(s->port.slot); /* messages in it go with the arena */
        free(s->route);
        s->port = (skua_stream_port){0};
    }
    ski_stream_memory_set(NULL);
}

/* ---- sending ----------------------------------------------------------------------------------
 */

static double period(const struct stream *s)
{
    return s->kind->def.period > 0 ? s->kind->def.period : ski_config.stream_period * 1e-6;
}

static bool is_empty(const struct stream *s)
{
    return s->port.left == s->bound;
}

static size_t items_in(const struct stream *s, const skua_stream_slot *slot)
{
    return slot->msg ? (size_t)(slot->next - (char *)skua_msg_data(slot->msg)) / s->port.item_bytes
                     : 0;
}

/* A message for a slot that has none. */
static SKI_COLD void open_slot(struct stream *s, skua_stream_slot *slot)
{
    bool   last  = ski_mesh_slot_last(&s->mesh, (int)(slot - s->port.slot));
    size_t items = (size_t)s->slot_room * s->port.item_bytes;
    size_t to    = (items + 3) & ~(size_t)3;

    if (is_empty(s) && period(s) > 0)
        s->timer = skua_after(period(s), s->due);
    slot->msg  = skua_msg_alloc(last ? items : to + s->slot_room * sizeof(int32_t));
    slot->next = skua_msg_data(slot->msg);
    slot->end  = slot->next + items;
    slot->to   = last ? NULL : (int32_t *)(void *)(slot->next + to);
}

skua_stream_slot *skua_stream_open(uint32_t offset, int pe)
{
    struct stream    *s = begun(offset);
    skua_stream_slot *slot;

    if ((uint32_t)pe >= s->port.pes)
        ski_misuse("skua_stream_put: PE %d does not exist; this job has PEs 0 to %u", pe,
                   s->port.pes - 1);
    slot = &s->port.slot[s->route[pe]];
    if (slot->next == slot->end)
        open_slot(s, slot);
    return slot;
}

/* Moves items and where they go together; what the message then holds. */
static size_t close_slot(const struct stream *s, const skua_stream_slot *slot, size_t count)
{
    char  *data  = skua_msg_data(slot->msg);
    size_t items = count * s->port.item_bytes, to = count * sizeof(int32_t);

    if (!slot->to)
        return items;
    memmove(data + items, slot->to - count, to);
    return items + to;
}

static void send_slot(struct stream *s, skua_stream_slot *slot)
{
    size_t       count   = items_in(s, slot);
    skua_msg    *msg     = slot->msg;
    skua_handler handler = slot->to ? s->kind->on_the_way : s->kind->last;
    int          to      = ski_mesh_slot_pe(&s->mesh, ski_self->pe, (int)(slot - s->port.slot));

    msg->bytes = close_slot(s, slot, count);
    *slot      = (skua_stream_slot){0};
    s->port.left += (uint32_t)count;
    if (is_empty(s) && period(s) > 0)
        skua_timer_cancel(s->timer);
    skua_send(to, handler, msg);
}

static skua_stream_slot *fullest(const struct stream *s)
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

void skua_stream_full(uint32_t offset, skua_stream_slot *slot)
{
    struct stream *s = at(offset);

    send_slot(s, slot->next == slot->end ? slot : fullest(s));
}

static bool flush(struct stream *s)
{
    bool any = s->port.pes && !is_empty(s);

    for (uint32_t i = 0; i < s->slots && !is_empty(s); i++)
        if (s->port.slot[i].msg)
            send_slot(s, &s->port.slot[i]);
    return any;
}

bool skua_stream_flush(skua_stream stream)
{
    return flush(at(stream.offset));
}

size_t skua_stream_waiting(skua_stream stream)
{
    const struct stream *s = at(stream.offset);

    return s->port.pes ? s->bound - s->port.left : 0;
}

bool ski_streams_flush(void *arg)
{
    bool sent = false;

    (void)arg;
    for (struct kind *kind = kinds; kind; kind = kind->next)
        sent |= flush(at(kind->key.offset));
    return sent;
}

static void is_due(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    flush(arg);
}

/* ---- receiving ----------------------------------------------------------------------------------
 */

static struct stream *stream_of(const skua_msg *msg)
{
    const struct kind *kind = of_handler[msg->handler];

    return begun(kind->key.offset);
}

/* What another PE wrote is in its cache.  Callbacks that wait for memory of their own
 * confuse the processor's prefetching: ask for all of it at once. */
static void fetch(const char *items, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SKI_CACHE_LINE)
        __builtin_prefetch(items + at);
}

static void deliver(struct stream *s, const char *items, size_t count)
{
    const skua_stream_def *def = &s->kind->def;

    fetch(items, count * def->item_bytes);
    if (def->batch && count)
        def->batch(s->arg, items, count);
    for (size_t i = 0; def->item && i < count; i++)
        def->item(s->arg, items + i * def->item_bytes);
}

static SKI_COLD _Noreturn void wrong(const struct stream *s, const skua_msg *msg)
{
    ski_fatal("stream \"%s\": %zu bytes from PE %d are not what it sends", s->kind->name,
              msg->bytes, msg->source);
}

/* Whether a message must wait, and does: nobody is there yet that its items are for. */
static bool must_wait(struct stream *s, skua_msg *msg)
{
    bool wait = !s->arg && s->kind->def.held;

    if (SKI_UNLIKELY(wait))
        ski_hold(SKI_SELF(), &s->kept, msg);
    return wait;
}

static void on_last(skua_msg *msg)
{
    struct stream *s     = stream_of(msg);
    size_t         count = msg->bytes / s->kind->def.item_bytes;

    if (must_wait(s, msg))
        return;
    if (SKI_UNLIKELY(count * s->kind->def.item_bytes != msg->bytes))
        wrong(s, msg);
    deliver(s, skua_msg_data(msg), count);
    skua_msg_free(msg);
}

/* What goes on is put into our own slots; what is ours moves together in front. */
static void on_the_way(skua_msg *msg)
{
    struct stream *s      = stream_of(msg);
    skua_stream    stream = {s->kind->key.offset};
    size_t         bytes  = s->kind->def.item_bytes;
    size_t         count = msg->bytes / (bytes + sizeof(int32_t)), ours = 0;
    char          *items = skua_msg_data(msg);

    if (must_wait(s, msg))
        return;
    if (SKI_UNLIKELY(count * (bytes + sizeof(int32_t)) != msg->bytes))
        wrong(s, msg);
    for (size_t i = 0; i < count; i++) {
        int32_t pe;
        memcpy(&pe, items + count * bytes + i * sizeof pe, sizeof pe);
        if (pe != ski_self->pe)
            skua_stream_put(stream, pe, items + i * bytes);
        else if (ours++ != i)
            memcpy(items + (ours - 1) * bytes, items + i * bytes, bytes);
    }
    deliver(s, items, ours);
    skua_msg_free(msg);
}

/* ---- for people ------------------------------------------------------------------------- */

void ski_streams_explain(struct ski_text *text)
{
    for (const struct kind *kind = kinds; kind; kind = kind->next) {
        const struct stream *s = at(kind->key.offset);

        if (s->port.pes && !is_empty(s))
            ski_text_item(text, "stream %s keeps %u items until skua_stream_flush()", kind->name,
                          s->bound - s->port.left);
        if (s->port.pes && s->kept.first)
            ski_text_item(text, "items of stream %s wait for skua_stream_bind()", kind->name);
    }
}
