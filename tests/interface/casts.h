/* SPDX-License-Identifier: Apache-2.0 */
/* casts.h - see casts.ci. */
#ifndef CASTS_H
#define CASTS_H

#include <skua/skua.h>

#define CELLS  12 /* an even number */
#define ROUNDS 30

#define KEEPERS 16

/** Sends a multicast and a broadcast in each round. */
void send_rounds(void);

/** Ends the job unless @p x has the data of a round.  Returns 1. */
int check(int round, int way, int n, const double *x);

/** Returns whether keepers get a second multicast in a round. */
static inline bool has_second(int round)
{
    return round > 0 && round < ROUNDS;
}

/** Sends the multicasts of a round to the keepers, and before them one to threads of the cells. */
void send_kept(int round);

/** Waits for an answer of one of the cells. */
void wait_for_answer(int cell);

/** Ends the job unless @p x, which a keeper on this PE has got or kept, is the memory that the
 * first one on this PE has got: before any of them has migrated all have the same. */
void check_shared(const double *x);

#endif
