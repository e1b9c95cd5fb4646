/* SPDX-License-Identifier: Apache-2.0 */
/* blocked.h - which call of the program blocks, for reports on a job that makes no progress. */
#ifndef SKI_BLOCKED_H
#define SKI_BLOCKED_H

#include "core/pe/layer.h"
#include "core/pe/pe.h"

/* A call of the program that blocks: its name, and where the program called it. */
struct ski_call {
    const char *name;
    const void *from;
};

/** The public function that this stands in, as the program called it. */
#define SKI_CALL ((struct ski_call){__func__, __builtin_return_address(0)})

/* Calls that block on the PE's own stack, the innermost first; the records are on that stack. */
struct ski_blocked {
    struct ski_call     call;
    struct ski_blocked *outer;
};

/** Calls the layers above before a wait that messages may end, on the PE's own stack. */
static inline void ski_blocked_prepare(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->before_wait && !self->thread))
        ski_layers_before_wait(self);
}

/** Records that @p call blocks on the PE's own stack. */
static inline void ski_blocked_push(struct ski_pe *self, struct ski_blocked *blocked,
                                    struct ski_call call)
{
    ski_assert(!self->thread);
    *blocked      = (struct ski_blocked){call, self->blocked};
    self->blocked = blocked;
}

/** Ends the innermost record. */
static inline void ski_blocked_pop(struct ski_pe *self, const struct ski_blocked *blocked)
{
    ski_assert(self->blocked == blocked);
    self->blocked = blocked->outer;
}

#endif
