/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_buffer.h - the buffer in which contributions to a reduction are combined.
 *
 * Array reductions and section reductions combine contributions of one operator, type and count
 * element by element.  The contributions to SKUA_CONCAT and SKUA_SET, *lists*, may differ in length
 * and are appended to each other.
 */
#ifndef SKI_REDUCTION_BUFFER_H
#define SKI_REDUCTION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/collection.h>

#include "base/arch.h"
#include "base/assert.h"
#include "core/collective/collective.h"

/* Reductions that an element may be ahead of its PE or delegate; more is an error of the program.
 */
#define SKI_REDUCTIONS_AHEAD 10000

/* Operator, type and number of elements.  All contributions agree in these; lists may differ in
 * `count`. */
struct ski_reduction_spec {
    uint32_t op;
    uint32_t type;
    uint64_t count;
};

/* The partial result so far. */
struct ski_reduction_buffer {
    bool                      filled; /* there is a contribution: pe, spec and data are set */
    int32_t                   pe;     /* the PE that the first contribution came from */
    struct ski_reduction_spec spec;
    skua_completion           to; /* what the result is given to; kind 0: not known yet */
    char                     *data;
    size_t                    bytes, room;
};

/** Returns whether contributions to operator @p op are appended to each other. */
static inline bool ski_op_is_list(uint32_t op)
{
    return op == SKUA_CONCAT || op == SKUA_SET;
}

/** Ends the job if the operator of @p spec does not take its type.  The error names @p call and the
 * contributor @p contributor on PE @p pe. */
void ski_reduction_spec_check(const char *call, const struct ski_reduction_spec *spec,
                              const char *contributor, int pe);

/** Returns whether @p spec, which came from another PE, describes @p bytes of data. */
bool ski_reduction_spec_valid(const struct ski_reduction_spec *spec, size_t bytes);

/** Returns whether operator @p op takes type @p type. */
static inline bool ski_reduction_spec_known(skua_op op, skua_type type)
{
    return SKI_UNLIKELY(ski_op_is_list(op)) ? type == SKUA_BYTE : ski_op_function(op, type) != NULL;
}

/** Returns whether a contribution of @p spec can be combined with those in @p buffer. */
static inline bool ski_reduction_buffer_fits(const struct ski_reduction_buffer *buffer,
                                             const struct ski_reduction_spec   *spec)
{
    return !buffer->filled || (buffer->spec.op == spec->op && buffer->spec.type == spec->type &&
                               (buffer->spec.count == spec->count || ski_op_is_list(spec->op)));
}

/** Ends the job: @p contributor on PE @p pe contributes @p spec to reduction @p number of @p of,
 * which does not fit @p buffer. */
SKI_COLD _Noreturn void ski_reduction_buffer_mismatch(const struct ski_reduction_buffer *buffer,
                                                      const struct ski_reduction_spec   *spec,
                                                      uint32_t number, const char *of,
                                                      const char *contributor, int pe);

/** Appends @p bytes at @p data to @p buffer. */
void ski_reduction_buffer_append(struct ski_reduction_buffer *buffer, const void *data,
                                 size_t bytes);

/** Combines @p bytes at @p data, whose @p spec fits and which come from PE @p from, with the
 * contents of @p buffer. */
static inline void ski_reduction_buffer_add(struct ski_reduction_buffer     *buffer,
                                            const struct ski_reduction_spec *spec, const void *data,
                                            size_t bytes, int from)
{
    skua_op   op   = (skua_op)spec->op;
    skua_type type = (skua_type)spec->type;

    ski_assert(ski_reduction_buffer_fits(buffer, spec));
    if (!buffer->filled || SKI_UNLIKELY(ski_op_is_list(op))) {
        buffer->filled = true;
        buffer->spec   = *spec;
        buffer->pe     = from;
        ski_reduction_buffer_append(buffer, data, bytes);
        if (bytes && !ski_op_is_list(op))
            ski_op_prepare(op, buffer->data, spec->count, type);
    } else if (spec->count) {
        ski_assert(buffer->bytes == bytes);
        ski_op_function(op, type)(buffer->data, data, spec->count, type);
    }
}

/** Combines what an element of this PE contributes with the contents of @p buffer.  The result goes
 * to @p done unless an earlier contribution named a completion. */
void ski_reduction_buffer_contribute(struct ski_reduction_buffer     *buffer,
                                     const struct ski_reduction_spec *spec, const void *data,
                                     size_t bytes, const skua_completion *done);

#endif
