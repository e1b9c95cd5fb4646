/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction.h - reductions, and the barriers that are reductions of nothing.
 *
 * A call is one reduction or, if it is large, several; each PE numbers them in the order of its
 * calls.  How a call goes, its *way*, depends on what is the same everywhere:
 *
 *   SKI_WAY_WHOLE     Small, or of an operator whose elements belong together.  Partial results
 *                     travel whole, in rounds (reduction_order.h): towards the root, or, if all PEs
 * get the result, to all of them at once, which is an exchange. SKI_WAY_SEGMENT   Large, where PEs
 * share no memory.  Each segment is a reduction with a number of its own, so that they follow each
 * other along the tree; if all PEs get the result, segments have different roots, and results go
 *                     down the tree again.
 *   SKI_WAY_EXPOSE    Large, inside one host.  The addresses of the contributions, which lie in the
 *                     arena, go to the root, and the memory with them; the root combines them, in
 *                     place, block by block, and PEs that are in the runtime help it.  If
 *                     all PEs get the result, they exchange the addresses; each combines its
 *                     slice and writes the result into the memory of all; then, the second
 *                     reduction of the call,
 *   SKI_WAY_COMBINED  is a barrier that tells each PE that all slices are done.
 *
 * All ways combine the PEs in one order.  On the wire, up and down:  struct ski_reduction_head,
 * then elements.  Contributions may arrive before this PE has called: they wait in the record of
 * their reduction, which the head is enough to make.
 */
#ifndef SKI_REDUCTION_H
#define SKI_REDUCTION_H

#include <skua/message.h>

#include "core/collective/collective.h"
#include "core/collective/reduction_slot.h"
#include "core/data/msg.h"

struct ski_pe;

enum { SKI_WAY_WHOLE, SKI_WAY_SEGMENT, SKI_WAY_EXPOSE, SKI_WAY_COMBINED, SKI_WAYS };

/* A reduction that is in flight on this PE. */
struct ski_reduction {
    struct ski_reduction_head head;
    int32_t                   from;    /* the PE whose head that is, for errors           */
    bool                      sent;    /* the partial result, in this round               */
    bool                      placed;  /* the result is received into its place          */
    bool                      small;   /* a small call of this PE: see reduction_slot.h  */
    bool                      slotted; /* the partial result was sent by a slot          */
    uint32_t                  round;   /* that it is in                                   */
    size_t                    bytes;   /* of its elements                                 */
    char                     *mine;    /* the partial result; NULL until this PE has called */
    skua_msg                 *msg;     /* that it lies in, behind its head, or NULL       */
    union {
        skua_completion       done;  /* SKI_WAY_WHOLE */
        struct ski_split     *split; /* the others    */
        struct ski_reduction *next;  /* spare         */
    };
    uint64_t               small_call;             /* of a small one: its number ...    */
    struct ski_reduction  *small_next;             /* ... the next one that is in flight, */
    struct ski_reduction **small_at;               /* ... and the pointer to this one     */
    _Alignas(16) char elements[2][SKI_SLOT_BYTES]; /* its partial result is in one of them */
    skua_msg *in[];                                /* what has come, by round */
};

/* A call, as it is made. */
struct ski_reduction_call {
    struct ski_reduction_head head;
    const void               *data;
    size_t                    bytes;
    uint64_t                  small_call; /* of a small one */
    skua_completion           done;
};

static inline struct ski_reduction_head *ski_reduction_head_of(skua_msg *msg)
{
    return (struct ski_reduction_head *)(void *)(msg + 1);
}

static inline char *ski_reduction_elements(skua_msg *msg)
{
    return (char *)(ski_reduction_head_of(msg) + 1);
}

/** A message with room for a head and @p bytes of elements. */
skua_msg *ski_reduction_msg(size_t bytes);

/** Put a contribution of @p call into @p elements: its @p bytes from @p offset on. */
void ski_reduction_fill(const struct ski_reduction_call *call, size_t offset, char *elements,
                        size_t bytes);

/** This PE's partial result, @p mine, for the reduction with @p head: @p msg is the message that
 *  it lies in, or NULL.  The reduction may be over when it returns. */
void ski_reduction_join(struct ski_pe *self, const struct ski_reduction_head *head,
                        struct ski_split *split, char *mine, skua_msg *msg, size_t bytes);

/** What the scheduler polls while small calls are in flight: the slots of reduction_slot.h. */
extern const struct ski_polled ski_reductions_polled;

/** Returns how many bytes of a result, whose packet has the header @p msg and begins with @p data,
 *  are to be received at *@p to; 0: it is to be received as any other packet. */
size_t ski_result_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Makes the message that stands for a result whose elements are in their place; NULL: they are not
 *  @p whole, and may come again. */
skua_msg *ski_result_placed(struct ski_pe *self, const char *data, bool whole);

/* ---- large calls (reduction_split.c) --------------------------------------------------- */

/** Which way a call goes, and how many numbers it takes. */
int ski_split_way(const struct ski_pe *self, const struct ski_reduction_head *head, size_t bytes);
uint64_t ski_split_numbers(const struct ski_pe *self, int way, size_t bytes);

/** Begin a call that is split. */
void ski_split_begin(struct ski_pe *self, const struct ski_reduction_call *call);

/** Returns where the result of the segment with @p head belongs in that of the call. */
char *ski_split_place(const struct ski_pe *self, const struct ski_split *split,
                      const struct ski_reduction_head *head);

/** A reduction of a split call, whose record with @p head is gone, is over on this PE: @p msg has
 *  its result, if it is not NULL. */
void ski_split_done(struct ski_pe *self, struct ski_split *split,
                    const struct ski_reduction_head *head, skua_msg *msg);

void ski_splits_destroy(struct ski_collectives *collectives);

#endif
