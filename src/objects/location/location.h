/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.h - where an element is: homes, caches, and journeys.
 *
 * The *home* of an element, a PE by the collection's map, knows where it is if it is
 * elsewhere.  Others send there, or where they last heard of it.  A PE that gets a message
 * for an element that is not there sends it on, by what it knows or else to the home, and
 * tells the one who sent it what it knows (forward.h says how often).  Each journey of an element
 * has a number, so that news that arrive late are not believed.
 *
 * An element leaves behind where it went, on the PE it left; its arrival is told to the
 * home.  Messages therefore always find it: along those traces, or by way of the home.
 *
 * An element that a message creates is created at its home, or by order of its home, so
 * there is never a second one.  With SKUA_ENTRY_CREATE_HERE the sender *claims* it first:
 * it keeps this message and all that it sends to the element afterwards, and sends a claim,
 * which goes to the element as a message would.  The answer is an order of the home to
 * create it; or comes from the PE where it is, behind all that the sender sent before.
 * Either lets the messages go, in their order.  Had they gone to the home and come back,
 * those sent after the creation would have overtaken others that were still on that way.
 * For the same reason the home creates an element itself if messages wait for it there.
 */
#ifndef SKI_LOCATION_H
#define SKI_LOCATION_H

#include "objects/chare/object.h"

/** The home of an element. */
int ski_home(const struct ski_collection *all, const skua_index *index);

/** The PE to send a message to that is for an element which is not here. */
int ski_whereabouts(const struct ski_collection *all, const skua_index *index);

/** The same, by what was found before: of one whose key its index is. */
static inline int ski_whereabouts_quick(struct ski_collection *all, const skua_index *index,
                                        uint64_t key)
{
    struct ski_found *found = &all->found[(key ^ key >> 32) % SKI_FOUND];

    if (SKI_UNLIKELY(found->key != key || found->version != all->directory.version))
        *found = (struct ski_found){key, all->directory.version, ski_whereabouts(all, index)};
    return found->pe;
}

/** What this PE knows of an element that is elsewhere, or NULL. */
struct ski_absent *ski_absent_find(const struct ski_collection *all, const skua_index *index);

/** What this PE knows of an element that is elsewhere; an empty record if it knows nothing. */
struct ski_absent *ski_absent_get(struct ski_collection *all, const skua_index *index);

/** Tells PE @p whom that an element is on @p pe after so many moves. */
void ski_tell(struct ski_collection *all, int whom, const skua_index *index, int pe,
              uint32_t moves);

/** Ask @p home to create an object on @p pe, or there (SKUA_ANY_PE).  @p account is NULL for
 *  one that is in no array. */
void ski_insert(struct ski_pe *self, int home, const skua_ref *ref, int pe,
                const struct ski_account *account, const void *data, size_t bytes);

/** The message for that, addressed, for a handler that will ski_grow() it. */
skua_msg *ski_insertion(struct ski_pe *self, const skua_ref *ref, uint32_t handler,
                        const void *data, size_t bytes);

/** Create a single object from such a message, here, and tell its home. */
void ski_grow(skua_msg *msg);

/** @p object is the one of that index from now on; what waited for it is queued. */
void ski_settle_here(struct ski_collection *all, const skua_index *index,
                     struct ski_object *object);

/** It is no more: remember that here and at its home. */
void ski_forget(struct ski_object *object);

/** Pack it and send it to where it leaves for. */
void ski_depart(struct ski_object *object);

/** A message has come for an element that is not here: send it on, keep it, or create the
 *  element.  The element if it is here now and the message is to be delivered. */
struct ski_object *ski_astray(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** The same with the flags of the entry that will be run; ski_astray() takes those of the
 *  message's handler. */
struct ski_object *ski_astray_for(struct ski_collection *all, const skua_index *index,
                                  skua_msg *msg, unsigned flags);

/** Before a message is sent, by an entry with these flags, to an element which that is to
 *  create here (see above): claim it, unless it is known where it is. */
void ski_claim(struct ski_collection *all, const skua_index *index, unsigned flags);

/** Keep @p msg, of this PE and not sent yet, if it would have to wait here: not in the queue,
 *  where later ones would overtake it if the element turns out to be elsewhere. */
bool ski_wait_here(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** Messages that wait here for elements which do not exist are delivered once more. */
void ski_release_unknown(struct ski_collection *all);

/** Whether this is its home and it was deleted, or never existed. */
bool ski_is_gone(const struct ski_collection *all, const skua_index *index);

/** The same, but not of one that is not known to have existed, or that a message would
 *  create again. */
bool ski_was_deleted(const struct ski_collection *all, const skua_index *index);

/** Whether one that was here has been deleted here, or is about to be. */
bool ski_died_here(const struct ski_collection *all, const skua_index *index);

/** Whether @p msg, of the runtime's own and with at least so many bytes, is about an
 *  element of a collection that exists here; it is kept or dropped if not. */
bool ski_about(skua_msg *msg, size_t least, struct ski_collection **all, skua_index *index);

/** Free what the directory of @p all holds besides objects; messages too. */
void ski_places_free(struct ski_collection *all);

/* Handlers. */
void ski_on_insert(skua_msg *msg);
void ski_on_claim(skua_msg *msg);
void ski_on_claimed(skua_msg *msg);
void ski_on_delete(skua_msg *msg);
void ski_on_located(skua_msg *msg);
void ski_on_migrate(skua_msg *msg);

#define SKI_INSERT_LEAST  32
#define SKI_CLAIM_LEAST   4
#define SKI_LOCATED_LEAST 8
#define SKI_MIGRATE_LEAST 16

#endif
