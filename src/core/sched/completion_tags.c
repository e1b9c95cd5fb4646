/* SPDX-License-Identifier: Apache-2.0 */
/* completion_tags.c - see completion_tags.h. */
#include "core/sched/completion_tags.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/message/addr_tag.h"
#include "core/pe/pe.h"

#define TAGS 16

struct ski_completion_tags {
    struct completion_tag {
        uint64_t kind, address, arg, tag; /* kind 0: the slot is free */
    } made[TAGS];
};

void ski_completion_tags_init(struct ski_pe *self)
{
    self->tags = ski_calloc(1, sizeof *self->tags);
}

void ski_completion_tags_destroy(struct ski_pe *self)
{
    free(self->tags);
}

uint64_t ski_completion_tag(struct ski_pe *self, const skua_completion *done)
{
    uint64_t               address = (uint64_t)(uintptr_t)done->what.counter;
    uint64_t               arg     = (uint64_t)(uintptr_t)done->with.arg;
    uint64_t               both    = address ^ arg;
    struct completion_tag *known   = &self->tags->made[(both ^ both >> 9) / 16 % TAGS];

    ski_assert(self->tags && done->kind != 0);
    if (known->kind != done->kind || known->address != address || known->arg != arg) {
        known->kind    = done->kind;
        known->address = address;
        known->arg     = arg;
        known->tag     = ski_addr_tag(self->job, SKI_TAG_DONE + done->kind, self->pe, address, arg);
    }
    return known->tag;
}
