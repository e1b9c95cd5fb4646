/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction.h - reductions.  A barrier is a reduction without elements.
 *
 * A call consists of one reduction or, if it is large, of several.  Each PE numbers them in the
 * order of its calls.  The algorithm of a call depends only on values that are the same on all PEs:
 *
 * - SKI_REDUCTION_WHOLE: the call is small, or its operator must not be applied to parts of an
 *   array.  Partial results travel whole, in rounds (reduction_order.h): towards the root, or, if
 *   all PEs get the result, between all PEs, which is an exchange.
 * - SKI_REDUCTION_SEGMENTED: the call is large, and not all PEs share memory.  Each segment is a
 *   reduction with a number of its own, so that the segments form a pipeline along the tree.  If
 *   all PEs get the result, the segments have different roots, and each root sends its result down
 *   the tree.
 * - SKI_REDUCTION_SHARED: the call is large, and all PEs are on one host.  The contributions are in
 *   the arena.  To a root: their addresses go directly to the root (reduction_root.c), which owns
 *   the memory from then on; the root combines them in place, block by block, with the help of PEs
 *   that are in the runtime.  To all PEs: they exchange the addresses; each PE combines its slice
 *   and writes the result into the memory of all PEs.
 * - SKI_REDUCTION_SHARED_DONE: the second reduction of such a call to all PEs, a barrier after
 *   which all slices are complete.
 *
 * - SKI_REDUCTION_HOSTS: all PEs get the result of a call that would be whole, and the job has
 *   several hosts, of which some have several PEs (reduction_hosts.c).  Each host collects the
 *   contributions of its PEs, and hosts exchange them.
 *
 * - SKI_REDUCTION_HALVED: a call of medium size between 2^k hosts of one PE each
 *   (reduction_halving.c).  PEs exchange halves, quarters and so on, and then results, which all
 *   PEs get, or are collected towards the root.
 *
 * All algorithms combine the PEs in the same order.  On the wire, up and down the tree:  struct
 * ski_reduction_head, then elements.  A contribution may arrive before this PE has made the call:
 * its head is enough to create the record of the reduction, in which the contribution waits.
 */
#ifndef SKI_REDUCTION_H
#define SKI_REDUCTION_H

#include <skua/message.h>

#include "core/collective/collective.h"
#include "core/collective/reduction_record.h"
#include "core/collective/reduction_slot.h"
#include "core/data/msg.h"

struct ski_pe;

/* Algorithms of reductions. */
enum {
    SKI_REDUCTION_WHOLE,
    SKI_REDUCTION_SEGMENTED,
    SKI_REDUCTION_SHARED,
    SKI_REDUCTION_SHARED_DONE,
    SKI_REDUCTION_HOSTS,
    SKI_REDUCTION_HALVED,
    SKI_REDUCTION_ALGORITHMS /* their number */
};

/* A call of the program. */
struct ski_reduction_call {
    struct ski_reduction_head head;
    const void               *data;
    size_t                    bytes;
    uint64_t                  small_call; /* number of a small call */
    skua_completion           done;
};

#define SKI_REDUCTION_AHEAD_MAX (UINT64_C(1) << 24) /* difference of numbers in flight */

/** Returns the head of a contribution or result. */
static inline struct ski_reduction_head *ski_reduction_head_of(skua_msg *msg)
{
    return (struct ski_reduction_head *)(void *)(msg + 1);
}

/** Returns the elements of a contribution or result. */
static inline char *ski_reduction_elements(skua_msg *msg)
{
    return (char *)(ski_reduction_head_of(msg) + 1);
}

/** Returns whether a reduction with the @p number, which another PE has sent, can be in flight. */
static inline bool ski_reduction_number_valid(const struct ski_collectives *c, uint64_t number)
{
    uint64_t ahead = number - c->next;

    return ahead <= SKI_REDUCTION_AHEAD_MAX || -ahead <= SKI_REDUCTION_AHEAD_MAX;
}

/** Returns a message with room for a head and @p bytes of elements. */
skua_msg *ski_reduction_msg(size_t bytes);

/** Copies @p bytes of the contribution of @p call, from @p offset on, to @p elements and prepares
 * them for the operator. */
void ski_reduction_fill(struct ski_pe *self, const struct ski_reduction_call *call, size_t offset,
                        char *elements, size_t bytes);

/** Joins the reduction with @p head of the call @p split.  @p partial is the contribution of this
 *  PE; @p msg is the message that contains it, or NULL.  The reduction may be over when this
 *  returns. */
void ski_reduction_join(struct ski_pe *self, const struct ski_reduction_head *head,
                        struct ski_split *split, char *partial, skua_msg *msg, size_t bytes);

/** Returns whether this PE sends its contribution to the reduction with @p head in the first round:
 *  it receives none before, so the contribution is sent as it is. */
