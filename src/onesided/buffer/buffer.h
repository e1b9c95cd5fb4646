/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - buffers (skua/buffer.h): what moves between two of them, and by which path.
 *
 *   same process, arena of the host    a copy, at once
 *   other memory of the host           by the system (cma.h), at once
 *   other hosts, or if that is refused:
 *       a get          FETCH to the owner, which then puts; or by the driver, where that pays
 *       a put          into registered memory; if there is none yet: ASK, READY, and then the put
 *       small, NEVER   DATA: copied into a message and out of it
 *
 * A put by the owner, instead of a reply to a get, saves a copy: its data are sent from where they
 * lie.  The side that has put sends DONE to the other: right behind the data, where a message
 * cannot overtake them, else when it knows that they have arrived.
 */
#ifndef SKI_BUFFER_H
#define SKI_BUFFER_H

#include <skua/buffer.h>

#include "base/config.h"
#include "core/pe/pe.h"
#include "core/message/addr_tag.h"

/* The packets, all of one form; the bytes follow DATA. */
enum ski_buffer_verb {
    SKI_BUFFER_FETCH,
    SKI_BUFFER_ASK,
    SKI_BUFFER_READY,
    SKI_BUFFER_DATA,
    SKI_BUFFER_DONE
};

struct ski_buffer_packet {
    uint32_t    verb;
    uint32_t    once; /* `to` is registered for this transfer only */
    uint64_t    bytes;
    skua_buffer from, to;
};

#define SKI_BUFFER_LEAST (16 + 2 * sizeof(skua_buffer))

/** Handles a packet. */
void ski_on_buffer(skua_msg *msg);

/** Frees what a PE that ends keeps of its buffers. */
void ski_buffers_end(struct ski_pe *self);

/** Returns the tag of a buffer (core/message/addr_tag.h), in a job that spans several hosts. */
static inline uint64_t ski_buffer_tag(const struct ski_pe *self, const skua_buffer *buffer)
{
    const uint64_t words[] = {(uint64_t)SKI_TAG_BUFFER << 32 | (uint32_t)buffer->pe,
                              (uintptr_t)buffer->at, buffer->bytes, (uint32_t)buffer->pid,
                              buffer->user};

    return ski_siphash(self->job->tag_key, words, sizeof words / sizeof *words);
}

/** Returns whether a buffer of a PE of this host, which may have come from another host, was made
 *  here. */
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

/** Returns whether @p bytes at @p at should go to @p pe by reference rather than in a message. */
bool ski_zcopy_pays(const struct ski_pe *self, int pe, const void *at, size_t bytes);

/* Bytes from which on a transfer by reference pays: where both PEs reach the memory; by the system;
 * between hosts. */
struct ski_zcopy_threshold {
    size_t shared, host, net;
};

/** Returns the thresholds of the settings; those that are not set are measured, in the calling
 *  process, within 2 ms. */
struct ski_zcopy_threshold ski_zcopy_threshold_measure(void);

/** Describes thresholds for the log: "from 1024 bytes inside a process ...". */
#define SKI_ZCOPY_THRESHOLD_STR 200
const char *ski_zcopy_threshold_str(char                              text[SKI_ZCOPY_THRESHOLD_STR],
                                    const struct ski_zcopy_threshold *from);

/** Begins on a PE: PE 0 measures and logs the thresholds if the log level asks for it. */
void ski_zcopy_threshold_begin(const struct ski_pe *self);

/** Forgets the thresholds, whose settings may change.  Called by the thread that joins jobs, when
 *  no other thread is a PE. */
void ski_zcopy_threshold_reset(void);

#endif
