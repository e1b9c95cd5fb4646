/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_buffer.h - what is combined in a reduction: over a collection, over a section.
 *
 * Contributions of one shape are put together by an operator; those of lists, whose lengths
 * may differ, behind each other.
 */
#ifndef SKI_REDUCTION_BUFFER_H
#define SKI_REDUCTION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/collection.h>

#include "base/arch.h"
#include "core/collective/collective.h"

/* Reductions that an object may be ahead of the others: more is a mistake of the program. */
#define SKI_AHEAD 10000

/* What is combined: the same in all contributions, but `count` where lengths may differ. */
struct ski_shape {
    uint32_t op;
    uint32_t type;
    uint64_t count;
};

struct ski_total {
    bool             filled; /* shape and data are there */
    int32_t          pe;     /* the PE that the first of them came from */
    struct ski_shape shape;
    skua_completion  to;
    char            *data;
    size_t           bytes, room;
};

static inline bool ski_is_list(uint32_t op)
{
    return op == SKUA_CONCAT.id || op == SKUA_SET.id;
}

/** Ends the job if there is no such operator for the type.  @p who contributes. */
void ski_shape_check(const char *call, const struct ski_shape *shape, const char *who, int pe);

/** Whether it is one of @p bytes: of what came from another PE. */
bool ski_shape_right(const struct ski_shape *shape, size_t bytes);

static inline bool ski_shape_known(skua_op op, skua_type type)
{
    return SKI_UNLIKELY(ski_is_list(op.id)) ? type == SKUA_BYTE : ski_op_function(op, type) != NULL;
}

static inline bool ski_total_fits(const struct ski_total *total, const struct ski_shape *shape)
{
    return !total->filled || (total->shape.op == shape->op && total->shape.type == shape->type &&
                              (total->shape.count == shape->count || ski_is_list(shape->op)));
}

/** It does not: "@p what: @p who on PE @p pe contributes ..., but what came first, ...". */
SKI_COLD _Noreturn void ski_total_differs(const struct ski_total *total,
                                          const struct ski_shape *shape, const char *what,
                                          const char *who, int pe);

void ski_total_append(struct ski_total *total, const void *data, size_t bytes);

/** Combine what @p bytes at @p data are, of a shape that fits, and come from PE @p from, with
 *  what is there. */
static inline void ski_total_add(struct ski_total *total, const struct ski_shape *shape,
                                 const void *data, size_t bytes, int from)
{
    skua_op   op   = {shape->op};
    skua_type type = (skua_type)shape->type;

    if (!total->filled || SKI_UNLIKELY(ski_is_list(op.id))) {
        total->filled = true;
        total->shape  = *shape;
        total->pe     = from;
        ski_total_append(total, data, bytes);
        if (bytes && !ski_is_list(op.id))
            ski_op_prepare(op, total->data, shape->count, type);
    } else if (shape->count) {
        ski_op_function(op, type)(total->data, data, shape->count, type);
    }
}

/** The same for what an object contributes. */
void ski_total_contribute(struct ski_total *total, const struct ski_shape *shape, const void *data,
                          size_t bytes, const skua_completion *done);

#endif
