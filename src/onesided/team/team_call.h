/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_call.h - calls of team collectives: their records, packets and progress.
 *
 * Each member numbers the calls of a team; all members make them in the same order.  A call has a
 * schedule (schedule.h), which is executed as far as messages have arrived: when the call begins,
 * and whenever a packet for it arrives.  A packet that arrives before the call is made waits in a
 * record without a schedule.
 *
 * Packets.  All begin with struct ski_team_head.
 *
 *      DATA     the bytes of a SEND, which the receiver stores in its RECV
 *      ADDRESS  the address of the bytes of a SEND, to a PE of the host
 *      OFFER    where the sender may store the bytes of a SEND, to a PE of the host
 *      STORED   answers OFFER: the bytes are stored there
 *      TAKEN    answers ADDRESS, or DATA that want it: the receiver has copied the bytes
 *      REFUSED  answers ADDRESS: the receiver cannot read them, and needs DATA
 *      CREDIT   the bytes of DATA that a receiver has stored
 *
 * ADDRESS *lends* memory.  The receiver copies from there: by load and store in the arena and in
 * its own process, by cross-memory attach elsewhere.  So large data are copied once.  The root of a
 * gather *offers* memory instead: all others copy at the same time, and the root copies its own
 * block.  A sender without an OFFER sends ADDRESS, by which the root compares the sizes, and waits
 * for the OFFER; one that cannot store its bytes sends DATA.  Large DATA to another host are sent
 * without a copy, if the driver supports that, and received in place if the receiver has made its
 * call: their memory is lent to the driver.
 *
 * Flow control.  Each team has a window (core/collective/collective.h), because only calls of one
 * team begin in the same order on all members: were calls of two teams in one window, two members
 * might each defer what the other one waits for.  A call counts its DATA; memory lent needs no
 * room. In most collectives no member can run ahead of another by more than one call, and the bytes
 * leave the count when the call is over.  In those with a root, and in scans, data travel in one
 * direction: their bytes leave the count with a credit of the receiver.  A receiver accumulates the
 * credits for a sender up to an eighth of a window; once a quarter of the sender's window is used,
 * its packets request their credit at once.
 *
 * A scan in segments that needs more than a window waits between two of them.  It waits for nothing
 * but its own DATA, which want TAKEN: other calls of the window may depend on this one.
 *
 * A call that finds the window full is deferred, and its caller does not wait: the buffers are the
 * program's, so a deferred call takes no memory but its record.  A caller that waits for the room
 * of one team cannot make the calls of others, on which that room may depend.  Only a member that
 * has some thousand calls of one team deferred waits, so that records are bounded, too.
 */
#ifndef SKI_TEAM_CALL_H
#define SKI_TEAM_CALL_H

#include "onesided/team/team_record.h"

/** Returns the record of the next call of @p team, with an empty schedule.  The caller adds steps,
 *  then calls ski_team_call_make(). */
struct ski_team_call *ski_team_call_next(struct ski_pe *self, struct ski_team *team,
                                         const struct ski_team_kind *kind);

/** Makes a call whose schedule and buffers are complete.  It begins later if the window of its team
 *  is full.  The call may be over when this returns. */
void ski_team_call_make(struct ski_pe *self, struct ski_team_call *call);

/** Stores @p msg, DATA, ADDRESS, OFFER or STORED of a member, for a call that was made.  Ends the
 * job if the call expects no such message; an OFFER that it does not expect is dropped. */
void ski_team_call_arrive(struct ski_pe *self, struct ski_team_call *call, skua_msg *msg);

/** Executes the schedule of @p call as far as packets have arrived; the call may be over when it
 *  returns. */
void ski_team_call_advance(struct ski_pe *self, struct ski_team_call *call);

/** Ends the job: rank @p rank makes a call of another @p kind than others. */
SKI_COLD _Noreturn void ski_team_mismatch(const struct ski_team_call *call,
                                          const struct ski_team_kind *kind, int rank);

#define SKI_TEAM_NOTHING SIZE_MAX

/** Ends the job: @p msg has other bytes than the @p expected ones, or is not expected at all
 *  (SKI_TEAM_NOTHING). */
SKI_COLD _Noreturn void ski_team_size_mismatch(const struct ski_team_call *call, skua_msg *msg,
                                               size_t expected);

#endif
