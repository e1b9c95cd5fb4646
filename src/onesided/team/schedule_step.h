/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_step.h - the elements of schedules (schedule.h): steps, buffers and the values that they
 * depend on. */
#ifndef SKI_SCHEDULE_STEP_H
#define SKI_SCHEDULE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKI_SLICE_LINE 64 /* slices begin at multiples of this, which all types divide */

/* Actions of steps. */
enum ski_step_action {
    SKI_STEP_SEND,         /* sends `bytes` at `at` to `rank` with `tag`                   */
    SKI_STEP_RECV,         /* waits for `tag` from `rank` and stores it at `at`            */
    SKI_STEP_RECV_COMBINE, /* waits for `tag` from `rank`: at = at (op) received           */
    SKI_STEP_COPY,         /* copies `bytes` from `from` to `at`, `repeat` times at strides */
    SKI_STEP_COMBINE,      /* at = at (op) from                                            */
    SKI_STEP_PREPARE,      /* prepares the elements at `at` for the operator               */
    SKI_STEP_FLUSH         /* waits until no memory is lent                                */
};

/* Buffers of a call. */
enum ski_buffer_name { SKI_FROM, SKI_TO, SKI_TEMP };

/* A position in a buffer of a call. */
struct ski_position {
    uint8_t buffer; /* enum ski_buffer_name */
    size_t  at;
};

/* A step of a schedule. */
struct ski_step {
    uint8_t  action; /* enum ski_step_action */
    bool     copied; /* SEND: the memory may change at once              */
    bool     eager;  /* SEND: copied if it fits into a window, since the receiver waits for it */
    bool     reused; /* RECV: earlier steps use the memory, so no packet is stored early */
    bool     offers; /* RECV: the sender gets the address at which it stores the bytes itself */
    int32_t  rank;
    uint32_t tag;
    uint32_t repeat; /* COPY: number of blocks, `bytes` each              */
    struct ski_position at, from;
    size_t              bytes;
    size_t              stride, from_stride; /* COPY: between blocks */
};

#define SKI_PARTS 3 /* parts of a schedule, at most (schedule_hosts.h) */

/* The ranks, tags and buffers of a part of a schedule, which its algorithm calls 0, 1, ...,
 * SKI_FROM and SKI_TO. */
struct ski_view {
    const int32_t *ranks;
    uint32_t       number; /* of the part, below SKI_PARTS: its tags are multiplied and shifted */
    struct ski_position from, to;
};

#define SKI_STEPS_INLINE 12

/* The schedule of a call. */
struct ski_schedule {
    struct ski_step       *step;
    uint32_t               steps, room;
    uint32_t               tags; /* tags of received messages are below this */
    size_t                 temp; /* bytes of temporary memory */
    const struct ski_view *view; /* of the part that is being added; NULL: there are no parts */
    struct ski_step        few[SKI_STEPS_INLINE];
};

/* Blocks of a buffer, one for each member. */
struct ski_blocks {
    size_t        bytes; /* of each, if `sizes` is NULL        */
    const size_t *sizes, *offsets;
};

struct ski_team_hosts;

/* The inputs of the algorithms of schedules. */
struct ski_plan {
    int32_t                      rank, size, root;
    const struct ski_team_hosts *hosts; /* NULL: members share one host, or none a host */
    bool   large;    /* messages are large: algorithms that move fewer bytes, not fewer messages */
    bool   near;     /* all members share the memory of a host */
    bool   paired;   /* an all-to-all of 2^k members exchanges blocks in pairs */
    bool   offers;   /* the root of a gather offers the others its memory for their blocks */
    bool   in_place; /* input and output of this member are the same memory */
    bool   prepare;  /* contributions to the operator must be prepared */
    size_t bytes;    /* of a contribution or broadcast */
    size_t element;  /* bytes of an element: contributions are cut at multiples */
};

/** Makes @p s empty. */
void ski_schedule_init(struct ski_schedule *s);

/** Frees the steps of @p s. */
void ski_schedule_free(struct ski_schedule *s);

/** Returns the size of block @p rank. */
static inline size_t ski_blocks_size(const struct ski_blocks *blocks, int rank)
{
    return blocks->sizes ? blocks->sizes[rank] : blocks->bytes;
}

/** Returns the offset of block @p rank in its buffer. */
static inline size_t ski_blocks_offset(const struct ski_blocks *blocks, int rank)
{
    return blocks->sizes ? blocks->offsets[rank] : blocks->bytes * (size_t)rank;
}

/** Adds a step without parameters. */
struct ski_step *ski_step_add(struct ski_schedule *s, enum ski_step_action action);

/** Adds a SEND. */
struct ski_step *ski_step_send(struct ski_schedule *s, int rank, uint32_t tag,
                               struct ski_position at, size_t bytes);

/** Adds a RECV. */
struct ski_step *ski_step_recv(struct ski_schedule *s, int rank, uint32_t tag,
                               struct ski_position at, size_t bytes);

/** Adds a COPY of contiguous memory. */
struct ski_step *ski_step_copy(struct ski_schedule *s, struct ski_position to,
                               struct ski_position from, size_t bytes);

/** Adds a COMBINE: at = at (op) from. */
void ski_step_combine(struct ski_schedule *s, struct ski_position at, struct ski_position from,
                      size_t bytes);

/** Adds the copy of this member's contribution to @p to, prepared for the operator. */
void ski_step_contribute(struct ski_schedule *s, const struct ski_plan *plan,
                         struct ski_position to);

/** Reserves temporary memory, aligned to a cache line. */
struct ski_position ski_step_temp(struct ski_schedule *s, size_t bytes);

/** Returns a position. */
static inline struct ski_position ski_position(enum ski_buffer_name buffer, size_t at)
{
    return (struct ski_position){(uint8_t)buffer, at};
}

/** Returns the position that @p at of the part that is being added has in the whole schedule. */
static inline struct ski_position ski_step_at(const struct ski_schedule *s, struct ski_position at)
{
    const struct ski_position *base;

    if (!s->view || at.buffer == SKI_TEMP)
        return at;
    base = at.buffer == SKI_FROM ? &s->view->from : &s->view->to;
    return (struct ski_position){base->buffer, base->at + at.at};
}

/** Returns the rank @p distance ranks after this member, cyclically. */
static inline int ski_rank_after(const struct ski_plan *plan, int64_t distance)
{
    int64_t rank = plan->rank + distance;

    return (int)(rank < plan->size ? rank : rank - plan->size);
}

/** Returns the rank @p distance ranks before this member, cyclically. */
static inline int ski_rank_before(const struct ski_plan *plan, int64_t distance)
{
    int64_t rank = plan->rank - distance;

    return (int)(rank < 0 ? rank + plan->size : rank);
}

/** Returns the offset at which slice @p i of plan->bytes begins, or their end if @p i is the number
 *  of members. */
static inline size_t ski_slice(const struct ski_plan *plan, int i)
{
    size_t lines = (plan->bytes + SKI_SLICE_LINE - 1) / SKI_SLICE_LINE, n = (size_t)plan->size;
    size_t at = (lines / n * (size_t)i + lines % n * (size_t)i / n) * SKI_SLICE_LINE;

    return at < plan->bytes ? at : plan->bytes;
}

#endif
