/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element_lookup.h - finding an element that is on this PE, by its index, in few instructions.
 *
 * An index of up to two integers is its own key in the directory of a collection; one of three or
 * four integers has a hash as its key, and both words are compared; any other index is compared as
 * a whole (ski_element_receives()).  An element that holds messages (location/hold.h) is not found.
 */
#ifndef SKI_ELEMENT_LOOKUP_H
#define SKI_ELEMENT_LOOKUP_H

#include "objects/model/element.h"
#include "objects/model/msg_target.h"

/** Returns an element that is here, whose index is one or two integers, if it is in the slot
 * where the search for its key begins; else NULL. */
static inline struct ski_object *ski_element_find_quick(const struct ski_collection *all,
                                                        const void                  *index)
{
    const struct ski_directory      *directory = &all->directory;
    uint64_t                         key       = ski_directory_int_key(directory, index);
    const struct ski_directory_slot *slot = &directory->slot[ski_directory_begin(directory, key)];

    return SKI_LIKELY(slot->key == key) ? ski_directory_object(slot->value) : NULL;
}

/** Returns an element that is here, whose index is its key, in any slot; else NULL. */
static inline struct ski_object *ski_element_find_key(const struct ski_collection *all,
                                                      const skua_ref              *ref)
{
    uint64_t key = ski_directory_int_key(&all->directory, &ref->index.at);

    return ski_directory_object(ski_directory_find_key(&all->directory, key));
}

/** Returns whether a slot of value @p value has an element that is here and whose index is @p
 * word. */
static inline bool ski_element_is_pair(uintptr_t value, const uint64_t word[2])
{
    uint64_t have[2];

    if (value & SKI_ABSENT_BIT)
        return false;
    memcpy(have, ((struct ski_object *)value)->index.raw, sizeof have);
    return have[0] == word[0] && have[1] == word[1];
}

/** Returns an element that is here, whose index is three or four integers, such as a single object;
 * else NULL. */
static inline struct ski_object *ski_element_find_pair(const struct ski_collection *all,
                                                       const skua_ref              *ref)
{
    const struct ski_directory      *directory = &all->directory;
    const struct ski_directory_slot *slot      = directory->slot;
    uint64_t                         word[2], hash, at;

    memcpy(word, &ref->index.at, sizeof word);
    word[1] &= directory->mask_key;
    hash = ski_index_hash_pair(word, ref->index.bytes, directory->golden);
    for (at = ski_directory_begin(directory, hash); slot[at].value; at = (at + 1) & directory->mask)
        if (slot[at].key == hash && ski_element_is_pair(slot[at].value, word))
            return (struct ski_object *)slot[at].value;
    return NULL;
}

/** Returns an element that is here, of any index; else NULL. *@p all becomes its collection,
 * NULL if that is unknown here. */
static inline struct ski_object *ski_element_find_here(struct ski_objects     *objects,
                                                       const skua_ref         *ref,
                                                       struct ski_collection **all)
{
    struct ski_collection *found = *all = ski_collection_find(objects, ref->of.id);
    struct ski_object     *object;

    if (SKI_UNLIKELY(!found))
        return NULL;
    if (found->quick_bytes == ref->index.bytes)
        return ski_element_find_key(found, ref);
    if (found->pair_bytes == ref->index.bytes && (object = ski_element_find_pair(found, ref)))
        return object;
    if (SKI_UNLIKELY(found->index_bytes != ref->index.bytes && found->index_bytes))
        return NULL;
    return ski_element_receives(found, &ref->index);
}

/** Returns an element that is here, of any index, even if it holds messages (location/hold.h); else
 * NULL. *@p all becomes its collection, NULL if that is unknown here. */
static inline struct ski_object *ski_element_find_present(struct ski_objects     *objects,
                                                          const skua_ref         *ref,
                                                          struct ski_collection **all)
{
    struct ski_object *object = ski_element_find_here(objects, ref, all);

    if (SKI_LIKELY(object) || !*all ||
        ((*all)->index_bytes != ref->index.bytes && (*all)->index_bytes))
        return object;
    return ski_element_here(*all, &ref->index);
}

#endif
