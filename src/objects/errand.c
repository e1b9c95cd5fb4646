/* SPDX-License-Identifier: Apache-2.0 */
/* errand.c - see errand.h; and the completions that invoke objects. */
#include "objects/errand.h"

#include <string.h>

#include "base/memory.h"
#include "core/builtin.h"
#include "core/pe.h"
#include "objects/address.h"
#include "objects/class.h"
#include "objects/index.h"
#include "objects/objects.h"

#define LEAST 16

struct ski_errands {
    struct ski_errand **row; /* by hash */
    uint64_t            mask;
    size_t              count;
};

static struct ski_errand **row_of(const struct ski_errands *errands, const struct ski_errand *like)
{
    uint64_t hash = ski_index_hash(&like->ref.index) ^ (like->ref.of.id + like->entry.id);

    return &errands->row[(hash * SKI_GOLDEN >> 32) & errands->mask];
}

static void put(struct ski_errands *errands, struct ski_errand *errand)
{
    struct ski_errand **row = row_of(errands, errand);

    errand->next = *row;
    *row         = errand;
}

static void resize(struct ski_errands *errands, uint64_t rows)
{
    struct ski_errands old = *errands;

    errands->row  = ski_calloc(rows, sizeof(struct ski_errand *));
    errands->mask = rows - 1;
    for (uint64_t i = 0; old.row && i <= old.mask; i++)
        while (old.row[i]) {
            struct ski_errand *errand = old.row[i];
            old.row[i]                = errand->next;
            put(errands, errand);
        }
    free(old.row);
}

static bool is_equal(const struct ski_errand *a, const struct ski_errand *b)
{
    return a->ref.of.id == b->ref.of.id && a->entry.id == b->entry.id &&
           ski_index_equal(&a->ref.index, &b->ref.index);
}

struct ski_errand *ski_errand(struct ski_objects *objects, const skua_ref *ref, skua_entry entry)
{
    struct ski_errand  like = {NULL, *ref, entry};
    struct ski_errand *found;

    if (!objects->errands) {
        objects->errands = ski_calloc(1, sizeof *objects->errands);
        resize(objects->errands, LEAST);
    }
    for (found = *row_of(objects->errands, &like); found; found = found->next)
        if (is_equal(found, &like))
            return found;
    if (++objects->errands->count > objects->errands->mask)
        resize(objects->errands, 2 * (objects->errands->mask + 1));
    found  = ski_malloc(sizeof *found);
    *found = like;
    put(objects->errands, found);
    return found;
}

void ski_errands_end(struct ski_objects *objects)
{
    struct ski_errands *errands = objects->errands;

    for (uint64_t i = 0; errands && i <= errands->mask; i++)
        while (errands->row[i]) {
            struct ski_errand *gone = errands->row[i];
            errands->row[i]         = gone->next;
            free(gone);
        }
    if (errands)
        free(errands->row);
    free(errands);
}

/* ---- completions ------------------------------------------------------------------------- */

static void run_errand(void *arg, const void *data, size_t bytes)
{
    const struct ski_errand *errand = arg;

    skua_invoke_copy(errand->ref, errand->entry, data, bytes);
}

/* An entry that a result is for. */
static void check_done(const char *call, skua_entry entry)
{
    const struct ski_entry *what = ski_entry_find(call, entry);

    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("%s: %s::%s gives an answer, and nobody would wait for it", call,
                   what->of->def.name, what->name);
}

skua_completion skua_done_invoke(skua_ref ref, skua_entry entry)
{
    skua_completion done = {.kind = SKI_DONE_OBJECT, .entry = (uint16_t)entry.id};

    check_done(__func__, entry);
    if (ref.index.bytes > SKUA_INDEX_MAX)
        ski_misuse("%s: an index has %u bytes, at most %d are possible", __func__, ref.index.bytes,
                   SKUA_INDEX_MAX);
    if (ref.index.bytes > sizeof done.with.index)
        return skua_done_call(run_errand, ski_errand(SKI_SELF()->objects, &ref, entry));
    done.what.target = ski_target(ref.of.id, ref.index.bytes);
    memcpy(done.with.index, &ref.index.at, sizeof done.with.index);
    return done;
}

skua_completion skua_done_invoke_all(skua_collection all, skua_entry entry)
{
    check_done(__func__, entry);
    return (skua_completion){.kind        = SKI_DONE_OBJECT,
                             .entry       = (uint16_t)entry.id,
                             .what.target = ski_target(all.id, SKI_TARGET_ALL)};
}
