/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_check.h - whether a buffer is one that its PE has made, and whether this PE reaches its
 * memory. */
#ifndef SKI_BUFFER_CHECK_H
#define SKI_BUFFER_CHECK_H

#include <skua/buffer.h>

#include "base/config.h"
#include "core/message/addr_tag.h"
#include "core/pe/pe.h"

/** Returns the tag of a buffer (core/message/addr_tag.h), in a job that spans several hosts. */
static inline uint64_t ski_buffer_tag(const struct ski_pe *self, const skua_buffer *buffer)
{
    const uint64_t words[] = {(uint64_t)SKI_TAG_BUFFER << 32 | (uint32_t)buffer->pe,
                              (uintptr_t)buffer->at, buffer->bytes, (uint32_t)buffer->pid,
                              buffer->user};

    return ski_siphash(self->job->tag_key, words, sizeof words / sizeof *words);
}

/** Returns whether a buffer of a PE of this host, which may have arrived from another host, was
 * made here. */
static inline bool ski_buffer_is_authentic(const struct ski_pe *self, const skua_buffer *buffer)
{
    return !self->net || buffer->tag == ski_buffer_tag(self, buffer);
}

/** Returns whether @p self reaches the memory of a valid buffer by load and store. */
static inline bool ski_buffer_is_reachable(const struct ski_pe *self, const skua_buffer *buffer)
{
    const struct ski_job *job = self->job;

    if (buffer->pe == self->pe)
        return true;
    if (!ski_config.direct)
        return false;
    return ski_job_process_of(job, buffer->pe) == self->process ||
           (ski_job_index(job, buffer->pe) >= 0 && ski_arena_contains(job->arena, buffer->at));
}

/** Returns whether a buffer can exist: its owner is a PE which, if it is on this host, has made it.
 *  */
static inline bool ski_buffer_is_valid(const struct ski_pe *self, const skua_buffer *buffer)
{
    return buffer->pe >= 0 && buffer->pe < self->pes && (buffer->at || buffer->bytes == 0) &&
           (!self->net || ski_job_index(self->job, buffer->pe) < 0 ||
            ski_buffer_is_authentic(self, buffer));
}

/** Returns the memory of a buffer if @p self reaches it by load and store; else NULL. */
static inline void *ski_buffer_ptr(const struct ski_pe *self, const skua_buffer *buffer)
{
    return ski_buffer_is_valid(self, buffer) && ski_buffer_is_reachable(self, buffer) ? buffer->at
                                                                                      : NULL;
}

#endif
