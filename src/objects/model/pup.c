/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.c - see pup.h.
 *
 * A field that fits into the bytes that are left is copied, and nothing else is looked at: `left`
 * is 0 in all other cases (a size is computed, fields are checked), so these take the slow path.
 * Packing has no need of the size: a message that is too small is replaced by a larger one.
 *
 * Checked.  The fields that a class measures are recorded (struct pup_log), those that it packs are
 * compared with them, and those that it unpacks with the records in the data.  So what is measured,
 * packed and unpacked are the same fields, or the first that differs is reported.
 *
 * Within.  An object whose fields all lie in its own memory, in ascending order, can move with that
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
#include "base/memory.h"
#include "core/data/msg.h"
#include "core/pe/pe.h"
#include "objects/model/collection.h"
#include "objects/model/object.h"

enum pup_mode { PUP_MEASURE, PUP_PACK, PUP_UNPACK };

/* What a record is of. */
enum pup_kind { PUP_BYTES, PUP_MEMORY, PUP_LENGTH, PUP_BEGIN, PUP_END };

/* In front of each field of checked data; its name follows, without a terminator. */
struct pup_record {
    uint64_t bytes;
    uint16_t kind, name_bytes;
    uint32_t zero;
};

#define PUP_DEPTH 8 /* parts in parts that errors name */

/* A field as an error names it. */
struct pup_field {
    enum pup_kind kind;
    size_t        bytes;
    const char   *name; /* NULL: none */
    size_t        name_bytes;
};

/* What a checked run has seen. */
struct pup_log {
    struct pup_field *measured;
    size_t            count, room;
    size_t            next; /* packing: the next that was measured */
    size_t            left; /* packing, unpacking: bytes at skua_pup.at */
    const char       *part[PUP_DEPTH];
    unsigned          depth;
};

/* What a pass over an object that moves with its memory has seen. */
struct pup_within {
    struct ski_pup_gaps *gaps;  /* measuring: those found so far     */
    size_t               next;  /* the end of the last field         */
    bool                 moves; /* all fields so far allow the move  */
};

struct skua_pup {
    char                          *at;   /* packing, unpacking: the next byte   */
    size_t                         left; /* bytes there; 0: see the head        */
    enum pup_mode                  mode;
    bool                           shared; /* measuring: owned memory must lie in the arena */
    size_t                         bytes;  /* measured                       */
    void                          *self;   /* the object, or NULL: an argument */
    const struct ski_class        *of;     /* or NULL: an argument             */
    const struct ski_pup_argument *argument;
    skua_msg          *msg; /* packing: the message, or NULL: there is no room but `left` */
    int                source;
    struct pup_log    *log;    /* of a checked run, else NULL    */
    struct pup_within *within; /* the object moves with its memory, or may; else NULL */
};

static const char *pup_object_text(const skua_pup *p)
{
    static _Thread_local char text[160];

    if (p->argument) {
        snprintf(text, sizeof text, "argument `%s' of %s", p->argument->parameter,
                 p->argument->entry);
        return text;
    }
    return ski_object_text(ski_object_of(p->self));
}

/* ---- errors ------------------------------------------------------------------------------- */

/* Returns the name of a field without what only takes its address. */
static struct pup_field pup_field_of(enum pup_kind kind, const char *name, size_t bytes)
{
    struct pup_field field = {kind, bytes, name, 0};

    while (field.name && *field.name && strchr("&( ", *field.name))
        field.name++;
    field.name_bytes = field.name ? strlen(field.name) : 0;
    while (field.name_bytes > 0 && strchr(") ", field.name[field.name_bytes - 1]))
        field.name_bytes--;
    if (field.name_bytes > UINT16_MAX)
        field.name_bytes = UINT16_MAX;
    return field;
}

