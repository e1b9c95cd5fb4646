/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.c - see pup.h.
 *
 * An object whose fields all are in its own memory, in ascending order, can move with that
 * memory: nothing is packed.  A measuring pass finds the gaps between the fields (struct
 * pup_within), which are zeroed at the destination as in a new object, and an unpacking pass there
 * finds each field in its place.
 */
#include "objects/model/pup.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <skua/buffer.h>

#include "base/assert.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/data/msg.h"
#include "core/pe/pe.h"
#include "objects/model/collection.h"
#include "objects/model/object.h"
#include "objects/model/pup_checked.h"
#include "objects/model/pup_state.h"

/* The state of a pass over an object that moves with its memory. */
struct pup_within {
    struct ski_pup_gaps *gaps;  /* those found so far */
    const char          *next;  /* the end of the last field, in the object */
    const char          *end;   /* of the object */
    bool                 moves; /* all fields so far allow the move */
};

/* ---- fields -------------------------------------------------------------------------------- */

static void pup_bytes_checked(skua_pup *p, void *data, const struct ski_pup_field *field)
{
    ski_pup_check(p, field);
    if (p->mode == SKI_PUP_PACK) {
        ski_pup_put(p, data, field->bytes);
    } else if (p->mode == SKI_PUP_UNPACK) {
        if (field->bytes)
            memcpy(data, p->at, field->bytes);
        p->at += field->bytes;
        p->log->left -= field->bytes;
    }
}

/* A field that is packed unchecked, and does not fit. */
static void pup_bytes_grow(skua_pup *p, void *data, const struct ski_pup_field *field)
{
    if (!p->msg && field->bytes > 0)
        ski_pup_beyond(p, field);
    if (!p->msg)
        return;
    ski_pup_reserve(p, field->bytes);
    ski_pup_put(p, data, field->bytes);
    p->left = ski_pup_room(p);
}

/* Records the bytes of the object @p self from the last field to @p at, which no field has. Returns
 * false if there is no room. */
static bool pup_within_gap(struct pup_within *within, const char *self, const char *at)
{
    struct ski_pup_gaps *gaps = within->gaps;

    if (at == within->next)
        return true;
    if (gaps->count == SKI_PUP_GAPS)
        return false;
    gaps->gap[gaps->count++] =
        (struct ski_pup_gap){(uint32_t)(within->next - self), (uint32_t)(at - within->next)};
    return true;
}

/* An object that owns memory, and one whose class treats sizing, packing and unpacking differently,
 * is packed. */
static void pup_within_refuse(const skua_pup *p)
{
    if (SKI_UNLIKELY(p->within != NULL))
        p->within->moves = false;
}

/* A field that does not follow the last one at once, or is outside of the object. */
static SKI_COLD void pup_within_apart(skua_pup *p, const char *data, size_t bytes, const char *name)
{
    struct pup_within *within = p->within;
    size_t             at     = (uintptr_t)data - (uintptr_t)p->self;
    bool               inside = at < p->of->def.bytes && bytes <= p->of->def.bytes - at;

    if (bytes == 0)
        return;
    if (p->mode == SKI_PUP_UNPACK && !inside) {
        struct ski_pup_field field = ski_pup_field_of(SKI_PUP_BYTES, name, bytes);

        ski_pup_beyond(p, &field);
    }
    within->moves =
        within->moves && inside && data >= within->next && pup_within_gap(within, p->self, data);
    within->next = inside ? data + bytes : within->end;
    p->bytes += bytes;
}

/* A field of an object that moves with its memory, or may. */
static inline void pup_within_field(skua_pup *p, const char *data, size_t bytes, const char *name)
{
    struct pup_within *within = p->within;

    if (SKI_UNLIKELY(data != within->next || bytes > (size_t)(within->end - data))) {
        pup_within_apart(p, data, bytes, name);
        return;
    }
    within->next = data + bytes;
    p->bytes += bytes;
}

