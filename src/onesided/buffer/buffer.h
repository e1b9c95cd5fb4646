/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - buffers (skua/buffer.h): what moves between two of them, and how.
 *
 *   same process, arena of the host    a copy, at once
 *   other memory of the host           through the system (cma.h), at once
 *   other hosts, or if that is refused:
 *       a get          FETCH to the owner, who then puts; or by the driver, where it pays
 *       a put          into the registered memory; if there is none yet: ASK, READY, and then
 *       small, NEVER   DATA: copied into a message and out of it
 *
 * That the owner puts, instead of answering a get, saves a copy: a put is sent from where its
 * data are.  Who has put says OVER to the other side: right behind the data, where the message
 * cannot overtake them, else when it knows that they are there.
 */
#ifndef SKI_BUFFER_H
#define SKI_BUFFER_H

#include <skua/buffer.h>

#include "base/config.h"
#include "core/pe/pe.h"
#include "core/message/addr_tag.h"

/* The packets, all of one form; DATA is followed by the bytes. */
enum ski_buffer_verb {
    SKI_BUFFER_FETCH,
    SKI_BUFFER_ASK,
    SKI_BUFFER_READY,
    SKI_BUFFER_DATA,
    SKI_BUFFER_OVER
};

struct ski_buffer_packet {
    uint32_t    verb;
    uint32_t    lent; /* `to` is registered for this transfer alone */
    uint64_t    bytes;
    skua_buffer from, to;
};

#define SKI_BUFFER_LEAST (16 + 2 * sizeof(skua_buffer))

void ski_on_buffer(skua_msg *msg);

struct ski_origin;
void ski_buffers_end(struct ski_origin *origin);

/** The tag of a buffer (core/message/addr_tag.h), in a job that is spread. */
static inline uint64_t ski_buffer_tag(const struct ski_pe *self, const skua_buffer *buffer)
{
    const uint64_t words[] = {(uint64_t)SKI_TAG_BUFFER << 32 | (uint32_t)buffer->pe,
                              (uintptr_t)buffer->at, buffer->bytes, (uint32_t)buffer->pid,
                              buffer->user};

    return ski_siphash(self->job->tag_key, words, sizeof words / sizeof *words);
}

/** Whether a buffer of a PE of this host, which may have come from another, was made here. */
static inline bool ski_buffer_proven(const struct ski_pe *self, const skua_buffer *buffer)
{
    return !self->net || buffer->tag == ski_buffer_tag(self, buffer);
}

/** Whether @p self could reach the memory of a buffer, if it is one, by load and store. */
static inline bool ski_buffer_reachable(const struct ski_pe *self, const skua_buffer *buffer)
{
    const struct ski_job *job = self->job;

    if (buffer->pe == self->pe)
        return true;
    if (!ski_config.direct)
        return false;
    return ski_job_process_of(job, buffer->pe) == self->process ||
           (ski_job_index(job, buffer->pe) >= 0 && ski_arena_contains(job->arena, buffer->at));
}

/** Whether there can be such a buffer: that its owner is a PE, and has made it if it is of this
 *  host. */
static inline bool ski_buffer_sound(const struct ski_pe *self, const skua_buffer *buffer)
{
    return buffer->pe >= 0 && buffer->pe < self->pes && (buffer->at || buffer->bytes == 0) &&
           (!self->net || ski_job_index(self->job, buffer->pe) < 0 ||
            ski_buffer_proven(self, buffer));
}

/** Where @p self reaches the memory of a buffer by load and store; else NULL. */
static inline void *ski_buffer_reach(const struct ski_pe *self, const skua_buffer *buffer)
{
    return ski_buffer_sound(self, buffer) && ski_buffer_reachable(self, buffer) ? buffer->at : NULL;
}

/** Whether @p bytes at @p at should go to @p pe by reference, rather than in a message. */
bool ski_zero_copy_pays(const struct ski_pe *self, int pe, const void *at, size_t bytes);

/* From how many bytes on: where both reach the memory; through the system; between hosts.
 * As set, or measured (zcopy_threshold.c). */
struct ski_zero_copy {
    size_t shared, host, net;
};

/** As set, and where nothing is set as measured, in the calling process, within 2 ms. */
struct ski_zero_copy ski_zero_copy_measure(void);

/** For people: "from 1024 bytes inside a process ...". */
#define SKI_ZERO_COPY_TEXT 200
const char *ski_zero_copy_text(char text[SKI_ZERO_COPY_TEXT], const struct ski_zero_copy *from);

/** A PE begins: if the log tells such things, it tells this. */
void ski_zero_copy_begin(const struct ski_pe *self);

#endif