/* `b->inner: b->x' (8 bytes) */
static const char *pup_field_text(const skua_pup *p, const struct pup_field *field, char *text,
                                  size_t room)
{
    size_t at = 0;

    text[at++] = '`';
    for (unsigned i = 0; p->log && i < p->log->depth && i < PUP_DEPTH && at < room / 2; i++) {
        struct pup_field part = pup_field_of(PUP_BEGIN, p->log->part[i], 0);

        at += (size_t)snprintf(text + at, room - at,
                               "%.*s: ", (int)(part.name_bytes < 40 ? part.name_bytes : 40),
                               part.name_bytes ? part.name : "");
    }
    snprintf(text + at, room - at, "%.*s' (%s%zu byte%s)",
             (int)(field->name_bytes < 60 ? field->name_bytes : 60),
             field->name_bytes ? field->name : "",
             field->kind == PUP_BEGIN || field->kind == PUP_END ? "a part, "
             : field->kind == PUP_LENGTH                        ? "its length, "
                                                                : "",
             field->bytes, field->bytes == 1 ? "" : "s");
    return text;
}

#define PUP_TEXT 512

/* Ends the job: @p now is processed where @p before was, NULL: nothing. */
static SKI_COLD _Noreturn void pup_differs(const skua_pup *p, const struct pup_field *now,
                                           const struct pup_field *before)
{
    bool        packs = p->mode == PUP_PACK;
    char        one[PUP_TEXT], other[PUP_TEXT], by[32] = "it measured";
    const char *verb = packs ? "packs" : "unpacks";

    if (!packs)
        snprintf(by, sizeof by, "PE %d packed", p->source);
    if (!before)
        ski_misuse("pup of %s: %s %s after the last field that %s", pup_object_text(p), verb,
                   pup_field_text(p, now, one, sizeof one), by);
    if (!now)
        ski_misuse("pup of %s: %s nothing where %s %s", pup_object_text(p), verb, by,
                   pup_field_text(p, before, other, sizeof other));
    ski_misuse("pup of %s: %s %s where %s %s; a pup function processes the same fields in the same "
               "order, and a length before what it measures",
               pup_object_text(p), verb, pup_field_text(p, now, one, sizeof one), by,
               pup_field_text(p, before, other, sizeof other));
}

/* Ends the job: @p field goes beyond the data. */
static SKI_COLD _Noreturn void pup_beyond(const skua_pup *p, const struct pup_field *field)
{
    char text[PUP_TEXT];

    ski_misuse("pup of %s: %s goes beyond what was %s, at %s; does it process the same fields, and "
               "lengths before what they measure?",
               pup_object_text(p), p->mode == PUP_UNPACK ? "unpacking" : "packing",
               p->mode == PUP_UNPACK ? "packed" : "possible",
               pup_field_text(p, field, text, sizeof text));
}

/* ---- packing ------------------------------------------------------------------------------- */

static size_t pup_used(const skua_pup *p)
{
    return (size_t)(p->at - (char *)skua_msg_data(p->msg));
}

/* Returns the bytes that are left in the message that @p p packs into. */
static size_t pup_room(const skua_pup *p)
{
    return p->msg->bytes - pup_used(p);
}

/* Makes room for @p bytes more in the message. */
static void pup_reserve(skua_pup *p, size_t bytes)
{
    size_t    used = pup_used(p), want = used + bytes;
    skua_msg *larger;

    if (bytes <= pup_room(p))
        return;
    larger = skua_msg_alloc(want > 2 * used ? want : 2 * used);
    memcpy(skua_msg_data(larger), skua_msg_data(p->msg), used);
    skua_msg_free(p->msg);
    p->msg = larger;
    p->at  = (char *)skua_msg_data(larger) + used;
}

static void pup_put(skua_pup *p, const void *data, size_t bytes)
{
    if (bytes)
        memcpy(p->at, data, bytes);
    p->at += bytes;
}

/* ---- checks -------------------------------------------------------------------------------- */

/* Returns whether two fields are one.  A field without a name is equal to any other of its kind and
 * size. */
static bool pup_same(const struct pup_field *a, const struct pup_field *b)
{
    if (a->kind != b->kind || a->bytes != b->bytes)
        return false;
    return a->name_bytes == 0 || b->name_bytes == 0 ||
           (a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0);
}

static void pup_note_measured(struct pup_log *log, const struct pup_field *field)
{
    if (log->count == log->room) {
        log->room     = log->room ? 2 * log->room : 16;
        log->measured = ski_realloc(log->measured, log->room * sizeof *log->measured);
    }
    log->measured[log->count++] = *field;
}