/* Processes a field that is neither copied at once nor stays in its place. */
static SKI_COLD void pup_bytes_slow(skua_pup *p, void *data, size_t bytes, const char *name,
                                    enum ski_pup_kind kind)
{
    struct ski_pup_field field;

    p->bytes += bytes;
    if (p->mode == SKI_PUP_MEASURE && !p->log)
        return;
    field = ski_pup_field_of(kind, name, bytes);
    if (bytes > PTRDIFF_MAX / 4) /* a negative length */
        ski_pup_beyond(p, &field);
    if (p->log)
        pup_bytes_checked(p, data, &field);
    else if (p->mode == SKI_PUP_PACK)
        pup_bytes_grow(p, data, &field);
    else if (bytes > p->left)
        ski_pup_beyond(p, &field);
}

/* Processes a field that is larger than `left`: see pup_state.h. */
static __attribute__((noinline)) void pup_bytes_beyond(skua_pup *p, void *data, size_t bytes,
                                                       const char *name, enum ski_pup_kind kind)
{
    if (p->within)
        pup_within_field(p, data, bytes, name);
    else
        pup_bytes_slow(p, data, bytes, name, kind);
}

static inline void pup_bytes(skua_pup *p, void *data, size_t bytes, const char *name,
                             enum ski_pup_kind kind)
{
    if (SKI_UNLIKELY(bytes - 1 >= p->left)) { /* also of 0 bytes */
        pup_bytes_beyond(p, data, bytes, name, kind);
        return;
    }
    if (p->mode == SKI_PUP_PACK)
        ski_copy(p->at, data, bytes);
    else
        ski_copy(data, p->at, bytes);
    p->at += bytes;
    p->left -= bytes;
}

void skua_pup_bytes_named(skua_pup *p, void *data, size_t bytes, const char *name)
{
    pup_bytes(p, data, bytes, name, SKI_PUP_BYTES);
}

size_t ski_pup_left(const skua_pup *p)
{
    return p->log ? p->log->left : p->left;
}

/* Returns memory for what an object owns. */
static void *pup_alloc(const skua_pup *p, size_t bytes)
{
    if (bytes == 0)
        return NULL;
    return p->of && ski_class_by_pointer(p->of) ? skua_buffer_alloc(bytes) : ski_malloc(bytes);
}

static void pup_check_shared(const skua_pup *p, const void *memory,
                             const struct ski_pup_field *field)
{
    char text[SKI_PUP_TEXT];

    if (memory && field->bytes && !ski_arena_contains(ski_self->pool.arena, memory))
        ski_misuse(
            "skua_migrate: %s is of a class that is SKUA_CLASS_BY_POINTER, but the memory of "
            "%s is not from skua_buffer_alloc(): other processes do not reach it",
            ski_pup_object_text(p), ski_pup_field_text(p, field, text));
}

void skua_pup_memory_named(skua_pup *p, void *pointer, size_t bytes, const char *name)
{
    void *memory; /* copied to and from *pointer, which may be a pointer of any type */

    if (bytes > 0)
        pup_within_refuse(p); /* the memory is allocated anew at the destination */
    if (p->mode == SKI_PUP_UNPACK) {
        struct ski_pup_field field = ski_pup_field_of(SKI_PUP_MEMORY, name, bytes);

        if (bytes > ski_pup_left(p) && !p->log)
            ski_pup_beyond(p, &field);
        memory = bytes > ski_pup_left(p) ? NULL : pup_alloc(p, bytes); /* checked: reported below */
        memcpy(pointer, &memory, sizeof memory);
    }
    memcpy(&memory, pointer, sizeof memory);
    if (SKI_UNLIKELY(p->shared)) {
        struct ski_pup_field field = ski_pup_field_of(SKI_PUP_MEMORY, name, bytes);

        pup_check_shared(p, memory, &field);
    }
    pup_bytes(p, memory, bytes, name, SKI_PUP_MEMORY);
}

