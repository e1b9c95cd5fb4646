/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collection.h - the collections that this PE knows, and what it knows of each.
 *
 * A collection is named by 56 bits: the PE that created it and that PE's count, so names
 * are made without asking anybody.  The single objects (chares) of a class are elements of
 * a collection too, which no PE created and every PE makes when it first hears of it.
 *
 * A PE that gets a message for a collection it does not know yet keeps it until the
 * collection's creation arrives.  What was deleted leaves its name behind.
 */
#ifndef SKI_COLLECTION_H
#define SKI_COLLECTION_H

#include <skua/collection.h>

#include "core/message/msg_list.h"
#include "core/pe/pe.h"
#include "objects/model/class.h"
#include "objects/model/directory.h"
#include "objects/model/msg_target.h"
#include "objects/model/objects_pe.h"

enum ski_kind { SKI_CHARES, SKI_GROUP, SKI_PROCESS_GROUP, SKI_ARRAY };

/* Nothing is known of it but its name; it is known what it is; it has its objects here;
 * it was deleted. */
enum { SKI_EXPECTED, SKI_DEFINED, SKI_EXISTS, SKI_ENDED };

struct ski_closing;
struct ski_everyone;
struct ski_reducing;
struct ski_section;

/* Where an element was, as of a version of the directory. */
struct ski_lookup {
    uint64_t key, version;
    int      pe;
};

#define SKI_LOOKUPS 16 /* of them; a power of two */

struct ski_collection {
    uint64_t id;
    const struct ski_class *class;
    struct ski_directory directory;   /* of an array, of chares                       */
    uint32_t             quick_bytes; /* bytes of its indices if they are keys and it exists,
                                         else what no index has                        */
    uint32_t pair_bytes;              /* the same, if they are 12 or 16                */
    uint8_t  state;
    uint8_t  kind;
    bool     open;        /* messages wait for elements that do not exist */
    uint32_t index_bytes; /* 0: any number of them                        */

    void          *shared; /* a process group's in this process            */
    struct ski_pe *self;
    int32_t        root; /* PE of its trees: the creator's               */

    struct ski_object **object; /* the elements here, with holes while `walking` */
    uint32_t            objects, object_room;
    uint32_t            live;       /* of them, without the holes                        */
    uint32_t            walking;    /* loops over them that are under way                */
    uint32_t            tombstones; /* records of deleted elements: location.c           */
    uint32_t            hints;      /* records of locations that the home knows, as well */

    struct ski_lookup lookup[SKI_LOOKUPS]; /* by the low bits of their keys */

    skua_array_def  def;
    skua_msg       *creation; /* what it was created with, for elements on demand */
    struct ski_list held;     /* messages that came before its creation */
    void           *waiters;  /* calls that wait for it: creation_wait.h */

    /* Of modules that observe the collection, each from its collection_added on. */
    struct ski_closing  *closing;   /* location/insertion.c              */
    struct ski_reducing *reduction; /* collective/array_reduction.c      */
    struct ski_everyone *broadcast; /* collective/array_broadcast.c      */
    struct ski_section  *sections;  /* collective/section.c: of it, that this PE knows */
};

/* What a collection is created with, as it travels; the data of the constructors follow. */
struct ski_creation {
    _Alignas(32) uint64_t id;
    uint32_t class;
    uint32_t       kind;
    skua_array_def def;
};

#define SKI_NO_PE UINT64_C(0xffffff) /* in the place of a creator: chares of a class */

#define SKI_NO_INDEX UINT32_MAX /* bytes of an index that there is not */

/** Make the table of collections of a PE that begins. */
void ski_collections_begin(struct ski_objects *objects);

/** Free the records of all collections, and their elements without another word: the PE ends. */
void ski_collections_end(struct ski_objects *objects);

/** Call @p fn for each collection that this PE has heard of. */
void ski_collections_each(const struct ski_objects *objects,
                          void (*fn)(struct ski_collection *all, void *arg), void *arg);

/** A collection that this PE knows or has heard of, or NULL. */
struct ski_collection *ski_collection_search(struct ski_objects *objects, uint64_t id);

/** A collection that this PE has heard of, from now on at least; NULL: @p id is no id. */
struct ski_collection *ski_collection_expect(struct ski_objects *objects, uint64_t id);

static inline struct ski_collection *ski_collection_find(struct ski_objects *objects, uint64_t id)
{
    if (SKI_LIKELY(objects->last->id == id))
        return objects->last;
    return ski_collection_search(objects, id);
}

/** The collection has its elements here from now on, which are found the quick ways. */
void ski_collection_set_exists(struct ski_collection *all);

/** The same for a call of the program: never NULL, and not one that was deleted.  It may
 *  be one that is still expected. */
struct ski_collection *ski_collection_get(struct ski_objects *objects, const char *call,
                                          uint64_t id);

/** Keep @p msg, which is being delivered, until the collection @p id exists; false: it
 *  exists.  *all is set to it then.  A message for one that was deleted is dropped, with a
 *  line; true. */
bool ski_collection_awaited(struct ski_objects *objects, uint64_t id, skua_msg *msg,
                            struct ski_collection **all);

/** Free a message that will not be delivered, with what belongs to it and is elsewhere. */
void ski_msg_discard(skua_msg *msg);

/** The same for messages that are held (traffic.h). */
void ski_held_discard(struct ski_pe *self, struct ski_list *held);

/** Drop a message for a collection that was deleted, with a line: who sent it may not have
 *  known. */
SKI_COLD void ski_collection_drop(const struct ski_collection *all, skua_msg *msg);

/** An element that is here, or NULL. */
static inline struct ski_object *ski_element_here(const struct ski_collection *all,
                                                  const skua_index            *index)
{
    if (SKI_UNLIKELY(!all->directory.slot))
        return NULL;
    return ski_directory_object(ski_directory_find(&all->directory, index));
}

/** Whether @p msg, of the runtime's own and with at least so many bytes, is about an element of a
 *  collection that exists here; it is kept or dropped if not. */
bool ski_element_msg(skua_msg *msg, size_t least, struct ski_collection **all, skua_index *index);

/** Whether an index can be one of its elements'; ends the job if not. */
void ski_check_index(const char *call, const struct ski_collection *all, const skua_index *index);

/** Bytes given at its creation for each element's constructor. */
const void *ski_creation_data(const struct ski_collection *all, size_t *bytes);

/** What is left of members that went during a loop. */
void ski_elements_compact(struct ski_collection *all);

/** A loop over the members here: those there are when it begins.  Members may come and go
 *  meanwhile. */
static inline void ski_elements_each(struct ski_collection *all,
                                     void (*fn)(struct ski_object *object, void *arg), void *arg)
{
    uint32_t count = all->objects;

    all->walking++;
    for (uint32_t i = 0; i < count; i++) {
        struct ski_object *object = all->object[i];

        if (SKI_LIKELY(object))
            fn(object, arg);
    }
    if (--all->walking == 0 && all->live < all->objects)
        ski_elements_compact(all);
}

/** Make room for @p more elements. */
void ski_elements_reserve(struct ski_collection *all, size_t more);

/** Add an element to the list of those here; take one out. */
void ski_elements_add(struct ski_collection *all, struct ski_object *object);
void ski_elements_remove(struct ski_collection *all, struct ski_object *object);

/** "Block (1, 2)", for lines to people; in a buffer of this thread. */
const char *ski_object_text(const struct ski_object *object);
const char *ski_element_text(const struct ski_collection *all, const skua_index *index);
const char *ski_ref_text(const skua_ref *ref);

#endif
