/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - notifications: counters in regions that other PEs increase and their owner waits for.
 *
 * Puts, gets, accumulates and atomics increase a notification at their target when their data have
 * arrived (skua_rma_params.notify); skua_notify_add() does so without data. The owner waits for one
 * notification, or for any, some or all of a set, until their values meet a condition.
 *
 *   skua_notify_wait(n, 3)                 one, at least 3
 *   skua_notify_wait_until(n, SKUA_CMP_NE, 0)
 *   skua_notify_wait_any(&set)             the index of one that meets its condition
 *   skua_notify_wait_some(&set, indices)   the indices of all that do, at least one
 *   skua_notify_wait_all(&set)             until each has met its condition
 *
 * The functions with `test` in their names do not wait. Only the PE whose piece contains a
 * notification waits for it or tests it, on its own stack, in a user thread, or in another thread
 * of its process. A wait suspends a user thread; on the PE's own stack messages are delivered
 * meanwhile; other threads poll.
 */
#ifndef SKUA_NOTIFY_H
#define SKUA_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/region.h>

SKUA_BEGIN_DECLS

/** A notification: a counter in a region that operations of other PEs increase and that its owner
 *  waits for. Its value has 63 bits. Zeroed memory and SKUA_NOTIFY_INIT are a notification of value
 *  0. */
typedef struct {
    uint64_t word; /* internal */
} skua_notify;

/** Initial value of a skua_notify. */
#define SKUA_NOTIFY_INIT                                                                           \
    {                                                                                              \
        0                                                                                          \
    }

/** Returns the value of a notification. The data of all operations that it counts are visible to
 *  the caller. */
SKUA_API uint64_t skua_notify_value(const skua_notify *notify);

/** Waits until a notification is at least @p target. Returns false when the job ends first. Only
 *  the PE whose piece contains the notification may wait, in the manner of skua_counter_wait(). */
SKUA_API bool skua_notify_wait(skua_notify *notify, uint64_t target);

/** Subtracts @p value from a notification, in preparation for the next round. Only the PE whose
 *  piece contains the notification calls it; threads of that PE that wait for a lower value are
 *  woken. In a thread that is not a PE it wakes none. */
SKUA_API void skua_notify_take(skua_notify *notify, uint64_t value);

/** Adds @p value to a remote notification, without data, ordered after the caller's earlier puts.
 *  It never waits and runs no handlers, even between hosts. If the target is reached by request,
 *  the call returns SKUA_OK when the request has been sent, and a flush waits for its completion.
 *  An error that only the target can detect is logged when its answer arrives. */
SKUA_API skua_status skua_notify_add(skua_gaddr notify, uint64_t value);

/* ---- conditions ------------------------------------------------------------ */

/** How the value of a notification is compared with that of a condition. */
typedef enum {
    SKUA_CMP_EQ, /* equal            */
    SKUA_CMP_NE, /* not equal        */
    SKUA_CMP_GT, /* greater          */
    SKUA_CMP_GE, /* greater or equal */
    SKUA_CMP_LT, /* less             */
    SKUA_CMP_LE  /* less or equal    */
} skua_cmp;

/** Waits until the value of @p notify compares with @p value as @p cmp says. A value that meets the
 *  condition only temporarily may be missed. Returns false when the job ends first. */
SKUA_API bool skua_notify_wait_until(skua_notify *notify, skua_cmp cmp, uint64_t value);

/** Returns true if the value of @p notify compares with @p value as @p cmp says. If not, and on the
 *  PE's own stack, it first delivers at most one message. */
SKUA_API bool skua_notify_test(skua_notify *notify, skua_cmp cmp, uint64_t value);

/* ---- sets ------------------------------------------------------------------ */

/** A set of notifications of one PE and their conditions. Zero members have no effect. It is read
 *  during the calls only. */
typedef struct {
    size_t          size;   /* sizeof(skua_notify_set); 0: its size in version 1.0 */
    skua_notify    *notify; /* the first one                                                 */
    size_t          count;
    size_t          stride; /* bytes from one to the next, a multiple of 8; 0: they are an array */
    const bool     *skip;   /* count entries, or NULL: those that are true are not in the set */
    skua_cmp        cmp;
    uint64_t        value;  /* of the conditions of all ...                                  */
    const uint64_t *values; /* ... or, if not NULL, of each: count entries                   */
} skua_notify_set;

/** What skua_notify_wait_any() and skua_notify_test_any() return instead of an index. */
#define SKUA_NOTIFY_NONE SIZE_MAX

/** Waits until a notification of @p set meets its condition and returns its index. Successive calls
 *  with the same set may return the same index: take its value or skip it. Returns SKUA_NOTIFY_NONE
 *  if the set is empty, or when the job ends first. */
SKUA_API size_t skua_notify_wait_any(const skua_notify_set *set);

/** Waits until at least one notification of @p set meets its condition, stores the indices of all
 *  that do in @p indices, in ascending order, and returns their number. @p indices has room for
 *  set->count. Returns 0 if the set is empty, or when the job ends first. */
SKUA_API size_t skua_notify_wait_some(const skua_notify_set *set, size_t *indices);

/** Waits until each notification of @p set has met its condition, at some time since the call began
 *  (not necessarily all at one time). Returns true, also if the set is empty, or false when the job
 *  ends first. */
SKUA_API bool skua_notify_wait_all(const skua_notify_set *set);

/** Returns the least index of a notification of @p set that meets its condition, or
 *  SKUA_NOTIFY_NONE. If none does, and on the PE's own stack, it first delivers at most one
 *  message. */
SKUA_API size_t skua_notify_test_any(const skua_notify_set *set);

/** Stores the indices of the notifications of @p set that meet their conditions in @p indices,
 *  which has room for set->count, and returns their number. If none does, and on the PE's own
 *  stack, it first delivers at most one message. */
SKUA_API size_t skua_notify_test_some(const skua_notify_set *set, size_t *indices);

/** Returns true if every notification of @p set meets its condition, also if the set is empty. If
 *  not, and on the PE's own stack, it first delivers at most one message. */
SKUA_API bool skua_notify_test_all(const skua_notify_set *set);

SKUA_END_DECLS

#endif
