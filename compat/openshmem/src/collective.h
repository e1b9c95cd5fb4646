/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.h - collectives over sets of PEs (team.h).
 *
 * A collective consists of puts and gets of data, and of *flags*: for each slot and each pair of
 * PEs a count that one PE raises and the other waits for. A raised flag becomes visible after the
 * earlier puts of its PE to the same target. The calls of a set run in one order on all members, so
 * both ends of a pair agree on what each raise means, however far one PE is ahead of another.
 *
 * Each slot also has a word for each PE, for lengths, and two small buffers for each PE, for short
 * reductions, which alternate between each two PEs: a PE that begins a reduction has received the
 * other's data of the previous one, so the other has finished the reduction before that.
 */
#ifndef SHMEMI_COLLECTIVE_H
#define SHMEMI_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "team.h"

/** The largest size of a short reduction, in bytes. */
#define SHMEMI_SHORT_BYTES 64

/** The number of words of a bitmap of slots. */
#define SHMEMI_SLOT_WORDS (SHMEMI_SLOTS / 64)

/** Returns the bytes of the library's words, which follow the heap. */
size_t shmemi_words_bytes(int pes);

/** Registers the handler of flags that are messages, before the first phase of Skua. */
void shmemi_collective_register(void);

/** Prepares the words of this PE, which begin at @p words. Returns false if there is no memory. */
bool shmemi_words_open(char *words);

/** Frees the memory of shmemi_words_open(). */
void shmemi_words_close(void);

/** What a PE offers for a new team: its free slots, as bits, and the last number of its board. */
struct shmemi_slot_offer {
    uint64_t free[SHMEMI_SLOT_WORDS];
    uint64_t number;
};

/** Returns the offer of this PE that the members of a set with this slot compare. */
struct shmemi_slot_offer *shmemi_slot_offer(int slot);

/** Stores @p count in the word of @p pe that has the symmetric address @p word, after the caller's
 *  puts to that PE. */
void shmemi_store(uint64_t *word, uint64_t count, int pe);

/** Raises the flag of this PE at the member with rank @p rank. */
void shmemi_flag_raise(const struct shmemi_set *set, int rank);

/** Waits until the member with rank @p rank has raised its flag once more. */
void shmemi_flag_take(const struct shmemi_set *set, int rank);

/** Waits until all members have called it. */
void shmemi_sync(const struct shmemi_set *set);

/** Waits until all members have called it, and reads no memory of another member: those that have
 * returned may release theirs. */
void shmemi_sync_flags(const struct shmemi_set *set);

/** Copies @p bytes at @p source of @p root to @p dest of the other members. */
void shmemi_broadcast(const char *call, const struct shmemi_set *set, void *dest,
                      const void *source, size_t bytes, int root);

/** Stores the data of all members, whose @p bytes may differ, in the order of ranks at @p dest. */
void shmemi_collect(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                    size_t bytes);

/** Stores the data of all members, @p bytes of each, in the order of ranks at @p dest. */
void shmemi_fcollect(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                     size_t bytes);

/** Sends block j of @p bytes at @p source to rank j, where it becomes a block of @p dest. */
void shmemi_alltoall(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                     size_t bytes);

/** Elements of @p size bytes, with strides in elements on both sides. */
struct shmemi_strided_blocks {
    ptrdiff_t dst, sst;
    size_t    size, count;
};

/** Sends block j of strided elements at @p source to rank j, where it becomes a block of @p dest.
 */
void shmemi_alltoalls(const char *call, const struct shmemi_set *set, void *dest,
                      const void *source, const struct shmemi_strided_blocks *blocks);

/** Combines @p count elements: into = into (op) from. */
typedef void (*shmemi_combine_fn)(void *into, const void *from, size_t count);

/** The operator and the elements of a reduction. */
struct shmemi_reduction {
    shmemi_combine_fn combine;
    size_t            size; /* size of an element */
    size_t            count;
};

/** Combines the elements at @p source of all members, in the order of ranks, at @p dest of each. */
void shmemi_reduce(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                   const struct shmemi_reduction *reduction);

/** Returns the buffer @p which, 0 or 1, of a short reduction for data of the PE with rank @p rank.
 */
char *shmemi_short_buffer(const struct shmemi_set *set, unsigned which, int rank);

/** Returns which of the two buffers the next short reduction with rank @p rank uses, and counts it.
 */
unsigned shmemi_short_next(const struct shmemi_set *set, int rank);

#endif
