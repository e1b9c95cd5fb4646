/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_halves.h - large copies and combinations between hosts, in two halves.
 *
 * Where CPUs are idle, the tcp driver has a thread beside the PE that sends and receives the second
 * half of a large packet.  The same thread copies and combines the second half of the data, which
 * are in the cache of its CPU.
 */
#ifndef SKI_COLLECTIVE_HALVES_H
#define SKI_COLLECTIVE_HALVES_H

#include <skua/collective.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arch.h"
#include "core/pe/pe.h"

#define SKI_HALVES_MIN ((size_t)256 << 10) /* bytes from which on two threads are faster */

/** Returns whether @p bytes are copied or combined in two halves. */
static inline bool ski_halves_used(const struct ski_pe *self, size_t bytes)
{
    return SKI_UNLIKELY(bytes >= SKI_HALVES_MIN) && self->net;
}

/** Slow path of ski_halves_copy(): copies in two halves. */
void ski_halves_copy_large(struct ski_pe *self, void *to, const void *from, size_t bytes);

/** Copies @p bytes, in two halves if ski_halves_used(). */
static inline void ski_halves_copy(struct ski_pe *self, void *to, const void *from, size_t bytes)
{
    if (ski_halves_used(self, bytes))
        ski_halves_copy_large(self, to, from, bytes);
    else if (bytes)
        memcpy(to, from, bytes);
}

/** Applies @p op, for which ski_op_splits(), to two arrays of @p bytes, if ski_halves_used().  The
 *  result is in @p into. */
void ski_halves_combine(struct ski_pe *self, skua_op op, skua_type type, void *into,
                        const void *from, size_t bytes);

#endif
