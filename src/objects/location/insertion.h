/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insertion.h - inserting elements into an array.
 *
 * An insertion is an order to create an element on a PE.  It goes to the home of the element first,
 * which alone knows the number of migrations that elements of its index have made, and from there
 * to that PE.
 *
 * An insertion takes effect on the PE that calls for it, at the moment of the call.  That PE
 * opens an *account* for the element, as if it had created the element itself and the element
 * had migrated to its first PE immediately:
 *
 *   - reductions (array_reduction.h) expect the element on the account of the inserting PE, from
 *     the first reduction on that this PE has not reported;
 *   - broadcasts (array_broadcast.h) whose numbers are above the last that the inserting PE knows
 *     of are the element's.  The inserting PE keeps them until the element's arrival is
 *     acknowledged, and sends after it those that its first PE had had before.
 *
 * Why the element gets each broadcast B whose call follows the insertion, by any chain of messages:
 * the inserting PE accepts B after the call of B, hence after the insertion.  A PE accepts
 * broadcasts in the order of their numbers, so the number of B is above the one in the account.
 * Each arrives once, by the argument for elements that migrate.
 *
 * Earlier broadcasts should not reach the element, as far as they are known.  A broadcast whose
 * number the inserting PE knows was called before the insertion, so it is not for the element, even
 * if the inserting PE has not received it yet.  PEs learn numbers from elements that arrive and
 * from the messages of reductions: after a reduction to which elements contributed when they had
 * received a broadcast, all PEs know of that broadcast.  The root knows all numbers, since it
 * assigns them.
 *
 * Why a reduction whose contributions all follow the insertion counts the element: a PE reports
 * a reduction only after an object has contributed to it, so the inserting PE has not reported
 * it before the insertion, and its report names the element among those to wait for.
 *
 * closing.h describes what depends on the insertions in flight.
 */
#ifndef SKI_INSERTION_H
#define SKI_INSERTION_H

#include "objects/location/home.h"

/* The account of an element. */
struct ski_account {
    int32_t  pe;             /* the PE that inserts the element, or SKI_NO_ACCOUNT             */
    uint32_t last_broadcast; /* the number of the last broadcast that is not the element's     */
    uint32_t next_reduction; /* the number of its first reduction                              */
    uint32_t sync_point;     /* the number of its first sync point (balance/)                  */
};

#define SKI_NO_ACCOUNT (-1)

/* The header of an insertion on the wire; the data of the constructor follow. */
struct ski_insertion {
    _Alignas(16) int32_t pe;    /* where the element is created; SKUA_ANY_PE: at its home      */
    uint32_t           moves;   /* by the home: the element's number of migrations             */
    uint32_t           claimed; /* because that PE claims the element (claim.h); it may no more */
    struct ski_account account;
};

/** Returns a message, addressed, with an order to create @p ref, for @p handler.  It names no PE,
 * and no account. */
skua_msg *ski_insertion_msg(struct ski_pe *self, const skua_ref *ref, uint32_t handler,
                            const void *data, size_t bytes);

/** Requests that @p home creates an object on @p pe, or on the home itself (SKUA_ANY_PE).  @p
 * account is NULL for an object that is in no array. */
void ski_insertion_send(struct ski_pe *self, int home, const skua_ref *ref, int pe,
                        const struct ski_account *account, const void *data, size_t bytes);

/** At the home of an element: sends the order @p msg on to the PE that it names. */
void ski_insertion_forward(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** The observer of this module (model/lifecycle.h): insertions that come after the destruction of
 * their array. */
extern const struct ski_lifecycle ski_insertion_lifecycle;

/** Handler: create an element here, or send the order on to the PE that it names. */
void ski_on_insert(skua_msg *msg);

#define SKI_INSERT_MIN 32

#endif