/* Packs or unpacks the number of bytes that follow. */
static void pup_length(skua_pup *p, uint64_t *bytes, const char *name)
{
    pup_bytes(p, bytes, sizeof *bytes, name, SKI_PUP_LENGTH);
}

void skua_pup_array_named(skua_pup *p, void *pointer, long long count, size_t each,
                          const char *name)
{
    void    *memory;
    uint64_t bytes;

    memcpy(&memory, pointer, sizeof memory); /* a pointer of any type */
    bytes = memory && count > 0 ? (uint64_t)count * each : 0;
    pup_length(p, &bytes, name);
    if (p->mode == SKI_PUP_UNPACK && bytes != 0 &&
        (count <= 0 || bytes / each != (uint64_t)count || bytes % each != 0)) {
        struct ski_pup_field field = ski_pup_field_of(SKI_PUP_BYTES, name, bytes);
        char                 text[SKI_PUP_TEXT];

        ski_misuse("pup of %s: an array of %lld elements of %zu bytes was packed as %s; does its "
                   "length precede it?",
                   ski_pup_object_text(p), count, each, ski_pup_field_text(p, &field, text));
    }
    skua_pup_memory_named(p, pointer, bytes, name);
}

void skua_pup_string_named(skua_pup *p, char **string, const char *name)
{
    uint64_t bytes = 0;

    if (p->mode != SKI_PUP_UNPACK && *string)
        bytes = strlen(*string) + 1;
    pup_length(p, &bytes, name);
    skua_pup_memory_named(p, string, bytes, name);
    if (bytes > 0 && (*string)[bytes - 1] != 0) {
        struct ski_pup_field field = ski_pup_field_of(SKI_PUP_BYTES, name, bytes);
        char                 text[SKI_PUP_TEXT];

        ski_misuse("pup of %s: the string %s has no terminator; does pup() process the same fields "
                   "when it packs and unpacks?",
                   ski_pup_object_text(p), ski_pup_field_text(p, &field, text));
    }
}

/* ---- parts --------------------------------------------------------------------------------- */

void skua_pup_begin(skua_pup *p, const char *name)
{
    struct ski_pup_field field = {SKI_PUP_BEGIN, 0, NULL, 0};

    if (SKI_LIKELY(!p->log))
        return;
    field = ski_pup_field_of(SKI_PUP_BEGIN, name, 0);
    ski_pup_check(p, &field);
    if (p->log->depth < SKI_PUP_DEPTH)
        p->log->part[p->log->depth] = name;
    p->log->depth++;
}

void skua_pup_end(skua_pup *p)
{
    struct ski_pup_field field = {SKI_PUP_END, 0, NULL, 0};

    if (SKI_LIKELY(!p->log))
        return;
    if (p->log->depth == 0)
        ski_misuse("skua_pup_end: pup of %s ends a part that it did not begin",
                   ski_pup_object_text(p));
    p->log->depth--;
    ski_pup_check(p, &field);
}

/* ---- queries ------------------------------------------------------------------------------- */

bool skua_pup_sizing(const skua_pup *p)
{
    pup_within_refuse(p);
    return p->mode == SKI_PUP_MEASURE;
}

bool skua_pup_packing(const skua_pup *p)
{
    pup_within_refuse(p);
    return p->mode == SKI_PUP_PACK;
}

bool skua_pup_unpacking(const skua_pup *p)
{
    return p->mode == SKI_PUP_UNPACK;
}

void skua_pup_plain(skua_pup *p, void *self)
{
    if (self != p->self)
        ski_misuse(
            "skua_pup_plain: it packs all of an object, not parts of %s; skua_pup_value() is "
            "for those",
            ski_pup_object_text(p));
    skua_pup_bytes_named(p, self, p->of->def.bytes, "the whole object");
}

/* ---- objects ------------------------------------------------------------------------------- */

