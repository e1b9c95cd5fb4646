/* SPDX-License-Identifier: Apache-2.0 */
/* pup_checked.c - see pup_checked.h. */
#include "objects/model/pup_checked.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* In front of each field of checked data; its name follows, without a terminator. */
struct pup_record {
    uint64_t bytes;
    uint16_t kind, name_bytes;
    uint32_t zero;
};

void ski_pup_differs(const skua_pup *p, const struct ski_pup_field *now,
                     const struct ski_pup_field *before)
{
    bool        packs = p->mode == SKI_PUP_PACK;
    char        one[SKI_PUP_TEXT], other[SKI_PUP_TEXT], by[32] = "it measured";
    const char *verb = packs ? "packs" : "unpacks";

    if (!packs)
        snprintf(by, sizeof by, "PE %d packed", p->source);
    if (!before)
        ski_misuse("pup of %s: %s %s after the last field that %s", ski_pup_object_text(p), verb,
                   ski_pup_field_text(p, now, one), by);
    if (!now)
        ski_misuse("pup of %s: %s nothing where %s %s", ski_pup_object_text(p), verb, by,
                   ski_pup_field_text(p, before, other));
    ski_misuse("pup of %s: %s %s where %s %s; a pup function processes the same fields in the same "
               "order, and a length before what it measures",
               ski_pup_object_text(p), verb, ski_pup_field_text(p, now, one), by,
               ski_pup_field_text(p, before, other));
}

/* Returns whether two fields are one.  A field without a name is equal to any other of its kind and
 * size. */
static bool pup_same(const struct ski_pup_field *a, const struct ski_pup_field *b)
{
    if (a->kind != b->kind || a->bytes != b->bytes)
        return false;
    return a->name_bytes == 0 || b->name_bytes == 0 ||
           (a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0);
}

static void pup_note_measured(struct ski_pup_log *log, const struct ski_pup_field *field)
{
    log->measured = ski_grow(log->measured, log->count, &log->room, sizeof *log->measured);
    log->measured[log->count++] = *field;
}

static void pup_pack_record(skua_pup *p, const struct ski_pup_field *field)
{
    struct ski_pup_log *log    = p->log;
    struct pup_record   record = {field->bytes, (uint16_t)field->kind, (uint16_t)field->name_bytes,
                                  0};

    if (log->next == log->count)
        ski_pup_differs(p, field, NULL);
    if (!pup_same(field, &log->measured[log->next]))
        ski_pup_differs(p, field, &log->measured[log->next]);
    log->next++;
    ski_pup_reserve(p, sizeof record + field->name_bytes + field->bytes);
    ski_pup_put(p, &record, sizeof record);
    ski_pup_put(p, field->name, field->name_bytes);
}

bool ski_pup_read_record(const skua_pup *p, struct ski_pup_field *field)
{
    struct pup_record record;

    if (p->log->left < sizeof record)
        return false;
    memcpy(&record, p->at, sizeof record);
    if (record.name_bytes > p->log->left - sizeof record || record.kind > SKI_PUP_END)
        ski_misuse("pup of %s: the data from PE %d are not those of a checked pup",
                   ski_pup_object_text(p), p->source);
    *field =
        (struct ski_pup_field){record.kind, record.bytes, p->at + sizeof record, record.name_bytes};
    return true;
}

static void pup_unpack_record(skua_pup *p, const struct ski_pup_field *field)
{
    struct ski_pup_field packed;
    size_t               head;

    if (!ski_pup_read_record(p, &packed))
        ski_pup_differs(p, field, NULL);
    if (!pup_same(field, &packed))
        ski_pup_differs(p, field, &packed);
    head = sizeof(struct pup_record) + packed.name_bytes;
    p->at += head;
    p->log->left -= head;
    if (field->bytes > p->log->left)
        ski_pup_beyond(p, field);
}

void ski_pup_check(skua_pup *p, const struct ski_pup_field *field)
{
    switch (p->mode) {
    case SKI_PUP_MEASURE: pup_note_measured(p->log, field); break;
    case SKI_PUP_PACK: pup_pack_record(p, field); break;
    case SKI_PUP_UNPACK: pup_unpack_record(p, field); break;
    }
}
