/* SPDX-License-Identifier: Apache-2.0 */
/*
 * termination.h - termination detection by four counters: are all messages of a kind received?
 *
 * The algorithm is Mattern's.  A *wave* goes down the spanning tree of its root, reads at each PE
 * how much was sent and how much received there so far, and brings the sums back in reports.  PEs
 * are visited at different times, so a wave alone proves nothing.  But let one wave end at time T
 * and the next begin then: what the first saw as received had been received by T, what the second
 * saw as sent contains all that had been sent by T.  Both counts only grow, and received <= sent at
 * any time, so if the first wave's `received` is the second's `sent` they were equal at T: nothing
 * was in flight.
 *
 * A wave has the lowest priority: it visits a PE that has nothing else to do, and never in the
 * middle of a handler.  So a busy program slows the waves down.  A program that waits a lot does
 * not; there the root pauses before the next wave, each time longer, up to a millisecond.
 *
 * Waves and reports are messages themselves.  They are counted, so that they can be left out of the
 * message counts of a PE (core/message/msg_counts.h).
 *
 * Of a wave, a PE records how many of its children have not reported, and the sums of the others.
 */
#ifndef SKI_TERMINATION_H
#define SKI_TERMINATION_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/message.h>

#include "objects/model/lifecycle.h"

struct ski_objects;
struct ski_pe;

/* The topic of a detection: what is counted.  These two numbers identify it on all PEs. */
struct ski_termination_topic {
    int32_t  root;
    uint32_t number; /* SKI_TOPIC_..., or the number of a detector of the root */
};

/* Detectors are numbered from 1 on. */
#define SKI_TOPIC_QUIET    UINT32_C(0)
#define SKI_TOPIC_DETECTOR UINT32_C(1)
#define SKI_TOPIC_IDLE     UINT32_MAX

/* The counts of a PE, or of a subtree. */
struct ski_termination_counts {
    uint64_t sent, received;
    uint64_t finished; /* producers of a detector; in the idle report, PEs that may continue */
};

/* The functions of a module for the waves of its topics. */
struct ski_termination_kind {
    bool hidden; /* hidden PEs (progress threads) are visited, too */

    /* On each PE: its counts. */
    struct ski_termination_counts (*visit)(struct ski_pe *self, struct ski_termination_topic topic);

    /* At the root: a wave has brought these sums.  The function may send the next wave. */
    void (*result)(struct ski_pe *self, struct ski_termination_topic topic,
                   const struct ski_termination_counts *sum);
};

/* The detection of the end of a topic, at its root. */
struct ski_termination_detection {
    struct ski_termination_topic  topic;
    uint32_t                      wave;    /* number of the last wave                    */
    bool                          hurried; /* the last wave was sent without a pause     */
    double                        pause;   /* seconds before the next wave                */
    struct ski_termination_counts before;  /* sums of the wave before the last            */
    struct ski_termination_counts last;    /* sums of the last wave                       */
};

/** Sends the next wave, or the first, now. */
void ski_termination_send(struct ski_pe *self, struct ski_termination_detection *detection);

/** Records the sums of a wave. Returns true if nothing was in flight when the wave began. */
bool ski_termination_record(struct ski_termination_detection    *detection,
                            const struct ski_termination_counts *sum);

/** Sends the next wave, immediately or after a pause. */
void ski_termination_continue(struct ski_pe *self, struct ski_termination_detection *detection);

/** Returns the waves and reports that this PE has sent and received. */
struct ski_msg_counts ski_termination_msg_counts(const struct ski_pe *self);

/** Returns the number of timers of this PE that are the runtime's own: until a next wave, and those
 * that ski_termination_own_timer() counts. */
uint32_t ski_termination_timers(const struct ski_pe *self);

/** Counts a timer of this PE that runs forever and does nothing for the program: a job that waits
 *  for such timers alone waits forever. */
void ski_termination_own_timer(struct ski_pe *self);

/** Registers what a module does with waves of @p topic, when a PE begins; SKI_TOPIC_DETECTOR stands
 * for all detectors. */
void ski_termination_register(struct ski_objects *objects, uint32_t topic,
                              const struct ski_termination_kind *kind);

/** The observer of this module (model/lifecycle.h): the waves of a PE. */
extern const struct ski_lifecycle ski_termination_lifecycle;

#define SKI_TERMINATION_WAVE_MIN   16
#define SKI_TERMINATION_REPORT_MIN 40

/** Handler: a wave visits this PE. */
void ski_on_termination_wave(skua_msg *msg);

/** Handler: the sums of a child in the tree. */
void ski_on_termination_report(skua_msg *msg);

#endif
