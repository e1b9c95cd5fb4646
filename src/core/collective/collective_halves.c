/* SPDX-License-Identifier: Apache-2.0 */
/* collective_halves.c - see collective_halves.h. */
#include "core/collective/collective_halves.h"

#include <string.h>

#include "base/assert.h"
#include "core/collective/collective.h"
#include "core/net/net.h"

#define HALVES_ALIGN ((size_t)4096) /* bytes: the first half has whole elements */

/* One half of a copy or combination. */
struct half {
    char       *to;
    const char *from;
    size_t      bytes;
    skua_op_fn  fn; /* NULL: a copy */
    skua_type   type;
    uint64_t    control; /* of floating-point numbers, as the PE has set it */
};

/* Runs on the PE or on a thread of the driver, which may round in another way. */
static void half_run(void *arg)
{
    const struct half *half = arg;

    if (!half->fn) {
        memcpy(half->to, half->from, half->bytes);
        return;
    }
    if (ski_fp_control() != half->control)
        ski_fp_set_control(half->control);
    half->fn(half->to, half->from, half->bytes >> ski_type_shift(half->type), half->type);
}

static void halves_run(struct ski_pe *self, const struct half *whole)
{
    struct half first = *whole, second = *whole;

    ski_assert(ski_halves_used(self, whole->bytes));
    first.bytes = whole->bytes / 2 / HALVES_ALIGN * HALVES_ALIGN;
    second.to += first.bytes;
    second.from += first.bytes;
    second.bytes -= first.bytes;
    ski_net_run_two(self, half_run, &first, &second);
}

void ski_halves_copy(struct ski_pe *self, void *to, const void *from, size_t bytes)
{
    struct half whole = {.to = to, .from = from, .bytes = bytes};

    halves_run(self, &whole);
}

void ski_halves_combine(struct ski_pe *self, skua_op op, skua_type type, void *into,
                        const void *from, size_t bytes)
{
    struct half whole = {.to      = into,
                         .from    = from,
                         .bytes   = bytes,
                         .fn      = ski_op_function(op, type),
                         .type    = type,
                         .control = ski_fp_control()};

    ski_assert(whole.fn && ski_op_splits(op));
    halves_run(self, &whole);
}
