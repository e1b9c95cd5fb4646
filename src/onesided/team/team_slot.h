/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_slot.h - slots in shared memory for small collectives of teams inside a host: a member
 * writes its data into a slot of its own, the members that need them poll it, and no message is
 * sent.
 *
 * Each member has a *board* in the arena: SKI_TEAM_SLOTS slots, for SKUA_TEAM_ALL also memory for
 * their data where that is longer than SKI_TEAM_SLOT_INLINE, and the number of calls that it has
 * finished.  All members make the same small calls in the same order and number them alike.  The
 * slot of a call is its number modulo SKI_TEAM_SLOTS.
 *
 *      writer    fills its slot, then sets the stamp of the slot to that of the call
 *      reader    polls the stamp on the board of the writer, then copies from the slot
 *
 * The boards of SKUA_TEAM_ALL are found in the memory of the host.  Those of other teams are told
 * in the exchange of the split, and the last member that destroys the team frees them all, since a
 * member may read the slot of one that has finished all its calls.
 *
 * Which members write and which read is a matter of the collective: in a gather all write but the
 * root, which reads; in a scan a member reads the slot of the rank below and writes the partial
 * result for the rank above; in a barrier or an allreduce all write, read all others and combine
 * what they read in the order of reduction_order.h.  A member that only writes has finished a call
 * as soon as it has written.
 *
 * Reuse.  A PE finishes its calls in their order and stores their number in `finished` after every
 * few calls, since each store may cost a cache line that moves.  That store is the release that
 * pairs with the acquire of a writer: a slot is written again only if all PEs have finished the
 * call that used it before.  A call that finds its slot in use waits in a list; its caller does not
 * wait. It does not wait forever: a member reads what the calls before it have written, so each PE
 * that makes these calls finishes them, and what it has finished but not stored is less than the
 * number of slots.
 *
 * Sleep.  A PE that is about to sleep sets its bit beside each stamp that it waits for, or beside
 * each `finished` that keeps its slot from being written, and then looks at the stamp again.  The
 * PE that stores a stamp then looks at the bits.  A fence on both sides makes sure that either the
 * first PE finds the stamp, or the second finds the bit and sends a wakeup.  If the system has
 * membarrier(2), and each PE a CPU, the PE that is about to sleep executes both (membarrier.h): an
 * atomic exchange in place of the store would wait for the cache line, which its reader polls.
 *
 * Histories.  A reader compares kind and size of the call with its own.  Two members that both take
 * themselves for the root of a broadcast or a scatter write and do not read each other.  Therefore
 * each member keeps a hash of all its calls, and stores it in its slots and beside `finished`, in
 * cache lines that move anyway: readers of a slot compare it, and so does a member that looks
 * whether the others have finished a call.
 *
 * Quiescence.  Reads count as messages of a PE to itself, as those of reduction_slot.h do.
 */
#ifndef SKI_TEAM_SLOT_H
#define SKI_TEAM_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "onesided/team/team_board.h"

struct ski_pe;

/** Prepares @p self for slots, and SKUA_TEAM_ALL if all PEs of the job are on this host and few
 *  enough.  Ends the job if the arena has no room for its board. */
void ski_team_slots_open(struct ski_pe *self);

/** Returns whether a call of a team with @p slots, or NULL, is made by slots.  @p bytes are those
 *  of the largest block; its operator prepares no contributions.  All members get the same answer.
 */
bool ski_team_slots_fit(const struct ski_team_slots *slots, const struct ski_team_kind *kind,
                        size_t bytes);

/** Makes a call for which ski_team_slots_fit() holds.  It may be over when this returns. */
void ski_team_slots_call(struct ski_pe *self, struct ski_team_slots *slots,
                         const struct ski_small_call *call);

/** Returns how many calls with @p slots, or NULL, are in flight on this member, and one more if
 *  another member has made the next call. */
uint32_t ski_team_slots_in_flight(const struct ski_team_slots *slots);

/** Returns the call in flight with number @p team_call among all calls of the team, or NULL. */
const struct ski_small_call *ski_team_slots_find(const struct ski_team_slots *slots,
                                                 uint32_t                     team_call);

/** Returns the oldest call in flight, or NULL. */
const struct ski_small_call *ski_team_slots_oldest(const struct ski_team_slots *slots);

#endif