static void pup_pack_record(skua_pup *p, const struct pup_field *field)
{
    struct pup_log   *log    = p->log;
    struct pup_record record = {field->bytes, (uint16_t)field->kind, (uint16_t)field->name_bytes,
                                0};

    if (log->next == log->count)
        pup_differs(p, field, NULL);
    if (!pup_same(field, &log->measured[log->next]))
        pup_differs(p, field, &log->measured[log->next]);
    log->next++;
    pup_reserve(p, sizeof record + field->name_bytes + field->bytes);
    pup_put(p, &record, sizeof record);
    pup_put(p, field->name, field->name_bytes);
}

/* Reads the next record of checked data. Returns false if the data end here. */
static bool pup_read_record(skua_pup *p, struct pup_field *field)
{
    struct pup_record record;

    if (p->log->left < sizeof record)
        return false;
    memcpy(&record, p->at, sizeof record);
    if (record.name_bytes > p->log->left - sizeof record || record.kind > PUP_END)
        ski_misuse("pup of %s: the data from PE %d are not those of a checked pup",
                   pup_object_text(p), p->source);
    *field =
        (struct pup_field){record.kind, record.bytes, p->at + sizeof record, record.name_bytes};
    return true;
}

static void pup_unpack_record(skua_pup *p, const struct pup_field *field)
{
    struct pup_field packed;
    size_t           head;

    if (!pup_read_record(p, &packed))
        pup_differs(p, field, NULL);
    if (!pup_same(field, &packed))
        pup_differs(p, field, &packed);
    head = sizeof(struct pup_record) + packed.name_bytes;
    p->at += head;
    p->log->left -= head;
    if (field->bytes > p->log->left)
        pup_beyond(p, field);
}

/* Compares a field with what was measured or packed, before its data are processed. */
static void pup_check(skua_pup *p, const struct pup_field *field)
{
    switch (p->mode) {
    case PUP_MEASURE: pup_note_measured(p->log, field); break;
    case PUP_PACK: pup_pack_record(p, field); break;
    case PUP_UNPACK: pup_unpack_record(p, field); break;
    }
}

/* ---- fields -------------------------------------------------------------------------------- */

static void pup_bytes_checked(skua_pup *p, void *data, const struct pup_field *field)
{
    pup_check(p, field);
    if (p->mode == PUP_PACK) {
        pup_put(p, data, field->bytes);
    } else if (p->mode == PUP_UNPACK) {
        if (field->bytes)
            memcpy(data, p->at, field->bytes);
        p->at += field->bytes;
        p->log->left -= field->bytes;
    }
}

/* A field that is packed unchecked, and does not fit. */
static void pup_bytes_grow(skua_pup *p, void *data, const struct pup_field *field)
{
    if (!p->msg && field->bytes > 0)
        pup_beyond(p, field);
    if (!p->msg)
        return;
    pup_reserve(p, field->bytes);
    pup_put(p, data, field->bytes);
    p->left = pup_room(p);
}

/* Records the bytes from the last field to offset @p at, which no field has. Returns false if there
 * is no room. */
static bool pup_within_gap(struct pup_within *within, size_t at)
{
    struct ski_pup_gaps *gaps = within->gaps;

    if (at == within->next)
        return true;
    if (gaps->count == SKI_PUP_GAPS)
        return false;
    gaps->gap[gaps->count++] =
        (struct ski_pup_gap){(uint32_t)within->next, (uint32_t)(at - within->next)};
    return true;
}

/* An object that owns memory, and one whose class treats sizing, packing and unpacking differently,
 * is packed. */
static void pup_within_refuse(const skua_pup *p)
{
    if (SKI_UNLIKELY(p->within != NULL))
        p->within->moves = false;
}

/* A field of an object that moves with its memory, or may. */
static void pup_within_field(skua_pup *p, const void *data, size_t bytes, const char *name)
{
    struct pup_within *within = p->within;
    size_t             at     = (uintptr_t)data - (uintptr_t)p->self;
    bool               inside = at < p->of->def.bytes && bytes <= p->of->def.bytes - at;

    if (bytes == 0)
        return;
    if (p->mode == PUP_UNPACK && !inside) {
        struct pup_field field = pup_field_of(PUP_BYTES, name, bytes);

        pup_beyond(p, &field);
    }
    if (p->mode == PUP_MEASURE) {
        within->moves = within->moves && inside && at >= within->next && pup_within_gap(within, at);
        within->next  = at + bytes;
    }
    p->bytes += bytes;
}

