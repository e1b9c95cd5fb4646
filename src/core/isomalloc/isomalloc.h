/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isomalloc.h - memory at addresses that are unique in the job.
 *
 * The stack of a user thread contains pointers into itself and to the object that it runs for. Both
 * can move to another PE only if they keep their addresses there.  So they are allocated from the
 * isomalloc range, which is at one address in every process of the job (base/arena.h) and is
 * divided among the PEs: no other PE gives out the addresses of this one.  The processes of a host
 * share the memory of the whole range, so what moves inside a host is not copied; between hosts its
 * bytes are copied to the same addresses.
 *
 *      | share of PE 0                          | share of PE 1 | ...
 *      | slots of stacks | zone 0 | ... | zone Z |
 *
 * A slot holds a guard, a stack and, at its top, the struct skua_thread.  A zone holds blocks of
 * one size, so the owner, the first byte and the size of a block follow from any address in it.
 *
 * A PE has a record of each block that it owns, with the PE where the block is now, and of each
 * block of another PE that is here.  A block counts its moves, which its release does not reset, so
 * that the owner ignores an update that was overtaken by a later one.
 *
 * A restarted job restores the blocks of the former one at their addresses.  It takes over the
 * division of the range from the former job, whatever its own number of PEs is: share i belongs to
 * PE i modulo that number, and a PE allocates from all of its shares, one after the other.  There
 * are more shares than PEs in a small job, so that it can be restarted on more PEs; a PE whose
 * number is not less than that of the shares has none.
 *
 * The range is mapped only in programs that have a class whose objects migrate and have threaded
 * entries; in others a PE has no struct ski_isomalloc.
 */
#ifndef SKI_ISOMALLOC_H
#define SKI_ISOMALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/message.h>

struct ski_job;
struct ski_pe;

/* Where a block is. */
struct ski_iso_block {
    uintptr_t at;      /* its first byte; 0: the record is unused                      */
    int32_t   pe;      /* SKI_ISO_FREE, or the PE where the block is                   */
    uint32_t  moves;   /* so far                                                       */
    uint32_t  results; /* of futures in it that hold a message (sched/future.c)        */
    bool      bare;    /* a slot of a former job, whose guard this process has not made */
};

#define SKI_ISO_FREE (-1)

/** Maps the range in this process, for the PEs of @p job, with slots of at least @p slot_bytes
 * above their guards.  Returns false if it cannot be mapped here. */
bool ski_isomalloc_open(const struct ski_job *job, size_t slot_bytes);

/** Resets the range, at the end of a phase. */
void ski_isomalloc_close(void);

/** Assigns a PE its shares, if the range is mapped.  What an earlier phase has left there is
 *  discarded. */
void ski_isomalloc_begin(struct ski_pe *self);

/** Frees the records of a PE.  Other PEs may still use blocks of its shares. */
void ski_isomalloc_end(struct ski_pe *self);

/* The addresses of the range; none while it is not mapped. */
struct ski_isomalloc_range {
    uintptr_t base;
    size_t    bytes;
};

/** The range; set by ski_isomalloc_open() and ski_isomalloc_close(). */
extern struct ski_isomalloc_range ski_isomalloc_range;

/** Returns whether the address @p at is in the range. */
static inline bool ski_isomalloc_contains(const void *at)
{
    return (uintptr_t)at - ski_isomalloc_range.base < ski_isomalloc_range.bytes;
}

/** Returns a hash of the layout of the range, the same in all processes that can exchange
 *  blocks. */
uint64_t ski_isomalloc_layout(void);

/** Allocates a block of at least @p bytes, which is not zeroed; NULL: the shares of this PE have
 *  no room. */
void *ski_isomalloc(struct ski_pe *self, size_t bytes);

/** Allocates a slot for a stack; NULL: the shares of this PE have no room.  *@p fresh becomes true
 * if the slot is used for the first time: the caller must then make its guard, which is kept when
 * the slot is reused.  Free slots keep their pages up to half of the setting stack_cache, and a few
 * in any case unless it is 0. */
char *ski_isomalloc_slot(struct ski_pe *self, bool *fresh);

/** Returns the bytes of the guard of a slot, at its low end. */
size_t ski_isomalloc_guard(void);

/** Returns the bytes of a slot above its guard. */
size_t ski_isomalloc_slot_bytes(void);

/** Frees the block or slot @p block, which is here: its owner may use it again. */
void ski_isomalloc_free(struct ski_pe *self, void *block);

/** Returns the first byte of the block or slot that contains @p at, an address in the range; 0:
 *  none does. */
uintptr_t ski_isomalloc_block(const void *at);

/** Returns the record of the block that contains @p at, if the block is here; else NULL. */
struct ski_iso_block *ski_isomalloc_here(struct ski_pe *self, const void *at);

/* The part of the record of a block that moves with the block. */
struct ski_iso_move {
    uint64_t at;
    uint32_t moves, results;
};

/** Records that the block @p block, which is here, moves to PE @p to, and notifies its owner.
 *  Returns what ski_isomalloc_arrive() needs there. */
struct ski_iso_move ski_isomalloc_depart(struct ski_pe *self, void *block, int to);

/** Returns whether @p move, which came from another PE, is that of a block of at least @p bytes
 * which may arrive here; 0: of a slot for a stack. */
bool ski_isomalloc_move_valid(struct ski_pe *self, const struct ski_iso_move *move, size_t bytes);

/** Returns whether @p at, in the range, is in a slot for a stack. */
bool ski_isomalloc_is_slot(const void *at);

/** Records that a block has arrived here. */
void ski_isomalloc_arrive(struct ski_pe *self, const struct ski_iso_move *move);

/** Returns the PE to ask for the block that contains @p at, which is not here: where it was last
 *  known to be, or its owner.  SKI_ISO_FREE: there is no such block. */
int ski_isomalloc_lookup(struct ski_pe *self, const void *at);

/** Returns the PE that owns the address @p at, which is in the range. */
int ski_isomalloc_owner(const void *at);

/** Returns the number of shares that the range is divided into; 0: it is not mapped. */
uint64_t ski_isomalloc_shares(void);

/** Prepares this PE to restore blocks of a former job, whose range had @p shares and @p layout.  No
 *  block exists yet.  Returns false, and changes nothing, if this job's range has another
 *  layout. */
bool ski_isomalloc_adopt(struct ski_pe *self, uint64_t shares, uint64_t layout);

/** Returns whether this PE restores the blocks of a former job at their addresses. */
bool ski_isomalloc_restores(const struct ski_pe *self);

/** Returns whether @p move, which was read from a file, is that of a block of at least @p bytes
 * which can be restored here by ski_isomalloc_arrive(); 0: of a slot for a stack. */
bool ski_isomalloc_may_restore(struct ski_pe *self, const struct ski_iso_move *move, size_t bytes);

/** Records that block @p at of the former job, which this PE owns, has been restored on another PE,
 *  @p pe.  Returns false if there is no such block, or it has been restored twice. */
bool ski_isomalloc_restored(struct ski_pe *self, uint64_t at, int pe);

/** Handler: a block of this PE has moved, or is free. */
void ski_on_isomalloc(skua_msg *msg);

#define SKI_ISOMALLOC_MIN 16

#endif
