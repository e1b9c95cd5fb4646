/* SPDX-License-Identifier: Apache-2.0 */
/* collective_halves.c - see collective_halves.h. */
#include "core/collective/collective_halves.h"

#include "base/assert.h"
#include "core/collective/collective.h"
#include "core/net/net.h"

#define HALVES_ALIGN ((size_t)4096) /* bytes: the first half has whole elements */

/* One half of a copy or combination. */
struct half {
    char       *to;
    const char *from;
    size_t      bytes;
    skua_op_fn  fn; /* of a combination */
    skua_type   type;
    uint64_t    fp;     /* the floating-point state of the PE           */
    uint64_t    raised; /* floating-point exceptions: some of SKI_FP_FLAGS */
};

static void half_copy(void *arg)
{
    const struct half *half = arg;

    memcpy(half->to, half->from, half->bytes);
}

/* Runs on the PE or on a thread of the driver, whose floating-point state is kept. */
static void half_combine(void *arg)
{
    struct half *half = arg;
    uint64_t     own  = ski_fp_state();

    ski_fp_set_state(half->fp & ~SKI_FP_FLAGS);
    half->fn(half->to, half->from, half->bytes >> ski_type_shift(half->type), half->type);
    half->raised = ski_fp_state() & SKI_FP_FLAGS;
    ski_fp_set_state(own);
}

/* Calls @p run with both halves of @p whole.  Returns the exceptions that were raised. */
static uint64_t halves_run(struct ski_pe *self, const struct half *whole, void (*run)(void *half))
{
    struct half first = *whole, second = *whole;

    ski_assert(ski_halves_used(self, whole->bytes));
    first.bytes = whole->bytes / 2 / HALVES_ALIGN * HALVES_ALIGN;
    second.to += first.bytes;
    second.from += first.bytes;
    second.bytes -= first.bytes;
    ski_net_run_two(self, run, &first, &second);
    return first.raised | second.raised;
}

void ski_halves_copy_large(struct ski_pe *self, void *to, const void *from, size_t bytes)
{
    struct half whole = {.to = to, .from = from, .bytes = bytes};

    halves_run(self, &whole, half_copy);
}

/* A trap is a signal to the PE, so it then combines all elements itself. */
void ski_halves_combine(struct ski_pe *self, skua_op op, skua_type type, void *into,
                        const void *from, size_t bytes)
{
    struct half whole = {.to    = into,
                         .from  = from,
                         .bytes = bytes,
                         .fn    = ski_op_function(op, type),
                         .type  = type,
                         .fp    = ski_fp_state()};

    ski_assert(whole.fn && ski_op_splits(op));
    if (ski_fp_traps(whole.fp))
        whole.fn(into, from, bytes >> ski_type_shift(type), type);
    else
        ski_fp_set_state(whole.fp | halves_run(self, &whole, half_combine));
}
