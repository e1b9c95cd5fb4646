/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_record.h - the records of reductions in flight: found by number, created by the first
 * message or call, and compared with all others. */
#ifndef SKI_REDUCTION_RECORD_H
#define SKI_REDUCTION_RECORD_H

#include "base/arch.h"
#include "core/collective/collective.h"
#include "core/collective/reduction_slot.h"
#include "core/data/msg.h"

struct ski_text;

/* A reduction that is in flight on this PE. */
struct ski_reduction {
    struct ski_reduction_head head;
    int32_t                   head_pe;  /* the PE that `head` came from, for errors        */
    bool                      sent;     /* the partial result was sent in this round       */
    bool                      in_place; /* the result is being received in place           */
    bool                      small;    /* a small call of this PE: see reduction_slot.h   */
    bool                      slotted;  /* the partial result was sent in a slot           */
    bool                      held;     /* SKI_REDUCTION_HALVED: waits for calls before it */
    bool                      awaits;   /* it is counted in `awaited` of the collectives   */
    uint32_t                  round;    /* the current round                               */
    uint32_t                  sending;  /* SKI_REDUCTION_HALVED: ranges that the network reads */
    size_t                    bytes;    /* of its elements                                 */
    char                     *partial;  /* partial result; NULL until this PE has called   */
    skua_msg                 *msg;      /* contains the partial result, or NULL            */
    union {
        skua_completion       done;  /* SKI_REDUCTION_WHOLE               */
        struct ski_split     *split; /* the call, for other algorithms    */
        struct ski_reduction *next;  /* record that can be reused         */
    };
    union {
        struct ski_reduction_hosts *hosts;   /* SKI_REDUCTION_HOSTS: its sets, or NULL           */
        uint64_t                    arrived; /* SKI_REDUCTION_HALVED: bits of results; at the root
                                                of SKI_REDUCTION_SHARED: number of addresses     */
    };
    uint64_t               small_call;             /* number of the small call             */
    struct ski_reduction  *small_next;             /* the next small call in flight, or held one */
    struct ski_reduction **small_link;             /* the pointer to this small call       */
    _Alignas(16) char elements[2][SKI_SLOT_BYTES]; /* of a small call: `partial` is one of them */
    skua_msg *received[];                          /* contributions, by round              */
};

/** Returns the record of a reduction in flight, or NULL. */
static inline struct ski_reduction *ski_reduction_find(const struct ski_collectives *c,
                                                       uint64_t                      number)
{
    return ski_number_find(&c->table, number);
}

/** Returns the record of the reduction that @p head, from PE @p from, belongs to; creates it if
 * there is none.  Ends the job if the record is of another call. */
struct ski_reduction *ski_reduction_get(struct ski_pe *self, const struct ski_reduction_head *head,
                                        size_t bytes, int from);

/** Appends @p r to the small calls in flight. */
void ski_reduction_link_small(struct ski_pe *self, struct ski_reduction *r, uint64_t call);

/** Returns whether @p head, with @p bytes of elements, is of the same call as the record @p r. */
bool ski_reduction_agrees(const struct ski_reduction *r, const struct ski_reduction_head *head,
                          size_t bytes);

/** Appends the oldest call of reductions of @p self that is in flight, if there is one. */
SKI_COLD void ski_reductions_report(const struct ski_pe *self, struct ski_text *text);

/** Ends the job: @p head, from PE @p from, and the record @p r are of different calls. */
SKI_COLD _Noreturn void ski_reduction_mismatch(const struct ski_reduction      *r,
                                               const struct ski_reduction_head *head, int from);

/** Removes @p r from the table and from the small calls.  Its memory stays. */
void ski_reduction_remove(struct ski_pe *self, struct ski_reduction *r);

/** Keeps the memory of @p r, which was removed, for another record. */
void ski_reduction_recycle(struct ski_collectives *c, struct ski_reduction *r);

/** Frees the sets of @p r, if it has any (reduction_hosts.c). */
void ski_reduction_hosts_free(struct ski_reduction *r);

/** Ends the record @p r. */
void ski_reduction_release(struct ski_pe *self, struct ski_reduction *r);

/** Returns the number of the oldest small call that is not finished. */
static inline uint64_t ski_collectives_low(const struct ski_collectives *c)
{
    return c->small ? c->small->small_call : c->small_begun;
}

#endif
