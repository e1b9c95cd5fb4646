/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insertion.h - elements that are inserted, and the closing of an array.
 *
 * An insertion takes effect on the PE that calls for it, at the moment of the call.  That PE
 * opens an *account* for the element, as if it had created the element itself and the element
 * had migrated to its first PE at once:
 *
 *   - reductions (array_reduction.h) expect the element on the account of the inserting PE, from
 *     the first reduction on that this PE has not reported;
 *   - broadcasts (array_broadcast.h) whose numbers are above the last that the inserting PE knows
 * of are the element's.  The inserting PE keeps them until the element's arrival is acknowledged,
 * and sends after it those that its first PE had had before.
 *
 * Why the element gets each broadcast B whose call follows the insertion, by whatever chain of
 * messages: the inserting PE takes B in after the call of B, hence after the insertion.  A PE
 * takes broadcasts in by their numbers, so the number of B is above the one in the account.
 * Each comes once, by the argument for elements that migrate.
 *
 * Earlier broadcasts should not reach the element, as far as that can be known.  A broadcast
 * whose number the inserting PE has heard of has been called before the insertion, so it cannot
 * follow it, and is none of the element's though the inserting PE has not had it yet.  PEs hear
 * of numbers from elements that arrive and from the messages of reductions: after a reduction
 * to which elements contributed when they had a broadcast, all PEs know of that broadcast.  The
 * root knows of all, since it gives the numbers out.
 *
 * Why a reduction whose contributions all follow the insertion counts the element: a PE reports
 * a reduction only after an object has contributed to it, so the inserting PE has not reported
 * it before the insertion, and its report names the element among those to wait for.
 *
 * Closing: a message for an element that does not exist is an error in a closed array.  So the
 * array is closed in two steps.  The order to close goes to all PEs as a broadcast; from then
 * on a PE inserts no more.  Each PE reports to its parent in the tree when all its insertions
 * are acknowledged and its children have reported.  Then the root broadcasts that the array is
 * closed.  An insertion that the closing follows was called before its PE took the order in,
 * so its element exists, and is known to its home, when the array is closed anywhere.
 *
 * An index that is inserted again: a message to an element that was deleted is an error, but
 * the insertion of its successor may be on its way to the home while a message that follows it is
 * there.  So the home keeps such a message and asks all PEs; each answers when it has no
 * insertion under way.  Either the insertion has come by then, or there is none that the message
 * follows, and the message is in error.
 */
#ifndef SKI_INSERTION_H
#define SKI_INSERTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/data/msg_list.h"

struct ski_absent;
struct ski_collection;
struct ski_object;

/* The account of an element. */
struct ski_account {
    int32_t  pe;   /* that inserts it, or SKI_NO_ACCOUNT                        */
    uint32_t seen; /* the number of the last broadcast that is not the element's */
    uint32_t next; /* the number of its first reduction                         */
};

#define SKI_NO_ACCOUNT (-1)

/* How far the closing of an array is. */
struct ski_closing {
    uint32_t inserting; /* insertions of this PE that are not acknowledged */
    int32_t  children;  /* that have reported                              */
    bool     ordered;   /* this PE has had the order to close              */
    bool     reported;

    struct ski_list checks; /* questions of homes, until there is no insertion under way */
};

/** Opens an account for an element that this PE inserts. */
struct ski_account ski_insertion_account(struct ski_collection *all);

/** Whether an account that came from another PE makes sense. */
bool ski_insertion_account_right(const struct ski_collection *all,
                                 const struct ski_account    *account);

/** @p object, which has no constructor run yet, is here for the first time: enters it in the
 *  sequences of its account, and acknowledges its arrival to the inserting PE. */
void ski_insertion_arrived(struct ski_object *object, const struct ski_account *account);

/** An element that this PE has inserted has arrived where it shall be. */
void ski_insertion_acknowledged(struct ski_collection *all);

/** The order to close the array has come. */
void ski_closing_ordered(struct ski_collection *all);

/** The array is closed: messages that wait for elements which do not exist are in error. */
void ski_closing_done(struct ski_collection *all);

/** Whether @p msg, which is for an element that was deleted, as @p place says at its home, has
 *  to wait until it is known that the element is not inserted again. */
bool ski_insertion_awaited(struct ski_collection *all, struct ski_absent *place, skua_msg *msg);

void ski_closing_init(struct ski_closing *closing);

/* Handlers. */
void ski_on_closing(skua_msg *msg);
void ski_on_check(skua_msg *msg);
void ski_on_checked(skua_msg *msg);

#define SKI_CLOSING_LEAST 8
#define SKI_CHECK_LEAST   4

#endif