/* A class without a function has no memory: see ski_class_moves(). */
static void pup_run(skua_pup *p)
{
    if (p->of->def.pup)
        p->of->def.pup(p, p->self);
    if (p->log && p->log->depth > 0)
        ski_misuse("pup of %s: a part that skua_pup_begin() began has no skua_pup_end()",
                   ski_pup_object_text(p));
}

/* Ends the job if data are left when the object @p p is unpacked. */
static void pup_check_end(skua_pup *p)
{
    struct ski_pup_field packed;

    ski_assert(p->mode == SKI_PUP_UNPACK);
    if (p->log && ski_pup_read_record(p, &packed))
        ski_pup_differs(p, NULL, &packed);
    if (ski_pup_left(p) > 0)
        ski_misuse("pup of %s unpacks less than PE %d packed: %zu bytes are left",
                   ski_pup_object_text(p), p->source, ski_pup_left(p));
}

size_t ski_pup_measure(const struct ski_class *of, void *self)
{
    skua_pup p = {.mode = SKI_PUP_MEASURE, .self = self, .of = of};

    pup_run(&p);
    return p.bytes;
}

size_t ski_pup_part_measure(ski_pup_part_fn *part, void *self)
{
    skua_pup p = {.mode = SKI_PUP_MEASURE, .self = self, .of = ski_object_of(self)->of->class};

    part(&p, self);
    return p.bytes;
}

void ski_pup_part_pack(ski_pup_part_fn *part, void *self, void *to, size_t bytes)
{
    skua_pup p = {.mode = SKI_PUP_PACK,
                  .at   = to,
                  .left = bytes,
                  .self = self,
                  .of   = ski_object_of(self)->of->class};

    part(&p, self);
    ski_assert(p.left == 0);
}

void ski_pup_part_unpack(ski_pup_part_fn *part, void *self, const void *from, size_t bytes)
{
    skua_pup p = {.mode = SKI_PUP_UNPACK,
                  .at   = (char *)from,
                  .left = bytes,
                  .self = self,
                  .of   = ski_object_of(self)->of->class};

    part(&p, self);
    pup_check_end(&p);
}

/* ---- arguments ----------------------------------------------------------------------------- */

static void pup_argument_run(skua_pup *p, const struct ski_pup_argument *argument)
{
    for (size_t i = 0; i < argument->count; i++)
        argument->pup(p, (char *)argument->items + i * argument->each);
}

size_t ski_pup_argument_measure(const struct ski_pup_argument *argument)
{
    skua_pup p = {
        .mode = SKI_PUP_MEASURE, .entry = argument->entry, .parameter = argument->parameter};

    pup_argument_run(&p, argument);
    return p.bytes;
}

void ski_pup_argument_pack(const struct ski_pup_argument *argument, void *to, size_t bytes)
{
    skua_pup p = {.mode      = SKI_PUP_PACK,
                  .at        = to,
                  .left      = bytes,
                  .entry     = argument->entry,
                  .parameter = argument->parameter};

    pup_argument_run(&p, argument);
    if (p.left > 0)
        ski_misuse("pup of %s packs %zu bytes less than it measured; a pup function processes the "
                   "same fields whatever it is called for",
                   ski_pup_object_text(&p), p.left);
}

void ski_pup_argument_unpack(const struct ski_pup_argument *argument, const void *from,
                             size_t bytes)
{
    skua_pup p = {.mode      = SKI_PUP_UNPACK,
                  .at        = (char *)from,
                  .left      = bytes,
                  .entry     = argument->entry,
                  .parameter = argument->parameter};

    pup_argument_run(&p, argument);
    if (p.left > 0)
        ski_misuse(
            "pup of %s unpacks %zu bytes less than were packed; a pup function processes the "
            "same fields whatever it is called for",
            ski_pup_object_text(&p), p.left);
}

/* ---- whole objects ------------------------------------------------------------------------- */

void ski_pup_check_shared(const struct ski_class *of, void *self)
{
    skua_pup p = {.mode = SKI_PUP_MEASURE, .shared = true, .self = self, .of = of};

    pup_run(&p);
}

