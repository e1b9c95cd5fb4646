/* SPDX-License-Identifier: Apache-2.0 */
/* cma.c - see cma.h. */
#include "onesided/rma/cma.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/assert.h"
#include "base/log.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/rma/iov.h"

#define BATCH 64             /* blocks in a system call */
#define PIECE ((size_t)4096) /* of an accumulate: it may be on a small stack */

typedef ssize_t (*attach_fn)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                             unsigned long, unsigned long);

/* errno stays: it distinguishes memory that is missing from a process that is.  While the job ends
 * either may be, which is no error. */
static skua_status cma_failed(const char *call, int pid)
{
    int         error = errno;
    skua_status status;

    if (error == EPERM || error == ENOSYS)
        return SKUA_ERR_UNSUPPORTED;
    if (ski_job_exiting(ski_onesided_job()))
        return SKUA_ERR_SYSTEM;
    if (error == EFAULT)
        status =
            ski_refuse(SKUA_ERR_SYSTEM,
                       "%s: memory of this process or of process id %d is not mapped", call, pid);
    else
        status = ski_fail(SKUA_ERR_SYSTEM, "%s: the memory of process id %d: %s", call, pid,
                          strerror(error));
    errno = error;
    return status;
}

/* Removes @p done bytes from the front of a list. */
static void cma_advance(struct iovec **list, unsigned *n, size_t done)
{
    while (*n > 0 && done >= (*list)->iov_len) {
        done -= (*list)->iov_len;
        ++*list, --*n;
    }
    ski_assert(*n > 0 || done == 0);
    if (*n > 0) {
        (*list)->iov_base = (char *)(*list)->iov_base + done;
        (*list)->iov_len -= done;
    }
}

/* Moves all bytes; the system may do it in parts. */
static skua_status cma_move(const char *call, attach_fn attach, int pid, struct iovec *local,
                            struct iovec *remote, unsigned n)
{
    unsigned locals = n, remotes = n;

    while (locals > 0) {
        ssize_t done = attach(pid, local, locals, remote, remotes, 0);
        if (done <= 0)
            return cma_failed(call, pid);
        cma_advance(&local, &locals, (size_t)done);
        cma_advance(&remote, &remotes, (size_t)done);
    }
    return SKUA_OK;
}

/* Copies all blocks of a transfer, BATCH in a system call. */
static skua_status cma_move_datatype(const char *call, attach_fn attach,
                                     const struct ski_resolved *target,
                                     const struct ski_datatype *datatype)
{
    struct iovec        local[BATCH], remote[BATCH];
    struct ski_iov_iter iter;
    struct ski_iov      iov;
    unsigned            n      = 0;
    skua_status         status = SKUA_OK;

    ski_iov_iter_begin(&iter, datatype);
    while (status == SKUA_OK && ski_iov_iter_next(&iter, &iov)) {
        local[n]    = (struct iovec){iov.local, iov.bytes};
        remote[n++] = (struct iovec){target->memory + iov.remote, iov.bytes};
        if (n == BATCH) {
            status = cma_move(call, attach, target->pid, local, remote, n);
            n      = 0;
        }
    }
    return status == SKUA_OK ? cma_move(call, attach, target->pid, local, remote, n) : status;
}

skua_status ski_cma_put(const char *call, const struct ski_resolved *target,
                        const struct ski_datatype *datatype)
{
    return cma_move_datatype(call, process_vm_writev, target, datatype);
}

skua_status ski_cma_get(const char *call, const struct ski_resolved *target,
                        const struct ski_datatype *datatype)
{
    return cma_move_datatype(call, process_vm_readv, target, datatype);
}

skua_status ski_cma_read(const char *call, int pid, void *to, const char *from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(char *)(uintptr_t)from, bytes};
    return cma_move(call, process_vm_readv, pid, &local, &remote, 1);
}

bool ski_cma_reaches(int pid, const char *at)
{
    char         byte;
    struct iovec local = {&byte, 1}, remote = {(char *)(uintptr_t)at, 1};

    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1;
}

bool ski_cma_try_write(int pid, char *to, const void *from, size_t bytes)
{
    while (bytes > 0) {
        struct iovec local = {(void *)(uintptr_t)from, bytes}, remote = {to, bytes};
        ssize_t      done = process_vm_writev(pid, &local, 1, &remote, 1, 0);

        if (done <= 0)
            return false;
        to += done, from = (const char *)from + done, bytes -= (size_t)done;
    }
    return true;
}

skua_status ski_cma_write(const char *call, int pid, char *to, const void *from, size_t bytes)
{
    struct iovec local = {(void *)(uintptr_t)from, bytes}, remote = {to, bytes};
    return cma_move(call, process_vm_writev, pid, &local, &remote, 1);
}

/* Accumulates elements of one stripe, which the caller holds. */
static skua_status cma_accumulate_block(const char *call, int pid, char *to, const char *from,
                                        size_t bytes, ski_accumulate_fn fn, size_t element,
                                        const void *scale)
{
    _Alignas(16) char piece[PIECE];
    skua_status       status = ski_cma_read(call, pid, piece, to, bytes);

    if (status != SKUA_OK)
        return status;
    fn(piece, from, bytes / element, scale);
    return ski_cma_write(call, pid, to, piece, bytes);
}

skua_status ski_cma_accumulate(const char *call, const struct ski_resolved *target,
                               const struct ski_datatype *datatype, ski_accumulate_fn fn,
                               size_t element, const void *scale)
{
    struct ski_stripe_lock lock = {NULL};
    struct ski_iov_iter    iter;
    struct ski_iov         iov;
    skua_status            status = SKUA_OK;

    ski_iov_iter_begin(&iter, datatype);
    while (status == SKUA_OK && ski_iov_iter_next(&iter, &iov)) {
        char *to = target->memory + iov.remote;
        while (status == SKUA_OK && iov.bytes > 0) {
            size_t bytes = ski_stripe_bytes(to, iov.bytes < PIECE ? iov.bytes : PIECE, element);
            ski_stripe_lock_move(&lock, target->process, to);
            status =
                cma_accumulate_block(call, target->pid, to, iov.local, bytes, fn, element, scale);
            to += bytes, iov.local += bytes, iov.bytes -= bytes;
        }
    }
    ski_stripe_lock_release(&lock);
    return status;
}
