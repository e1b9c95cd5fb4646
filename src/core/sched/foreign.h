/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - whether PEs of other arenas on this CPU sleep or compute, as yields show.
 *
 * Foreign PEs are those on the CPU of a PE that do not share its arena.  They are counted as one
 * that is always awake (ski_host_foreign_pes()), since the PE cannot know when they sleep.  The
 * duration of a yield shows it: if it returns at once, no other thread has wanted the CPU, and for
 * a while the PE waits as if they were asleep.  If it takes very long, the others compute.  Then a
 * yield makes the PE wait for its turn although messages for it arrive, which is milliseconds,
 * while the kernel preempts the others for a thread that wakes up: for a longer while the PE sleeps
 * *at once*, without yields (docs/decisions/0004-waiting.md).
 *
 * All times are ticks (base/clock.h).
 */
#ifndef SKI_FOREIGN_H
#define SKI_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

struct ski_foreign {
    int      pes;         /* that the domain of the PE counts; 0: there are none             */
    uint64_t quick;       /* a yield that took less: no other thread has run                 */
    uint64_t computes;    /* a yield that took longer: the other thread has much to do       */
    uint64_t alone;       /* how long they are assumed to sleep after a quick yield        */
    uint64_t alone_until; /* they are assumed to sleep until then                         */
    uint64_t busy;        /* how long they are assumed to compute after a long yield       */
    uint64_t busy_until;  /* they are assumed to compute until then                        */
};

/** The outcome of a yield. */
enum ski_foreign_yield { SKI_YIELD_ALONE, SKI_YIELD_SHARED, SKI_YIELD_COMPUTES };

/** Records a yield at @p begun that took @p took. */
static inline enum ski_foreign_yield ski_foreign_yielded(struct ski_foreign *foreign,
                                                         uint64_t begun, uint64_t took)
{
    foreign->alone_until = took < foreign->quick ? begun + foreign->alone : 0;
    foreign->busy_until  = took > foreign->computes ? begun + took + foreign->busy : 0;
    if (took < foreign->quick)
        return SKI_YIELD_ALONE;
    return took > foreign->computes ? SKI_YIELD_COMPUTES : SKI_YIELD_SHARED;
}

/** Returns how many of the foreign PEs that the domain counts as awake are assumed to sleep at @p
 *  now. */
static inline int ski_foreign_asleep(const struct ski_foreign *foreign, uint64_t now)
{
    return now < foreign->alone_until ? foreign->pes : 0;
}

/** Records that a message has arrived before the PE slept: to poll for it is worth while. */
static inline void ski_foreign_found(struct ski_foreign *foreign)
{
    foreign->busy_until = 0;
}

/** Returns whether the PE sleeps at @p now without yields before. */
static inline bool ski_foreign_sleeps_at_once(const struct ski_foreign *foreign, uint64_t now)
{
    return now < foreign->busy_until;
}

#endif
