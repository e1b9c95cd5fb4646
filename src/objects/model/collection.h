/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collection.h - the collections that this PE knows, and their elements on this PE.
 *
 * The id of a collection has 56 bits: the PE that created it and that PE's count of collections, so
 * that ids are given out without communication.  The single objects (chares) of a class are the
 * elements of a collection too, which no PE creates: each PE adds it when it first needs it.
 *
 * A PE that gets a message for a collection it does not know yet keeps the message until the
 * creation of the collection arrives.  The record of a destroyed collection stays until the PE
 * ends.
 */
#ifndef SKI_COLLECTION_H
#define SKI_COLLECTION_H

#include <skua/collection.h>

#include "core/data/msg_list.h"
#include "core/pe/pe.h"
#include "objects/model/class.h"
#include "objects/model/directory.h"
#include "objects/model/element_load.h"
#include "objects/model/msg_target.h"
#include "objects/model/objects_pe.h"

/* Kinds of collections; a process group has one member in each process. */
enum ski_kind { SKI_CHARES, SKI_GROUP, SKI_PROCESS_GROUP, SKI_ARRAY };

/* States of a collection: its id is known; its class and kind are; it has its elements here; it was
 * destroyed. */
enum { SKI_EXPECTED, SKI_DEFINED, SKI_EXISTS, SKI_ENDED };

struct ski_closing;
struct ski_array_broadcast;
struct ski_array_reduction;
struct ski_section;

/* A result of ski_lookup_pe(), good for one version of the directory. */
struct ski_lookup {
    uint64_t key, version;
    int      pe;
};

#define SKI_LOOKUPS 16 /* cached results of a collection; a power of two */

/* A collection, on this PE. */
struct ski_collection {
    uint64_t id;
    const struct ski_class *class;
    struct ski_directory directory;   /* of an array, of chares                       */
    uint32_t             quick_bytes; /* bytes of its indices if they are keys and the collection
                                         exists, else SKI_NO_INDEX                     */
    uint32_t pair_bytes;              /* bytes of its indices if they are 12 or 16 and it exists */
    uint8_t  state;
    uint8_t  kind;
    bool     open;        /* messages wait for elements that do not exist */
    bool     measured;    /* its elements have records (element_load.h)   */
    uint32_t index_bytes; /* of each index; 0: any length                  */

    void          *shared; /* the member of a process group in this process */
    struct ski_pe *self;
    int32_t        root; /* root of its trees: the PE that created it     */

    struct ski_object      **object; /* the elements here, with holes while `walking` */
    struct ski_element_load *load;   /* of each, if it is `measured` and there are any */
    uint32_t                 objects, object_room;
    uint32_t                 live;       /* number of them, without the holes                 */
    uint32_t                 walking;    /* loops over them in progress                */
    uint32_t                 tombstones; /* records of destroyed elements: location.c           */
    uint32_t                 hints;      /* records of locations that the home knows, as well */
    uint32_t                 holding;    /* elements here that hold messages: location/hold.h */
    struct ski_absent       *spare;      /* records that are not in use: home.c               */
    struct ski_list          behind;     /* messages for elements that are being destroyed      */

    size_t packed_bytes;  /* of the element that migrated last: migration.c */
    bool   packs_outside; /* an element packs more than its memory: migration.c */

    struct ski_lookup lookup[SKI_LOOKUPS]; /* by the low bits of their keys */
    uint64_t         *sent_home;           /* bits, by hashes of indices: ski_lookup_note() */
    uint32_t          sent_home_bits;      /* their number, a power of two, or 0            */
    uint32_t          markers;             /* the number of the last marker (lookup.h)      */

    skua_array_def  def;
    skua_msg       *creation; /* for elements that are created later    */
    struct ski_list held;     /* messages that came before its creation */
    void           *waiters;  /* calls that wait for it: creation_wait.h */

    /* Of modules that observe the collection, each from its collection_added on. */
    uint32_t                    sync_point; /* balance/: the next when it was created */
    struct ski_closing         *closing;    /* location/closing.c                */
    struct ski_array_reduction *reduction;  /* collective/array_reduction.c      */
    struct ski_array_broadcast *broadcast;  /* collective/array_broadcast.c      */
    struct ski_section         *sections;   /* collective/section.c: of it, that this PE knows */
};

/* The creation of a collection on the wire; the data of the constructors follow. */
struct ski_creation {
    _Alignas(32) uint64_t id;
    uint32_t class;
    uint32_t       kind;
    skua_array_def def;
    uint32_t       sync_point; /* as in struct ski_collection */
};

#define SKI_NO_PE UINT64_C(0xffffff) /* in place of a creator: the chares of a class */

#define SKI_NO_INDEX UINT32_MAX /* bytes of an index that there is not */

/** Makes the table of collections of a PE that begins. */
void ski_collections_begin(struct ski_objects *objects);

/** Frees the records of all collections, and their elements without notice: the PE ends. */
void ski_collections_end(struct ski_objects *objects);

/** Calls @p fn for each collection whose id this PE knows. */
void ski_collections_each(const struct ski_objects *objects,
                          void (*fn)(struct ski_collection *all, void *arg), void *arg);

/** Returns the collection @p id, or NULL if this PE does not know the id. */
struct ski_collection *ski_collection_search(struct ski_objects *objects, uint64_t id);

