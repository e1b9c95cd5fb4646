/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patience.h - how much longer than its settings say an idle PE polls before it sleeps.
 *
 * If a message arrives soon after the PE has begun to sleep, waking has delayed it by more than the
 * CPU time was worth: the patience grows, up to the setting idle_patience.  A message after a long
 * sleep halves it.  A sleep may consist of several naps, since a driver must be called from time to
 * time; a sleep that a timer of the program has ended does not change the patience.  If other
 * threads want the CPU the PE has no patience for a while.
 *
 * All times are ticks (base/clock.h).
 */
#ifndef SKI_PATIENCE_H
#define SKI_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct ski_patience {
    uint64_t ticks;        /* of polling in addition                             */
    uint64_t most;         /* of them                                            */
    uint64_t first;        /* after the first short sleep                        */
    uint64_t begun;        /* when the PE began to sleep; 0: it has not slept    */
    uint64_t ended;        /* when its last nap has ended                        */
    uint64_t never_before; /* until then the patience does not grow              */
};

/** Records a nap from @p begun to @p ended; @p due: it has lasted until a timer of the program. */
static inline void ski_patience_slept(struct ski_patience *p, uint64_t begun, uint64_t ended,
                                      bool due)
{
    if (p->begun == 0)
        p->begun = begun;
    p->ended = ended;
    if (due)
        p->begun = 0;
}

/** Learns from the naps since the last call: a message has arrived. */
static inline void ski_patience_learn(struct ski_patience *p)
{
    uint64_t slept = p->ended - p->begun;

    if (p->begun == 0)
        return;
    p->begun = 0;
    if (slept > p->most)
        p->ticks /= 2;
    else if (p->ended >= p->never_before)
        p->ticks = 2 * p->ticks + p->first;
    if (p->ticks > p->most)
        p->ticks = p->most;
}

/** Resets the patience until @p time, since other threads want the CPU. */
static inline void ski_patience_reset(struct ski_patience *p, uint64_t time)
{
    p->ticks        = 0;
    p->never_before = time;
}

#endif
