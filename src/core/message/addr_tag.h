/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr_tag.h - the proof that an address which comes from another host is one of this host's own.
 *
 * Completions, buffers, threads and channels are values with addresses in them that a program may
 * send to other hosts, and that come back.  A packet may contain anything, even if its sender knows
 * the secret of the job, so an address is used only with its *tag*: a keyed hash of the address and
 * of what it is the address of.  The key is random, is kept in the arena (boot/job.h) and never
 * leaves the host.
 *
 * A tag proves that this host made the value, not that the value is used for the first time: a
 * completion may happen many times, so one that was sent away may be replayed.
 *
 * A job on one host receives nothing from elsewhere.  It makes and checks no tags: they are 0.
 */
#ifndef SKI_ADDR_TAG_H
#define SKI_ADDR_TAG_H

#include "base/siphash.h"
#include "core/pe/pe.h"

/* The kinds of addresses that have tags. */
enum ski_addr_tag_use {
    SKI_TAG_DONE   = 1, /* a completion; plus its kind (completion.c) */
    SKI_TAG_THREAD = 16,
    SKI_TAG_BUFFER,
    SKI_TAG_NOCOPY,
    SKI_TAG_CHANNEL,
    SKI_TAG_LEARNED_CHANNEL,
    SKI_TAG_INPLACE_COPY,
    SKI_TAG_NOCOPY_MSG,
};

/** Returns the tag of an address of PE @p pe; @p with is a further word that the tag protects. */
static inline uint64_t ski_addr_tag(const struct ski_job *job, unsigned what, int pe,
                                    uint64_t address, uint64_t with)
{
    const uint64_t words[] = {(uint64_t)what << 32 | (uint32_t)pe, address, with};

    return ski_job_is_distributed(job) ? ski_siphash(job->tag_key, words, 3) : 0;
}

/** Returns whether @p bytes at @p at, a multiple of a cache line, are in the arena and may be read.
 */
static inline bool ski_addr_tag_readable(const struct ski_job *job, const void *at, size_t bytes)
{
    const struct ski_arena *arena  = job->arena;
    uintptr_t               offset = (uintptr_t)at - arena->base;

    return (uintptr_t)at % SKI_CACHE_LINE == 0 && offset < arena->bytes &&
           bytes <= arena->bytes - offset;
}

/** Reads the word at @p at, which is in the arena but may be free: the sanitizer does not check the
 *  access. */
__attribute__((no_sanitize("address"))) static inline uint64_t ski_addr_tag_peek(const void *at)
{
    return *(const volatile uint64_t *)at;
}

/** Reads the number of a PE at @p at, which is in the arena but may be free. */
__attribute__((no_sanitize("address"))) static inline int32_t ski_addr_tag_peek_pe(
    const int32_t *at)
{
    return *(const volatile int32_t *)at;
}

#endif
