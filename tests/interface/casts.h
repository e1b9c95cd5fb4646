/* SPDX-License-Identifier: Apache-2.0 */
/* casts.h - see casts.ci. */
#ifndef CASTS_H
#define CASTS_H

#include <skua/skua.h>

#define CELLS  12 /* an even number */
#define ROUNDS 30

/** Sends a multicast and a broadcast in each round. */
void send_rounds(void);

/** Ends the job unless @p x has the data of a round.  Returns 1. */
int check(int round, int way, int n, const double *x);

#endif
