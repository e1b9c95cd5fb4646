/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charm_common.h - definitions of the programs for Charm++: waiting for a result in the thread of
 * the main chare that controls them, the best time of several batches, and the report.
 */
#ifndef PEERS_CHARM_COMMON_H
#define PEERS_CHARM_COMMON_H

#include <cstdint>
#include <cstring>
#include <string>

#include "charm++.h"

/* The result of a program: a number, and whether it has arrived. */
class Outcome
{
    CthThread waiting = nullptr;
    long      result  = 0;
    bool      arrived = false;

  public:
    void set(long value)
    {
        result  = value;
        arrived = true;
        if (waiting) {
            CthAwaken(waiting);
            waiting = nullptr;
        }
    }

    /* Waits for the result and checks it. */
    void expect(long value)
    {
        while (!arrived) {
            waiting = CthSelf();
            CthSuspend();
        }
        arrived = false;
        if (result != value)
            CkAbort("the result of a program is wrong");
    }
};

static inline void report(const char *program, const char *unit, double value)
{
    CkPrintf("{\"bench\":\"objects\",\"series\":\"charm++\",\"bytes\":0,"
             "\"metric\":\"%s-%dpe_%s\",\"value\":%.6g}\n",
             program, CkNumPes(), unit, value);
}

/* Replaces *@p best by the time since @p start if that is shorter. */
static inline void keep_best(double *best, double start)
{
    double time = CkWallTimer() - start;

    if (*best == 0 || time < *best)
        *best = time;
}

#endif
