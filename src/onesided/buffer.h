/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - buffers (skua/buffer.h): what moves between two of them, and how.
 *
 *   same process, arena of the host    a copy, at once
 *   other memory of the host           through the system (attach.h), at once
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
#include "core/pe.h"

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

/** Where @p self reaches the memory of a buffer by load and store; else NULL. */
static inline void *ski_buffer_reach(const struct ski_pe *self, const skua_buffer *buffer)
{
    const struct ski_job *job = self->job;

    if (buffer->pe == self->pe)
        return buffer->at;
    if (!ski_config.direct)
        return NULL;
    if (ski_job_process_of(job, buffer->pe) == self->process ||
        (ski_job_index(job, buffer->pe) >= 0 && ski_arena_contains(job->arena, buffer->at)))
        return buffer->at;
    return NULL;
}

/** Whether there can be such a buffer: that its owner is a PE. */
static inline bool ski_buffer_sound(const struct ski_pe *self, const skua_buffer *buffer)
{
    return buffer->pe >= 0 && buffer->pe < self->pes && (buffer->at || buffer->bytes == 0);
}

/** Whether @p bytes at @p at should go to @p pe by reference, rather than in a message. */
bool ski_zero_copy_pays(const struct ski_pe *self, int pe, const void *at, size_t bytes);

/* From how many bytes on: where both reach the memory; through the system; between hosts.
 * As set, or measured (measure.c). */
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