/* A field whose bytes are not all left: see the head. */
static SKI_COLD void pup_bytes_slow(skua_pup *p, void *data, size_t bytes, const char *name,
                                    enum pup_kind kind)
{
    struct pup_field field;

    if (p->within) {
        pup_within_field(p, data, bytes, name);
        return;
    }
    p->bytes += bytes;
    if (p->mode == PUP_MEASURE && !p->log)
        return;
    field = pup_field_of(kind, name, bytes);
    if (bytes > PTRDIFF_MAX / 4) /* a negative length */
        pup_beyond(p, &field);
    if (p->log)
        pup_bytes_checked(p, data, &field);
    else if (p->mode == PUP_PACK)
        pup_bytes_grow(p, data, &field);
    else if (bytes > p->left)
        pup_beyond(p, &field);
}

static inline void pup_bytes(skua_pup *p, void *data, size_t bytes, const char *name,
                             enum pup_kind kind)
{
    if (SKI_UNLIKELY(bytes - 1 >= p->left)) { /* also of 0 bytes */
        pup_bytes_slow(p, data, bytes, name, kind);
        return;
    }
    if (p->mode == PUP_PACK)
        memcpy(p->at, data, bytes);
    else
        memcpy(data, p->at, bytes);
    p->at += bytes;
    p->left -= bytes;
}

void skua_pup_bytes_named(skua_pup *p, void *data, size_t bytes, const char *name)
{
    pup_bytes(p, data, bytes, name, PUP_BYTES);
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

static void pup_check_shared(const skua_pup *p, const void *memory, const struct pup_field *field)
{
    char text[PUP_TEXT];

    if (memory && field->bytes && !ski_arena_contains(ski_self->pool.arena, memory))
        ski_misuse(
            "skua_migrate: %s is of a class that is SKUA_CLASS_BY_POINTER, but the memory of "
            "%s is not from skua_buffer_alloc(): other processes do not reach it",
            pup_object_text(p), pup_field_text(p, field, text, sizeof text));
}

void skua_pup_memory_named(skua_pup *p, void *pointer, size_t bytes, const char *name)
{
    void *memory; /* copied to and from *pointer, which may be a pointer of any type */

    if (bytes > 0)
        pup_within_refuse(p); /* the memory is allocated anew at the destination */
    if (p->mode == PUP_UNPACK) {
        struct pup_field field = pup_field_of(PUP_MEMORY, name, bytes);

        if (bytes > ski_pup_left(p) && !p->log)
            pup_beyond(p, &field);
        memory = bytes > ski_pup_left(p) ? NULL : pup_alloc(p, bytes); /* checked: reported below */
        memcpy(pointer, &memory, sizeof memory);
    }
    memcpy(&memory, pointer, sizeof memory);
    if (SKI_UNLIKELY(p->shared)) {
        struct pup_field field = pup_field_of(PUP_MEMORY, name, bytes);

        pup_check_shared(p, memory, &field);
    }
    pup_bytes(p, memory, bytes, name, PUP_MEMORY);
}

/* Packs or unpacks the number of bytes that follow. */
static void pup_length(skua_pup *p, uint64_t *bytes, const char *name)
{
    pup_bytes(p, bytes, sizeof *bytes, name, PUP_LENGTH);
}

void skua_pup_array_named(skua_pup *p, void *pointer, long long count, size_t each,
                          const char *name)
{
    void    *memory;
    uint64_t bytes;

    memcpy(&memory, pointer, sizeof memory); /* a pointer of any type */
    bytes = memory && count > 0 ? (uint64_t)count * each : 0;
    pup_length(p, &bytes, name);
    if (p->mode == PUP_UNPACK && bytes != 0 &&
        (count <= 0 || bytes / each != (uint64_t)count || bytes % each != 0)) {
        struct pup_field field = pup_field_of(PUP_BYTES, name, bytes);
        char             text[PUP_TEXT];

        ski_misuse("pup of %s: an array of %lld elements of %zu bytes was packed as %s; does its "
                   "length precede it?",
                   pup_object_text(p), count, each, pup_field_text(p, &field, text, sizeof text));
    }
    skua_pup_memory_named(p, pointer, bytes, name);
}

void skua_pup_string_named(skua_pup *p, char **string, const char *name)
{
    uint64_t bytes = 0;

    if (p->mode != PUP_UNPACK && *string)
        bytes = strlen(*string) + 1;
    pup_length(p, &bytes, name);
    skua_pup_memory_named(p, string, bytes, name);
    if (bytes > 0 && (*string)[bytes - 1] != 0) {
        struct pup_field field = pup_field_of(PUP_BYTES, name, bytes);
        char             text[PUP_TEXT];

        ski_misuse("pup of %s: the string %s has no terminator; does pup() process the same fields "
                   "when it packs and unpacks?",
                   pup_object_text(p), pup_field_text(p, &field, text, sizeof text));
    }
}

/* ---- parts --------------------------------------------------------------------------------- */

void skua_pup_begin(skua_pup *p, const char *name)
{
    struct pup_field field = {PUP_BEGIN, 0, NULL, 0};

    if (SKI_LIKELY(!p->log))
        return;
    field = pup_field_of(PUP_BEGIN, name, 0);
    pup_check(p, &field);
    if (p->log->depth < PUP_DEPTH)
        p->log->part[p->log->depth] = name;
    p->log->depth++;
}

void skua_pup_end(skua_pup *p)
{
    struct pup_field field = {PUP_END, 0, NULL, 0};

    if (SKI_LIKELY(!p->log))
        return;
    if (p->log->depth == 0)
        ski_misuse("skua_pup_end: pup of %s ends a part that it did not begin", pup_object_text(p));
    p->log->depth--;
    pup_check(p, &field);
}

/* ---- queries ------------------------------------------------------------------------------- */

bool skua_pup_sizing(const skua_pup *p)
{
    pup_within_refuse(p);
    return p->mode == PUP_MEASURE;
}

bool skua_pup_packing(const skua_pup *p)
{
    pup_within_refuse(p);
    return p->mode == PUP_PACK;
}

bool skua_pup_unpacking(const skua_pup *p)
{
    return p->mode == PUP_UNPACK;
}

void skua_pup_plain(skua_pup *p, void *self)
{
    if (self != p->self)
        ski_misuse(
            "skua_pup_plain: it packs all of an object, not parts of %s; skua_pup_value() is "
            "for those",
            pup_object_text(p));
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
                   pup_object_text(p));
}

