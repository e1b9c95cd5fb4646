/* SPDX-License-Identifier: Apache-2.0 */
/* callback_table.c - see callback_table.h; and the completions that invoke objects. */
#include "objects/chare/callback_table.h"

#include <stdlib.h>
#include <string.h>

#include <skua/section.h>

#include "base/memory.h"
#include "core/pe/builtin.h"
#include "core/pe/pe.h"
#include "objects/chare/msg_target.h"
#include "objects/chare/class.h"
#include "objects/chare/index.h"
#include "objects/objects.h"

static uint64_t hash_of(const skua_ref *ref, skua_entry entry)
{
    return ski_index_hash(&ref->index) ^ (ref->of.id + entry.id);
}

static bool is_for(const struct ski_errand *errand, const skua_ref *ref, skua_entry entry)
{
    return errand->ref.of.id == ref->of.id && errand->entry.id == entry.id &&
           ski_index_equal(&errand->ref.index, &ref->index);
}

struct ski_errand *ski_errand(struct ski_objects *objects, const skua_ref *ref, skua_entry entry)
{
    uint64_t           hash = hash_of(ref, entry);
    struct ski_link   *link = ski_chain_first(&objects->errands, hash);
    struct ski_errand *made;

    while (link && !is_for((struct ski_errand *)link, ref, entry))
        link = link->next;
    if (link)
        return (struct ski_errand *)link;
    made  = ski_malloc(sizeof *made);
    *made = (struct ski_errand){.ref = *ref, .entry = entry};
    ski_chain_add(&objects->errands, &made->link, hash);
    return made;
}

static void drop(struct ski_link *link, void *arg)
{
    (void)arg;
    free(link);
}

void ski_errands_end(struct ski_objects *objects)
{
    ski_chains_each(&objects->errands, drop, NULL);
    ski_chains_clear(&objects->errands);
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

/* All of a collection, or of a section. */
static skua_completion done_many(const char *call, uint64_t id, uint32_t who, skua_entry entry)
{
    check_done(call, entry);
    return (skua_completion){
        .kind = SKI_DONE_OBJECT, .entry = (uint16_t)entry.id, .what.target = ski_target(id, who)};
}

skua_completion skua_done_invoke_all(skua_collection all, skua_entry entry)
{
    return done_many(__func__, all.id, SKI_TARGET_ALL, entry);
}

skua_completion skua_done_invoke_section(skua_section section, skua_entry entry)
{
    return done_many(__func__, section.id, SKI_TARGET_SECTION, entry);
}
