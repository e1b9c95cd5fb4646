/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walkers.h - elements that migrate while a user thread runs in them, part of tests/moving.c.
 *
 * In each round a thread of each walker recurses.  On each level it sends a note to another walker,
 * asks a mover for a square, orders a migration of its element and waits for the answer: the
 * element leaves with the stack, and what comes for it meanwhile follows.
 */
#ifndef WALKERS_H
#define WALKERS_H

#include <skua/skua.h>

/* Registers the class. */
void walkers_register(void);

/* Creates the walkers.  The entry @p square of the elements of @p movers, of which there are
 * @p count, replies the square of a uint64_t.  On PE 0, as the functions below. */
void walkers_create(uint64_t seed, skua_collection movers, int count, skua_entry square);

/* Starts a round. */
void walkers_run(void);

/* Checks what @p rounds rounds that are over have done. */
void walkers_check(int rounds);

#endif
