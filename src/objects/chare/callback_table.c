/* SPDX-License-Identifier: Apache-2.0 */
/* callback_table.c - see callback_table.h; and the completions that invoke objects. */
#include "objects/chare/callback_table.h"

#include <stdlib.h>
#include <string.h>

#include <skua/section.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/pe/builtin.h"
#include "core/pe/pe.h"
#include "objects/model/class.h"
#include "objects/model/index.h"
#include "objects/model/msg_target.h"
#include "objects/model/objects_pe.h"

static uint64_t callback_hash(const skua_ref *ref, skua_entry entry)
{
    return ski_index_hash(&ref->index) ^ (ref->of.id + entry.id);
}

static bool callback_is(const struct ski_callback *callback, const skua_ref *ref, skua_entry entry)
{
    return callback->ref.of.id == ref->of.id && callback->entry.id == entry.id &&
           ski_index_equal(&callback->ref.index, &ref->index);
}

struct ski_callback *ski_callback_get(struct ski_hash_table *table, const skua_ref *ref,
                                      skua_entry entry)
{
    uint64_t              hash = callback_hash(ref, entry);
    struct ski_hash_link *link = ski_hash_first(table, hash);
    struct ski_callback  *made;

    ski_assert(ref->index.bytes <= SKUA_INDEX_MAX);
    while (link && !callback_is((struct ski_callback *)link, ref, entry))
        link = link->next;
    if (link)
        return (struct ski_callback *)link;
    made  = ski_malloc(sizeof *made);
    *made = (struct ski_callback){.ref = *ref, .entry = entry};
    ski_hash_add(table, &made->link, hash);
    return made;
}

static void callback_free(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    free(link);
}

void ski_callbacks_free(struct ski_hash_table *table)
{
    ski_hash_each(table, callback_free, NULL);
    ski_hash_clear(table);
}

static void callback_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_CALLBACKS] = ski_calloc(1, sizeof(struct ski_hash_table));
}

static void callback_pe_end(struct ski_objects *objects)
{
    ski_callbacks_free(objects->slot[SKI_SLOT_CALLBACKS]);
    free(objects->slot[SKI_SLOT_CALLBACKS]);
}

const struct ski_lifecycle ski_callback_lifecycle = {.pe_begin = callback_pe_begin,
                                                     .pe_end   = callback_pe_end};

/* ---- completions -------------------------------------------------------------------- */

static void callback_run(void *arg, const void *data, size_t bytes)
{
    const struct ski_callback *callback = arg;

    skua_invoke_copy(callback->ref, callback->entry, data, bytes);
}

/* Ends the job if no result can be given to @p entry. */
static void callback_check(const char *call, skua_entry entry)
{
    const struct ski_entry *what = ski_entry_find(call, entry);

    if (what->flags & SKUA_ENTRY_SYNC)
        ski_misuse("%s: %s::%s returns a reply, which a completion cannot receive", call,
                   what->of->def.name, what->name);
}

skua_completion skua_done_invoke(skua_ref ref, skua_entry entry)
{
    skua_completion      done = {.kind = SKI_DONE_OBJECT, .entry = (uint16_t)entry.id};
    struct ski_callback *callback;

    callback_check(__func__, entry);
    if (ref.index.bytes > SKUA_INDEX_MAX)
        ski_misuse("%s: an index has %u bytes, at most %d are possible", __func__, ref.index.bytes,
                   SKUA_INDEX_MAX);
    if (ref.index.bytes > sizeof done.with.index) {
        callback = ski_callback_get(SKI_SELF()->objects->slot[SKI_SLOT_CALLBACKS], &ref, entry);
        return skua_done_call(callback_run, callback);
    }
    done.what.target = ski_target(ref.of.id, ref.index.bytes);
    memcpy(done.with.index, &ref.index.at, sizeof done.with.index);
    return done;
}

/* Returns a completion that invokes all of a collection or of a section: @p targets is
 * SKI_TARGET_... */
static skua_completion callback_done_many(const char *call, uint64_t id, uint32_t targets,
                                          skua_entry entry)
{
    callback_check(call, entry);
    return (skua_completion){.kind        = SKI_DONE_OBJECT,
                             .entry       = (uint16_t)entry.id,
                             .what.target = ski_target(id, targets)};
}

skua_completion skua_done_invoke_all(skua_collection all, skua_entry entry)
{
    return callback_done_many(__func__, all.id, SKI_TARGET_ALL, entry);
}

skua_completion skua_done_invoke_section(skua_section section, skua_entry entry)
{
    return callback_done_many(__func__, section.id, SKI_TARGET_SECTION, entry);
}