/** Returns the collection @p id, which is added if this PE does not know it; NULL: @p id is
 *  invalid. */
struct ski_collection *ski_collection_expect(struct ski_objects *objects, uint64_t id);

/** Returns the collection @p id, or NULL if this PE does not know the id; caches the last one
 * found. */
static inline struct ski_collection *ski_collection_find(struct ski_objects *objects, uint64_t id)
{
    if (SKI_LIKELY(objects->last->id == id))
        return objects->last;
    return ski_collection_search(objects, id);
}

/** Marks the collection as having its elements here, which are found the quick ways from now on. */
void ski_collection_set_exists(struct ski_collection *all);

/** Returns the collection that the program gave to @p call; ends the job if there was never such a
 * collection, or it was destroyed.  Its state may be SKI_EXPECTED. */
struct ski_collection *ski_collection_get(struct ski_objects *objects, const char *call,
                                          uint64_t id);

/** Returns whether @p msg, which is being delivered, has to wait for the collection @p id, and is
 * kept until that exists; or is dropped, since the collection was destroyed.  Returns false if *all
 * is the collection. */
bool ski_collection_awaited(struct ski_objects *objects, uint64_t id, skua_msg *msg,
                            struct ski_collection **all);

/** Frees a message that will not be delivered, and the memory elsewhere that belongs to it, by the
 *  function of the module whose message it is. */
void ski_msg_discard(skua_msg *msg);

/** Discards, by ski_msg_discard(), all messages of @p held, which are held
 * (core/message/msg_counts.h). */
void ski_held_discard(struct ski_pe *self, struct ski_list *held);

/** Drops a message for a collection that was destroyed, with a warning unless the message may be
 * late (struct ski_lifecycle). */
SKI_COLD void ski_collection_drop(const struct ski_collection *all, skua_msg *msg);

/** Returns the element of that index, if it is here, or NULL. */
static inline struct ski_object *ski_element_here(const struct ski_collection *all,
                                                  const skua_index            *index)
{
    if (SKI_UNLIKELY(!all->directory.slot))
        return NULL;
    return ski_directory_present(ski_directory_find(&all->directory, index));
}

/** Returns the element of that index, if it is here and messages to it run in the order of their
 * arrival; NULL: it is absent, or holds messages (location/hold.h). */
static inline struct ski_object *ski_element_receives(const struct ski_collection *all,
                                                      const skua_index            *index)
{
    if (SKI_UNLIKELY(!all->directory.slot))
        return NULL;
    return ski_directory_object(ski_directory_find(&all->directory, index));
}

/** Returns whether @p msg, of the runtime's own and with at least so many bytes, is about an
 * element of a collection that exists here; it is kept or dropped if not. */
bool ski_element_msg(skua_msg *msg, size_t least, struct ski_collection **all, skua_index *index);

/** Returns whether @p index may be that of an element of @p all: only then has it a home. */
bool ski_index_valid(const struct ski_collection *all, const skua_index *index);

/** Ends the job if @p index can be that of no element of @p all; @p call was given it. */
void ski_check_index(const char *call, const struct ski_collection *all, const skua_index *index);

/** Returns the data for the constructors of elements that @p all was created with. */
const void *ski_creation_data(const struct ski_collection *all, size_t *bytes);

/** Closes the holes in the list that elements have left which were removed during a loop. */
void ski_elements_compact(struct ski_collection *all);

/** Returns the pool that the elements of a collection are allocated from; NULL: malloc(). */
static inline struct ski_pool *ski_collection_pool(const struct ski_collection *all)
{
    return ski_class_shared(all->class) ? &all->self->pool : NULL;
}

/** Calls @p fn for each element that is here at the time of the call.  Elements may be added and
 *  removed meanwhile. */
static inline void ski_elements_each(struct ski_collection *all,
                                     void (*fn)(struct ski_object *object, void *arg), void *arg)
{
    uint32_t count = all->objects;

    all->walking++;
    for (uint32_t i = 0; i < count; i++) {
        struct ski_object *object = all->object[i];

        __builtin_prefetch(all->object[i + 8 < count ? i + 8 : i]); /* its memory may be cold */
        if (SKI_LIKELY(object))
            fn(object, arg);
    }
    if (--all->walking == 0 && all->live < all->objects)
        ski_elements_compact(all);
}

/** Makes room for @p more elements. */
void ski_elements_reserve(struct ski_collection *all, size_t more);

/** Gives the elements of @p all records, zeroed at first (element_load.h). */
void ski_elements_measure(struct ski_collection *all);

/** Adds an element to the list of those here. */
void ski_elements_add(struct ski_collection *all, struct ski_object *object);

/** Removes an element from the list of those here. */
void ski_elements_remove(struct ski_collection *all, struct ski_object *object);

/** Returns an object as text, "Block (1, 2)"; in a buffer of this thread. */
const char *ski_object_text(const struct ski_object *object);

/** Returns an element as text, which need not be here; in a buffer of this thread. */
const char *ski_element_text(const struct ski_collection *all, const skua_index *index);

/** Returns a reference as text, whose collection need not be known; in a buffer of this thread. */
const char *ski_ref_text(const skua_ref *ref);

#endif