bool ski_pup_within(const struct ski_class *of, void *self, struct ski_pup_gaps *gaps)
{
    const char       *end    = (const char *)self + of->def.bytes;
    struct pup_within within = {
        .gaps = gaps, .next = self, .end = end, .moves = of->def.bytes <= UINT32_MAX};
    skua_pup p = {.mode = SKI_PUP_MEASURE, .self = self, .of = of, .within = &within};

    gaps->count = 0;
    pup_run(&p);
    gaps->packed = (uint32_t)p.bytes;
    return within.moves && pup_within_gap(&within, self, end);
}

bool ski_pup_gaps_set(const struct ski_class *of, struct ski_pup_gaps *gaps)
{
    size_t next = 0, sum = 0;

    ski_assert(gaps->count <= SKI_PUP_GAPS);
    for (uint32_t i = 0; i < gaps->count; i++) {
        const struct ski_pup_gap *gap = &gaps->gap[i];

        if (gap->at < next || gap->at > of->def.bytes || gap->bytes > of->def.bytes - gap->at)
            return false;
        next = (size_t)gap->at + gap->bytes;
        sum += gap->bytes;
    }
    gaps->packed = (uint32_t)(of->def.bytes - sum);
    return of->def.bytes <= UINT32_MAX;
}

void ski_pup_unpack_within(const struct ski_class *of, void *self, const struct ski_pup_gaps *gaps,
                           int source)
{
    struct pup_within within = {.next = self, .end = (const char *)self + of->def.bytes};
    skua_pup          p      = {
                      .mode = SKI_PUP_UNPACK, .source = source, .self = self, .of = of, .within = &within};

    ski_assert(gaps->count <= SKI_PUP_GAPS && gaps->packed <= of->def.bytes);
    for (uint32_t i = 0; i < gaps->count; i++)
        memset((char *)self + gaps->gap[i].at, 0, gaps->gap[i].bytes);
    pup_run(&p);
    if (p.bytes != gaps->packed)
        ski_misuse("pup of %s unpacks %zu bytes where PE %d packed %u; does it process the same "
                   "fields?",
                   ski_pup_object_text(&p), p.bytes, source, gaps->packed);
}

/* Packs after the first @p used bytes of p->msg. */
static skua_msg *pup_pack(skua_pup *p, size_t used)
{
    p->mode = SKI_PUP_PACK;
    p->at   = (char *)skua_msg_data(p->msg) + used;
    p->left = p->log ? 0 : ski_pup_room(p);
    pup_run(p);
    p->msg->bytes = ski_pup_used(p);
    return p->msg;
}

skua_msg *ski_pup_pack(const struct ski_class *of, void *self, skua_msg *msg, size_t used)
{
    skua_pup p = {.self = self, .of = of, .msg = msg};

    ski_assert(used <= msg->bytes);
    return pup_pack(&p, used);
}

skua_msg *ski_pup_pack_checked(const struct ski_class *of, void *self, skua_msg *msg, size_t used)
{
    struct ski_pup_log log = {0};
    skua_pup p = {.mode = SKI_PUP_MEASURE, .self = self, .of = of, .msg = msg, .log = &log};

    pup_run(&p);
    msg = pup_pack(&p, used);
    if (log.next < log.count)
        ski_pup_differs(&p, NULL, &log.measured[log.next]);
    free(log.measured);
    return msg;
}

void ski_pup_unpack(const struct ski_class *of, void *self, const struct ski_pup_packed *from)
{
    struct ski_pup_log log = {.left = from->bytes};
    skua_pup           p   = {.mode   = SKI_PUP_UNPACK,
                              .at     = (char *)from->data,
                              .left   = from->checked ? 0 : from->bytes,
                              .source = from->source,
                              .self   = self,
                              .of     = of,
                              .log    = from->checked ? &log : NULL};

    pup_run(&p);
    pup_check_end(&p);
}
