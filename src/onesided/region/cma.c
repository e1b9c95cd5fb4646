/* SPDX-License-Identifier: Apache-2.0 */
/* cma.c - see cma.h. */
#include "onesided/region/cma.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/log.h"

#define BATCH 64             /* runs in a system call                      */
#define PIECE ((size_t)4096) /* of an update: it may be on a small stack   */

typedef ssize_t (*attach_fn)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                             unsigned long, unsigned long);

static skua_status_t refused(const char *call, int pid)
{
    if (errno == EPERM || errno == ENOSYS)
        return SKUA_ERR_UNSUPPORTED;
    if (errno == EFAULT)
        return ski_refuse(SKUA_ERR_SYSTEM,
                          "%s: the registered memory in process id %d is not there any more", call,
                          pid);
    return ski_fail(SKUA_ERR_SYSTEM, "%s: the registered memory in process id %d: %s", call, pid,
                    strerror(errno));
}

/* Takes @p done bytes off the front of a list. */
static void advance(struct iovec **list, unsigned *n, size_t done)
{
    while (*n > 0 && done >= (*list)->iov_len) {
        done -= (*list)->iov_len;
        ++*list, --*n;
    }
    if (*n > 0) {
        (*list)->iov_base = (char *)(*list)->iov_base + done;
        (*list)->iov_len -= done;
    }
}

/* Moves all of it; the system may do it in parts. */
static skua_status_t move(const char *call, attach_fn attach, int pid, struct iovec *local,
                          struct iovec *remote, unsigned n)
{
    unsigned locals = n, remotes = n;

    while (locals > 0) {
        ssize_t done = attach(pid, local, locals, remote, remotes, 0);
        if (done <= 0)
            return refused(call, pid);
        advance(&local, &locals, (size_t)done);
        advance(&remote, &remotes, (size_t)done);
    }
    return SKUA_OK;
}

static skua_status_t move_shape(const char *call, attach_fn attach, const struct ski_place *place,
                                const struct ski_shape *shape)
{
    struct iovec    local[BATCH], remote[BATCH];
    struct ski_runs runs;
    struct ski_run  run;
    unsigned        n      = 0;
    skua_status_t   status = SKUA_OK;

    ski_runs_begin(&runs, shape);
    while (status == SKUA_OK && ski_runs_next(&runs, &run)) {
        local[n]    = (struct iovec){run.local, run.bytes};
        remote[n++] = (struct iovec){place->memory + run.remote, run.bytes};
        if (n == BATCH) {
            status = move(call, attach, place->pid, local, remote, n);
            n      = 0;
        }
    }
    return status == SKUA_OK ? move(call, attach, place->pid, local, remote, n) : status;
}

skua_status_t ski_attach_put(const char *call, const struct ski_place *place,
                             const struct ski_shape *shape)
{
    return move_shape(call, process_vm_writev, place, shape);
}

skua_status_t ski_attach_get(const char *call, const struct ski_place *place,
                             const struct ski_shape *shape)
{
    return move_shape(call, process_vm_readv, place, shape);
}

skua_status_t ski_attach_read(const char *call, int pid, void *to, const char *from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(char *)(uintptr_t)from, bytes};
    return move(call, process_vm_readv, pid, &local, &remote, 1);
}

skua_status_t ski_attach_write(const char *call, int pid, char *to, const void *from, size_t bytes)
{
    struct iovec local = {(void *)(uintptr_t)from, bytes}, remote = {to, bytes};
    return move(call, process_vm_writev, pid, &local, &remote, 1);
}

/* Elements of one stripe, which the caller holds. */
static skua_status_t update_piece(const char *call, int pid, char *to, const char *from,
                                  size_t bytes, ski_update_fn fn, size_t element, const void *scale)
{
    _Alignas(16) char piece[PIECE];
    skua_status_t     status = ski_attach_read(call, pid, piece, to, bytes);

    if (status != SKUA_OK)
        return status;
    fn(piece, from, bytes / element, scale);
    return ski_attach_write(call, pid, to, piece, bytes);
}

skua_status_t ski_attach_update(const char *call, const struct ski_place *place,
                                const struct ski_shape *shape, ski_update_fn fn, size_t element,
                                const void *scale)
{
    struct ski_hold hold = {NULL};
    struct ski_runs runs;
    struct ski_run  run;
    skua_status_t   status = SKUA_OK;

    ski_runs_begin(&runs, shape);
    while (status == SKUA_OK && ski_runs_next(&runs, &run)) {
        char *to = place->memory + run.remote;
        while (status == SKUA_OK && run.bytes > 0) {
            size_t bytes = ski_stripe_bytes(to, run.bytes < PIECE ? run.bytes : PIECE, element);
            ski_hold_move(&hold, place->process, to);
            status = update_piece(call, place->pid, to, run.local, bytes, fn, element, scale);
            to += bytes, run.local += bytes, run.bytes -= bytes;
        }
    }
    ski_hold_end(&hold);
    return status;
}
