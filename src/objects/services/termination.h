/* SPDX-License-Identifier: Apache-2.0 */
/*
 * termination.h - counting over all PEs, again and again, until the counts say that something
 * is over.
 *
 * Mattern's four counters.  A wave goes down the spanning tree of its root, takes at each
 * PE how much was sent and how much received there so far, and brings the sums back.  PEs
 * are visited at different times, so a wave alone proves nothing.  But let one wave end
 * at time T and the next begin then: what the first saw as received had been received by T,
 * what the second saw as sent contains all that had been sent by T.  Both counts only grow,
 * and received <= sent at any time, so if the first wave's `received` is the second's
 * `sent` they were equal at T: nothing was on its way.
 *
 * A wave has the lowest priority: it visits a PE that has nothing else to do, and never
 * in the middle of a handler.  A program that is busy thus slows the waves down.  One that
 * waits a lot does not: then the root waits before the next wave, each time longer, up to
 * a millisecond.
 *
 * Waves are messages themselves.  They are counted, so that they can be left out of the
 * traffic of the PE (core/message/msg_counts.h).
 *
 * A PE remembers of a wave how many of its children have not reported, and their sums.
 */
#ifndef SKI_TERMINATION_H
#define SKI_TERMINATION_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/message.h>

struct ski_pe;

/* What the end of is looked for, the same on all PEs. */
struct ski_topic {
    int32_t  root;
    uint32_t number; /* SKI_TOPIC_..., or a detector of the root's */
};

/* Detectors are numbered from 1 on. */
#define SKI_TOPIC_QUIET UINT32_C(0)
#define SKI_TOPIC_IDLE  UINT32_MAX

struct ski_tally {
    uint64_t sent, received;
    uint64_t finished; /* producers of a detector; of the idle report: PEs that may go on */
};

/* How waves are used. */
struct ski_wave_kind {
    bool helpers; /* hidden PEs are visited too */

    /* On each PE: what it has to say. */
    struct ski_tally (*visit)(struct ski_pe *self, struct ski_topic topic);

    /* At the root: the sums of a wave.  It may send the next. */
    void (*result)(struct ski_pe *self, struct ski_topic topic, const struct ski_tally *sum);
};

extern const struct ski_wave_kind ski_quiet_waves, ski_detect_waves, ski_idle_waves;

/* The waves of a topic, at its root. */
struct ski_detection {
    struct ski_topic topic;
    uint32_t         wave; /* number of the last one                          */
    bool             hurried;
    double           pause;  /* seconds before the next                         */
    struct ski_tally before; /* what the one before the last said               */
    struct ski_tally last;
};

/** Send the first wave of some, or the next, now. */
void ski_wave_send(struct ski_pe *self, struct ski_detection *detection);

/** Note the result of a wave; true: nothing was on its way when it began. */
bool ski_wave_note(struct ski_detection *detection, const struct ski_tally *sum);

/** Send the next wave, perhaps a little later. */
void ski_wave_again(struct ski_pe *self, struct ski_detection *detection);

/** What waves have added to the traffic of this PE. */
struct ski_traffic ski_wave_traffic(const struct ski_pe *self);

/** Timers of this PE that run until a next wave. */
uint32_t ski_wave_timers(const struct ski_pe *self);

struct ski_waves *ski_waves_begin(void);
void              ski_waves_end(struct ski_waves *waves);

#define SKI_WAVE_LEAST   16
#define SKI_REPORT_LEAST 40

void ski_on_wave(skua_msg *msg);
void ski_on_report(skua_msg *msg);

#endif
