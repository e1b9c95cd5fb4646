/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h - synchronisation and short reductions of sets whose memory is mapped: a member writes
 * once, into a *board* of its own, and the others read it there.
 *
 * A board has two entries for each slot of a team. The members of a team number these calls alike
 * and use the entries in turn: a member writes its data, then the number as the stamp of the entry,
 * and waits for the stamps of all others. A member that begins a call has seen all stamps of the
 * one before, so all others have finished the last but one, and its entry is free.
 *
 * One line of a writer serves all readers. With flags for each pair every member would write a line
 * at every other one, and flags of several writers share lines.
 *
 * A slot may have had another team before. Its members agree on a number that none of them has
 * passed, and a stamp that is larger than the expected one counts as seen: the last call of a team
 * is a synchronisation, after which no member reads data of it.
 *
 * A member that has returned leaves its board as it is. The end of the job does not use boards but
 * flags, which a member reads in its own memory.
 *
 * Active sets share a slot and are no teams; only those of all PEs, which have a slot of their own,
 * use boards.
 */
#ifndef SHMEMI_BOARD_H
#define SHMEMI_BOARD_H

#include "collective.h"

/** Returns the bytes of a board. */
size_t shmemi_board_bytes(void);

/** Begins the board of this PE at @p memory, which is aligned to 128 bytes. */
void shmemi_board_open(char *memory);

/** Returns whether the calls of @p set use boards. All members get the same answer. */
bool shmemi_board_serves(const struct shmemi_set *set);

/** Waits until all members of a set that boards serve have called it. */
void shmemi_board_sync(const struct shmemi_set *set);

/** Combines at most SHMEMI_SHORT_BYTES of all members of a set that boards serve. */
void shmemi_board_reduce(const struct shmemi_set *set, void *dest, const void *source,
                         const struct shmemi_reduction *reduction);

/** Returns a number that is not below any that this PE has used in a free slot. */
uint64_t shmemi_board_last_number(void);

/** Begins a new team in @p slot; its calls have numbers above @p last. */
void shmemi_board_begin(int slot, uint64_t last);

#endif