/* Ends the job if data are left when the object @p p is unpacked. */
static void pup_check_end(skua_pup *p)
{
    struct pup_field packed;

    ski_assert(p->mode == PUP_UNPACK);
    if (p->log && pup_read_record(p, &packed))
        pup_differs(p, NULL, &packed);
    if (ski_pup_left(p) > 0)
        ski_misuse("pup of %s unpacks less than PE %d packed: %zu bytes are left",
                   pup_object_text(p), p->source, ski_pup_left(p));
}

size_t ski_pup_measure(const struct ski_class *of, void *self)
{
    skua_pup p = {.mode = PUP_MEASURE, .self = self, .of = of};

    pup_run(&p);
    return p.bytes;
}

size_t ski_pup_part_measure(ski_pup_part_fn *part, void *self)
{
    skua_pup p = {.mode = PUP_MEASURE, .self = self, .of = ski_object_of(self)->of->class};

    part(&p, self);
    return p.bytes;
}

void ski_pup_part_pack(ski_pup_part_fn *part, void *self, void *to, size_t bytes)
{
    skua_pup p = {.mode = PUP_PACK,
                  .at   = to,
                  .left = bytes,
                  .self = self,
                  .of   = ski_object_of(self)->of->class};

    part(&p, self);
    ski_assert(p.left == 0);
}

void ski_pup_part_unpack(ski_pup_part_fn *part, void *self, const void *from, size_t bytes)
{
    skua_pup p = {.mode = PUP_UNPACK,
                  .at   = (char *)from,
                  .left = bytes,
                  .self = self,
                  .of   = ski_object_of(self)->of->class};

    part(&p, self);
    pup_check_end(&p);
}

/* ---- arguments ----------------------------------------------------------------------------- */

static void pup_argument_run(skua_pup *p)
{
    const struct ski_pup_argument *argument = p->argument;

    for (size_t i = 0; i < argument->count; i++)
        argument->pup(p, (char *)argument->items + i * argument->each);
}

size_t ski_pup_argument_measure(const struct ski_pup_argument *argument)
{
    skua_pup p = {.mode = PUP_MEASURE, .argument = argument};

    pup_argument_run(&p);
    return p.bytes;
}

