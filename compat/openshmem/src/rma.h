/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma.h - put and get: the fast paths, and the functions of rma.c for all other cases.
 *
 * A transfer to memory that is mapped in this process is a copy. Otherwise Skua performs it: a put
 * returns when its source may change, a get when its data have arrived, the non-blocking forms at
 * once. Skua also copies large blocks of mapped memory, because its copy is faster than memcpy() at
 * some sizes.
 */
#ifndef SHMEMI_RMA_H
#define SHMEMI_RMA_H

#include "symmetric.h"

void shmemi_put_net(const char *call, void *dest, const void *source, size_t bytes, int pe);
void shmemi_get_net(const char *call, void *dest, const void *source, size_t bytes, int pe);
void shmemi_put_nbi_net(const char *call, void *dest, const void *source, size_t bytes, int pe);
void shmemi_get_nbi_net(const char *call, void *dest, const void *source, size_t bytes, int pe);

/** The number of bytes from which on Skua copies mapped memory, too. */
#define SHMEMI_COPY_LARGE ((size_t)384 << 10)

/** Copies @p bytes, a single word without a call. Returns false if Skua has to copy them. */
static inline bool shmemi_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t)) {
        memcpy(to, from, sizeof(uint64_t));
        return true;
    }
    if (SHMEMI_UNLIKELY(bytes >= SHMEMI_COPY_LARGE))
        return false;
    memcpy(to, from, bytes);
    return true;
}

static inline void shmemi_put(const char *call, void *dest, const void *source, size_t bytes,
                              int pe)
{
    void *to = shmemi_direct(dest, bytes, pe);

    if (SHMEMI_UNLIKELY(!to || !shmemi_copy(to, source, bytes)))
        shmemi_put_net(call, dest, source, bytes, pe);
}

static inline void shmemi_get(const char *call, void *dest, const void *source, size_t bytes,
                              int pe)
{
    const void *from = shmemi_direct(source, bytes, pe);

    if (SHMEMI_UNLIKELY(!from || !shmemi_copy(dest, from, bytes)))
        shmemi_get_net(call, dest, source, bytes, pe);
}

static inline void shmemi_put_nbi(const char *call, void *dest, const void *source, size_t bytes,
                                  int pe)
{
    void *to = shmemi_direct(dest, bytes, pe);

    if (SHMEMI_UNLIKELY(!to || !shmemi_copy(to, source, bytes)))
        shmemi_put_nbi_net(call, dest, source, bytes, pe);
}

static inline void shmemi_get_nbi(const char *call, void *dest, const void *source, size_t bytes,
                                  int pe)
{
    const void *from = shmemi_direct(source, bytes, pe);

    if (SHMEMI_UNLIKELY(!from || !shmemi_copy(dest, from, bytes)))
        shmemi_get_nbi_net(call, dest, source, bytes, pe);
}

/** One side of a strided transfer: the first element, and the bytes from one to the next. */
struct shmemi_stride {
    void     *at;
    ptrdiff_t step;
};

/** Puts @p count elements of @p size bytes at constant distances on both sides. */
void shmemi_iput(const char *call, struct shmemi_stride dest, struct shmemi_stride source,
                 size_t size, size_t count, int pe);

/** Gets @p count elements of @p size bytes at constant distances on both sides. */
void shmemi_iget(const char *call, struct shmemi_stride dest, struct shmemi_stride source,
                 size_t size, size_t count, int pe);

/** Orders the caller's operations on each PE. */
void shmemi_fence(void);

/** Completes the caller's operations. */
void shmemi_quiet(void);

#endif
