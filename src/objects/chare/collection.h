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

#include "core/data/msg_list.h"
#include "core/pe/pe.h"
#include "objects/chare/class.h"
#include "objects/collective/array_reduction.h"
#include "objects/location/directory.h"
#include "objects/collective/array_broadcast.h"
#include "objects/location/insertion.h"
#include "objects/objects.h"

enum ski_kind { SKI_CHARES, SKI_GROUP, SKI_PROCESS_GROUP, SKI_ARRAY };

/* Nothing is known of it but its name; it is known what it is; it has its objects here;
 * it was deleted. */
enum { SKI_EXPECTED, SKI_DEFINED, SKI_EXISTS, SKI_ENDED };

struct ski_section;

/* Where an element was, as of a version of the directory. */
struct ski_found {
    uint64_t key, version;
    int      pe;
};

#define SKI_FOUND 16 /* of them; a power of two */

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

    struct ski_object **member; /* those here, with holes while `walking` */
    uint32_t            members, member_room;
    uint32_t            live;    /* of them, without the holes              */
    uint32_t            walking; /* loops over them that are under way     */
    uint32_t            graves;  /* places of deleted elements             */
    uint32_t            hints;   /* places made since hints were forgotten */

    struct ski_found found[SKI_FOUND]; /* by the low bits of their keys */

    skua_array_def      def;
    skua_msg           *creation; /* what it was created with, for elements on demand */
    struct ski_reducing reducing;
    struct ski_everyone everyone;
    struct ski_closing  closing;
    struct ski_section *sections; /* of it, that this PE knows */
    struct ski_list     held;     /* messages that came before its creation */
    void               *waiters;  /* calls that wait for it: creation_wait.h */
};

#define SKI_NO_PE UINT64_C(0xffffff) /* in the place of a creator: chares of a class */

void ski_collections_begin(struct ski_objects *objects);

/** The job ends: first all objects are destroyed, then all that is known is given back. */
void ski_collections_leave(struct ski_objects *objects);
void ski_collections_end(struct ski_objects *objects);

/** One this PE knows or has heard of, or NULL. */
struct ski_collection *ski_collection_search(struct ski_objects *objects, uint64_t id);

static inline struct ski_collection *ski_collection_find(struct ski_objects *objects, uint64_t id)
{
    if (SKI_LIKELY(objects->last->id == id))
        return objects->last;
    return ski_collection_search(objects, id);
}

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
void ski_discard(skua_msg *msg);

/** The same for messages that are held (traffic.h). */
void ski_discard_held(struct ski_pe *self, struct ski_list *held);

/** Drop a message for a collection that was deleted, with a line: who sent it may not have
 *  known. */
SKI_COLD void ski_dropped(const struct ski_collection *all, skua_msg *msg);

/** The object that a value of a directory is, or NULL. */
static inline struct ski_object *ski_value_object(uintptr_t value)
{
    return SKI_LIKELY(!(value & SKI_IS_PLACE)) ? (struct ski_object *)value : NULL;
}

/** An element that is here, or NULL. */
static inline struct ski_object *ski_here(const struct ski_collection *all, const skua_index *index)
{
    if (SKI_UNLIKELY(!all->directory.slot))
        return NULL;
    return ski_value_object(ski_directory_find(&all->directory, index));
}

/** Whether an index can be one of its elements'; ends the job if not. */
void ski_check_index(const char *call, const struct ski_collection *all, const skua_index *index);

/** Bytes given at its creation for each element's constructor. */
const void *ski_creation_data(const struct ski_collection *all, size_t *bytes);

/** What is left of members that went during a loop. */
void ski_close_holes(struct ski_collection *all);

/** A loop over the members here: those there are when it begins.  Members may come and go
 *  meanwhile. */
static inline void ski_each(struct ski_collection *all,
                            void (*fn)(struct ski_object *object, void *arg), void *arg)
{
    uint32_t count = all->members;

    all->walking++;
    for (uint32_t i = 0; i < count; i++) {
        struct ski_object *object = all->member[i];

        if (SKI_LIKELY(object))
            fn(object, arg);
    }
    if (--all->walking == 0 && all->live < all->members)
        ski_close_holes(all);
}

/** The list of members: add, take out. */
void ski_member_add(struct ski_collection *all, struct ski_object *object);
void ski_member_remove(struct ski_collection *all, struct ski_object *object);

/** Delete all its objects here; its name stays known. */
void ski_collection_end(struct ski_collection *all);

/* Handlers. */
void ski_on_create(skua_msg *msg);
void ski_on_adopt(skua_msg *msg);

#define SKI_CREATE_LEAST 96

#endif