void ski_pup_argument_pack(const struct ski_pup_argument *argument, void *to, size_t bytes)
{
    skua_pup p = {.mode = PUP_PACK, .at = to, .left = bytes, .argument = argument};

    pup_argument_run(&p);
    if (p.left > 0)
        ski_misuse("pup of %s packs %zu bytes less than it measured; a pup function processes the "
                   "same fields whatever it is called for",
                   pup_object_text(&p), p.left);
}

void ski_pup_argument_unpack(const struct ski_pup_argument *argument, const void *from,
                             size_t bytes)
{
    skua_pup p = {.mode = PUP_UNPACK, .at = (char *)from, .left = bytes, .argument = argument};

    pup_argument_run(&p);
    if (p.left > 0)
        ski_misuse(
            "pup of %s unpacks %zu bytes less than were packed; a pup function processes the "
            "same fields whatever it is called for",
            pup_object_text(&p), p.left);
}

/* ---- whole objects ------------------------------------------------------------------------- */

void ski_pup_check_shared(const struct ski_class *of, void *self)
{
    skua_pup p = {.mode = PUP_MEASURE, .shared = true, .self = self, .of = of};

    pup_run(&p);
}

bool ski_pup_within(const struct ski_class *of, void *self, struct ski_pup_gaps *gaps)
{
    struct pup_within within = {.gaps = gaps, .moves = of->def.bytes <= UINT32_MAX};
    skua_pup          p      = {.mode = PUP_MEASURE, .self = self, .of = of, .within = &within};

    gaps->count = 0;
    pup_run(&p);
    gaps->packed = (uint32_t)p.bytes;
    return within.moves && pup_within_gap(&within, of->def.bytes);
}

bool ski_pup_gaps_valid(const struct ski_class *of, const struct ski_pup_gaps *gaps)
{
    uint64_t sum = gaps->packed;

    if (gaps->count > SKI_PUP_GAPS)
        return false;
    for (uint32_t i = 0; i < gaps->count; i++) {
        if (gaps->gap[i].at > of->def.bytes || gaps->gap[i].bytes > of->def.bytes - gaps->gap[i].at)
            return false;
        sum += gaps->gap[i].bytes;
    }
    return sum == of->def.bytes;
}

void ski_pup_unpack_within(const struct ski_class *of, void *self, const struct ski_pup_gaps *gaps,
                           int source)
{
    struct pup_within within = {0};
    skua_pup p = {.mode = PUP_UNPACK, .source = source, .self = self, .of = of, .within = &within};

    ski_assert(ski_pup_gaps_valid(of, gaps));
    for (uint32_t i = 0; i < gaps->count; i++)
        memset((char *)self + gaps->gap[i].at, 0, gaps->gap[i].bytes);
    pup_run(&p);
    if (p.bytes != gaps->packed)
        ski_misuse("pup of %s unpacks %zu bytes where PE %d packed %u; does it process the same "
                   "fields?",
                   pup_object_text(&p), p.bytes, source, gaps->packed);
}

/* Packs after the first @p used bytes of p->msg. */
static skua_msg *pup_pack(skua_pup *p, size_t used)
{
    p->mode = PUP_PACK;
    p->at   = (char *)skua_msg_data(p->msg) + used;
    p->left = p->log ? 0 : pup_room(p);
    pup_run(p);
    p->msg->bytes = pup_used(p);
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
    struct pup_log log = {0};
    skua_pup       p   = {.mode = PUP_MEASURE, .self = self, .of = of, .msg = msg, .log = &log};

    pup_run(&p);
    msg = pup_pack(&p, used);
    if (log.next < log.count)
        pup_differs(&p, NULL, &log.measured[log.next]);
    free(log.measured);
    return msg;
}

void ski_pup_unpack(const struct ski_class *of, void *self, const struct ski_pup_packed *from)
{
    struct pup_log log = {.left = from->bytes};
    skua_pup       p   = {.mode   = PUP_UNPACK,
                          .at     = (char *)from->data,
                          .left   = from->checked ? 0 : from->bytes,
                          .source = from->source,
                          .self   = self,
                          .of     = of,
                          .log    = from->checked ? &log : NULL};

    pup_run(&p);
    pup_check_end(&p);
}
