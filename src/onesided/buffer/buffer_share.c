/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_share.c - see buffer_share.h. */
#include "onesided/buffer/buffer_share.h"

#include "base/assert.h"
#include "onesided/buffer/buffer_pe.h"

/* A buffer that several PEs or copies of a message use. */
struct buffer_share {
    uint32_t    left;
    skua_buffer buffer; /* its completion is called when the last user has finished */
};

skua_completion ski_buffer_once(struct ski_pe *self, skua_done_fn fn, void *item)
{
    uint64_t handle = ski_slots_add(&ski_buffer_pe(self)->once, item);

    return skua_done_call(fn, (void *)(uintptr_t)handle);
}

static void *buffer_once_find(const struct ski_pe *self, const void *handle)
{
    return ski_slots_find(&ski_buffer_pe(self)->once, (uintptr_t)handle);
}

void *ski_buffer_once_take(struct ski_pe *self, void *handle)
{
    void *item = buffer_once_find(self, handle);

    if (item)
        ski_slots_remove(&ski_buffer_pe(self)->once, (uintptr_t)handle);
    return item;
}

static void buffer_on_free_once(void *handle, const void *data, size_t bytes)
{
    void *block = ski_buffer_once_take(ski_self, handle);

    (void)data, (void)bytes;
    if (block)
        skua_buffer_free(block);
}

skua_completion ski_buffer_free_once(struct ski_pe *self, void *block)
{
    return ski_buffer_once(self, buffer_on_free_once, block);
}

static void buffer_share_done(void *handle, const void *data, size_t bytes)
{
    struct ski_pe       *self  = ski_self;
    struct buffer_share *share = buffer_once_find(self, handle);

    (void)data, (void)bytes;
    ski_assert(!share || share->left > 0);
    if (!share || --share->left > 0)
        return;
    ski_buffer_once_take(self, handle);
    skua_complete(share->buffer.done, &share->buffer, sizeof share->buffer);
    ski_pool_free(&self->pool, share);
}

/* A share is in the arena, as the messages that name it are: both go with it when the job ends. */
void ski_buffer_share(struct ski_pe *self, skua_buffer *buffer, uint32_t users)
{
    struct buffer_share *share = ski_pool_alloc(&self->pool, sizeof *share);

    if (!share)
        ski_fatal("PE %d has no memory for a buffer that several PEs use; raise SKUA_ARENA_SIZE",
                  self->pe);
    ski_assert(users > 0);
    *share       = (struct buffer_share){users, *buffer};
    buffer->done = ski_buffer_once(self, buffer_share_done, share);
}

void ski_buffer_share_add(struct ski_pe *self, const skua_buffer *buffer)
{
    struct buffer_share *share = buffer_once_find(self, buffer->done.with.arg);

    ski_assert(buffer->done.what.fn == buffer_share_done && share && share->left > 0);
    share->left++;
}

bool ski_buffer_is_shared(const struct ski_pe *self, const skua_buffer *buffer)
{
    const struct ski_job *job = self->job;

    return ski_buffer_ptr(self, buffer) &&
           (ski_arena_contains(job->arena, buffer->at) ||
            (job->local_processes == 1 && ski_config.direct) || job->local_pes == 1);
}