bool ski_reduction_sends_first(const struct ski_pe *self, const struct ski_reduction_head *head);

/** Polls the slots of reduction_slot.h, for the scheduler, while small calls are in flight. */
extern const struct ski_polled ski_reductions_polled;

/** Returns how many bytes of a result, whose packet has the header @p msg and begins with @p data,
 *  are received in place, at *@p to.  0: the packet is received like any other. */
size_t ski_result_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Returns a message that represents a result received in place.  NULL: the result is not @p whole;
 *  its sender may repeat it. */
skua_msg *ski_result_placed(struct ski_pe *self, const char *data, bool whole);

/** Returns whether the reduction is an exchange: every PE is a target of it. */
static inline bool ski_reduction_is_exchange(const struct ski_reduction_head *head)
{
    return head->all && head->algorithm != SKI_REDUCTION_SEGMENTED;
}

/** Returns whether the root collects the addresses of contributions (reduction_root.c). */
static inline bool ski_reduction_is_collected(const struct ski_reduction_head *head)
{
    return head->algorithm == SKI_REDUCTION_SHARED && !head->all;
}

/** Returns the bytes of the window that a reduction of @p bytes with @p head, all of a call or a
 *  segment, uses on each PE.  Large contributions to roots on other hosts count several times: PEs
 *  that are not the root would send those of many calls, which the PEs on the way to the next root
 *  receive before the one that they wait for. */
uint64_t ski_reduction_cost(const struct ski_pe *self, const struct ski_reduction_head *head,
                            size_t bytes);

/** Combines @p data, the contribution of this PE to a reduction to a root that it begins now, into
 *  that of the first round, if that has arrived and the operator allows it: then @p data is not
 *  copied.  Returns whether it did. */
bool ski_reduction_combine_call(struct ski_pe *self, struct ski_reduction *r, const void *data);

/** Runs rounds of @p r as far as contributions have arrived; the reduction may be over when it
 *  returns. */
void ski_reduction_advance(struct ski_pe *self, struct ski_reduction *r);

/** Begins a call of SKI_REDUCTION_HOSTS. */
void ski_reduction_hosts_begin(struct ski_pe *self, const struct ski_reduction_call *call);

/** Returns whether calls with @p head of medium size are made by recursive halving. */
bool ski_halving_used(const struct ski_pe *self, const struct ski_reduction_head *head);

/** Begins a call of SKI_REDUCTION_HALVED. */
void ski_halving_begin(struct ski_pe *self, const struct ski_reduction_call *call);

/* ---- addresses of contributions (reduction_root.c) --------------------------------------- */

/** Passes the address of @p elements, the contribution of this PE to the call @p split, to the root
 *  of @p head.  The call may be over when this returns. */
void ski_reduction_contribute_address(struct ski_pe *self, const struct ski_reduction_head *head,
                                      struct ski_split *split, const char *elements);

/** Returns whether the record @p r has the address of the contribution of @p pe. */
bool ski_reduction_has_address(const struct ski_reduction *r, int pe);

/** Handles @p msg, a valid packet with the address of a contribution. */
void ski_reduction_collect(struct ski_pe *self, skua_msg *msg);

/* ---- large calls (reduction_split.c) --------------------------------------------------- */

/** Returns the algorithm of a call with @p head and @p bytes of elements: SKI_REDUCTION_*. */
int ski_split_algorithm(const struct ski_pe *self, const struct ski_reduction_head *head,
                        size_t bytes);

/** Returns the number of reductions that a call with @p head, which has its algorithm, and @p bytes
 *  of elements consists of. */
uint64_t ski_split_numbers(const struct ski_pe *self, const struct ski_reduction_head *head,
                           size_t bytes);

/** Begins a call of any algorithm but SKI_REDUCTION_WHOLE. */
void ski_split_begin(struct ski_pe *self, const struct ski_reduction_call *call);

/** Returns where the result of the segment with @p head is in the result of its call. */
char *ski_split_place(const struct ski_pe *self, const struct ski_split *split,
                      const struct ski_reduction_head *head);

/** Sends a partial result or result with @p head, which is in the buffer of a split call at @p
 *  elements, to @p pe.  Returns false, without any effect, if it must be copied. */
bool ski_split_send(struct ski_pe *self, struct ski_split *split, int pe, uint32_t handler,
                    const struct ski_reduction_head *head, const char *elements);

/** Continues a split call after its reduction with @p head is over on this PE and the record has
 *  been released.  @p msg contains the result, unless NULL. */
void ski_split_done(struct ski_pe *self, struct ski_split *split,
                    const struct ski_reduction_head *head, skua_msg *msg);

/** Frees the split calls that are in flight when the job ends. */
void ski_splits_destroy(struct ski_collectives *collectives);

#endif
