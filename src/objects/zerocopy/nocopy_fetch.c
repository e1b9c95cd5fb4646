/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy_fetch.c - see nocopy_fetch.h. */
#include "objects/zerocopy/nocopy_fetch.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/addr_tag.h"

/* The place may be read in a message from another host: a tag proves that this PE wrote it. */
static uint64_t nocopy_posted_tag(const struct ski_nocopy_arg *arg)
{
    return ski_addr_tag(ski_self->job, SKI_TAG_NOCOPY, ski_self->pe, (uintptr_t)arg->posted,
                        arg->bytes);
}

void ski_nocopy_set_posted(struct ski_nocopy_arg *arg, void *at)
{
    arg->posted     = at;
    arg->posted_tag = nocopy_posted_tag(arg);
}

void *ski_nocopy_posted(const struct ski_nocopy_arg *arg)
{
    return arg->posted && arg->posted_tag == nocopy_posted_tag(arg) ? arg->posted : NULL;
}

struct ski_nocopy_pending *ski_nocopy_pending_new(skua_msg *msg,
                                                  void (*go_on)(struct ski_nocopy_pending *))
{
    uint32_t                   n       = ski_nocopy_trailer_of(msg)->count;
    struct ski_nocopy_pending *pending = ski_malloc(sizeof *pending + n * sizeof *pending->fetch);

    *pending = (struct ski_nocopy_pending){.msg = msg, .waiting = 1, .go_on = go_on};
    return pending;
}

/* Handles the arrival of an argument. */
static void nocopy_arg_fetched(struct ski_buffer_fetch *fetch)
{
    struct ski_nocopy_pending *pending = fetch->arg;

    if (!fetch->block)
        ski_nocopy_set_posted((struct ski_nocopy_arg *)(void *)fetch->buffer - 1, fetch->here.at);
    ski_assert(pending->waiting > 0);
    if (--pending->waiting > 0)
        return;
    ski_assert(ski_self->held > 0);
    ski_self->held--;
    pending->go_on(pending);
}

void ski_nocopy_fetch(struct ski_nocopy_pending *pending, struct ski_nocopy_arg *arg, void *to)
{
    struct ski_buffer_fetch *fetch = &pending->fetch[pending->fetches++];

    ski_assert(arg->kind == SKI_NOCOPY_BUFFER);
    *fetch = (struct ski_buffer_fetch){.done = nocopy_arg_fetched, .arg = pending};
    pending->waiting++;
    if (ski_buffer_fetch(ski_self, fetch, ski_nocopy_buffer(arg), to) < 0)
        ski_misuse("a nocopy argument of %llu bytes of a message from PE %d cannot be fetched",
                   (unsigned long long)arg->bytes, pending->msg->source);
}

bool ski_nocopy_fetched(struct ski_nocopy_pending *pending)
{
    ski_assert(pending->waiting > 0);
    if (--pending->waiting > 0) {
        ski_self->held++;
        return false;
    }
    free(pending);
    return true;
}
