/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_fetch.c - see buffer_fetch.h. */
#include "onesided/buffer/buffer_fetch.h"

#include "base/assert.h"
#include "core/sched/thread.h"
#include "onesided/buffer/buffer_share.h"

/* Completes a fetch: the data are here, and the description is that of the memory where they are.
 */
static void buffer_on_fetched(void *handle, const void *data, size_t bytes)
{
    struct ski_pe           *self  = ski_self;
    struct ski_buffer_fetch *fetch = ski_buffer_once_take(self, handle);

    (void)data, (void)bytes;
    if (!fetch)
        return;
    ski_assert(fetch->here.pe == self->pe && fetch->here.bytes == fetch->buffer->bytes);
    fetch->here.done =
        fetch->block ? ski_buffer_free_once(self, fetch->block) : skua_done_nothing();
    *fetch->buffer = fetch->here;
    fetch->done(fetch);
}

/* Cancels a fetch that has not begun. */
static void buffer_fetch_cancel(struct ski_pe *self, skua_completion fetched)
{
    struct ski_buffer_fetch *fetch = ski_buffer_once_take(self, fetched.with.arg);

    ski_assert(fetch);
    if (fetch->block)
        skua_buffer_free(fetch->block);
}

skua_status ski_buffer_fetch(struct ski_pe *self, struct ski_buffer_fetch *fetch,
                             skua_buffer *buffer, void *to)
{
    skua_buffer here, from = *buffer; /* both records may be gone when the call returns */
    skua_status status;

    fetch->buffer = buffer;
    fetch->block  = to ? NULL : skua_buffer_alloc(from.bytes);
    here          = fetch->here =
        skua_buffer_make(to ? to : fetch->block, from.bytes, SKUA_REGISTER_LATER,
                         ski_buffer_once(self, buffer_on_fetched, fetch), from.user);
    status = skua_buffer_get(&here, &from);
    if (status < 0)
        buffer_fetch_cancel(self, here.done);
    return status;
}

static void buffer_fetch_wake(struct ski_buffer_fetch *fetch)
{
    skua_complete(skua_done_count(fetch->arg), NULL, 0);
}

skua_status ski_buffer_fetch_wait(struct ski_pe *self, skua_buffer *buffer)
{
    skua_counter            over   = SKUA_COUNTER_INIT;
    struct ski_buffer_fetch fetch  = {.done = buffer_fetch_wake, .arg = &over};
    skua_status             status = ski_buffer_fetch(self, &fetch, buffer, NULL);

    ski_thread_pin(self);                            /* this PE has a record of the fetch */
    if (status >= 0 && !skua_counter_wait(&over, 1)) /* the job ends: nothing may name `fetch` */
        buffer_on_fetched(fetch.here.done.with.arg, NULL, 0);
    ski_thread_unpin(self);
    return status;
}
