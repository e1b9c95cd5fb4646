/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric.h - symmetric memory: its description on this PE, and the translation of addresses.
 *
 * There are two segments: the heap, followed by the words of the library, and the data segment of
 * the executable (data_segment.h). An address in a segment denotes the object at the same offset on
 * another PE. The segments of PEs that share memory are mapped in this process, and a put to them
 * is a copy. `peer` holds the addresses of these mappings, and NULL for other PEs, which one-sided
 * operations of Skua access.
 *
 * Fast paths call shmemi_direct() and leave everything else to one cold function that checks the
 * arguments and either ends the job with a message that names the call or goes through Skua. With
 * SHMEM_DEBUG, and before shmem_init(), the segments appear empty to fast paths, so that every call
 * is checked.
 */
#ifndef SHMEMI_SYMMETRIC_H
#define SHMEMI_SYMMETRIC_H

#include <pthread.h>
#include <skua/skua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symmetric_heap.h"

#define SHMEMI_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SHMEMI_UNLIKELY(x) __builtin_expect(!!(x), 0)

/** The alignment of the heap on every PE, and therefore the largest alignment of an allocation. */
#define SHMEMI_HEAP_BASE_ALIGN ((size_t)16 << 20)

enum shmemi_segment_kind { SHMEMI_HEAP, SHMEMI_DATA, SHMEMI_SEGMENTS };

struct shmemi_segment {
    uintptr_t   base;  /* address of the segment on this PE */
    size_t      open;  /* bytes that fast paths see: all, or 0 if calls are checked */
    size_t      bytes; /* size of the segment on every PE */
    char      **peer;  /* address in this process of each PE's segment; NULL: not mapped */
    skua_gaddr *at;    /* global address of each PE's segment */
};

struct shmemi_job {
    struct shmemi_segment segment[SHMEMI_SEGMENTS];
    int                   pe, pes;
    bool                  running;  /* between shmem_init() and shmem_finalize()              */
    bool                  net;      /* some PE is accessed through Skua: a quiet has to flush */
    bool                  messages; /* between hosts, flags may be messages (collective.c) */
    bool                  debug;    /* SHMEM_DEBUG                                            */
    unsigned              spin;     /* number of polls of a wait at full speed                */
    int                   thread_level;
    pthread_t             thread;     /* the thread that is a PE of Skua                    */
    size_t                heap_bytes; /* bytes of the heap; the words of the library follow */
    struct shmemi_heap    heap;       /* the allocations of the heap                        */
};

extern struct shmemi_job shmemi_job;

/** Returns the bytes of @p count elements of @p size bytes, or SIZE_MAX, which is larger than any
 *  memory. */
static inline size_t shmemi_bytes(size_t count, size_t size)
{
    size_t bytes;

    return SHMEMI_UNLIKELY(__builtin_mul_overflow(count, size, &bytes)) ? SIZE_MAX : bytes;
}

/** Returns the address in this process of @p bytes at the symmetric address @p addr of @p pe, or
 *  NULL if they are not mapped or the arguments have to be checked. */
static inline void *shmemi_direct(const void *addr, size_t bytes, int pe)
{
    const struct shmemi_segment *s      = &shmemi_job.segment[SHMEMI_HEAP];
    uintptr_t                    offset = (uintptr_t)addr - s->base;
    char                        *base;

    if (SHMEMI_UNLIKELY(offset >= s->open)) {
        s      = &shmemi_job.segment[SHMEMI_DATA];
        offset = (uintptr_t)addr - s->base;
        if (offset >= s->open)
            return NULL;
    }
    if (SHMEMI_UNLIKELY(bytes > s->open - offset || (unsigned)pe >= (unsigned)shmemi_job.pes))
        return NULL;
    base = s->peer[pe];
    return base ? base + offset : NULL;
}

/** Returns the address in this process of @p bytes at @p addr of @p pe, or NULL and their global
 *  address in *at. Arguments that are wrong end the job with an error that names @p call. */
void *shmemi_locate(const char *call, const void *addr, size_t bytes, int pe, skua_gaddr *at);

/** Ends the job unless it is between shmem_init() and shmem_finalize(). */
void shmemi_check_running(const char *call);

/** Ends the job if a one-sided operation of @p call on @p pe has failed. */
void shmemi_check_status(const char *call, int pe, skua_status status);

/** Returns the segment that @p addr is in, or NULL. */
const struct shmemi_segment *shmemi_segment_of(const void *addr);

/** Returns true if the calling thread is a PE of Skua, which may use handles and completions. */
static inline bool shmemi_on_pe(void)
{
    return pthread_equal(pthread_self(), shmemi_job.thread);
}

#endif
