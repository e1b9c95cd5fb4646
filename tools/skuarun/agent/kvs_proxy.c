/* SPDX-License-Identifier: Apache-2.0 */
/* kvs_proxy.c - see kvs_proxy.h. */
#include "agent/kvs_proxy.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "boot/crash_report.h"
#include "common/fd.h"

#define RECORD_MAX (sizeof(struct ski_control) + SKI_CONTROL_MAX)

static void kvs_proxy_answer(void *arg, int index, const struct ski_control *head,
                             const char *value)
{
    struct kvs_proxy *c       = arg;
    struct iovec      parts[] = {{(void *)(uintptr_t)head, sizeof *head},
                                 {(void *)(uintptr_t)value, head->bytes}};
    struct msghdr     record  = {.msg_iov = parts, .msg_iovlen = 2};

    /* The socket has room, because a process has one get at a time.  If the process has ended, its
     * exit is detected elsewhere. */
    sendmsg(c->procs->child[index].control, &record, MSG_DONTWAIT | MSG_NOSIGNAL);
    c->get_pending[index] = false;
}

void kvs_proxy_begin(struct kvs_proxy *c, struct procs *procs, struct frame_conn *conn)
{
    c->procs = procs;
    c->conn  = conn;
    c->kvs = kvs_create(KVS_KEYS_PER_PROCESS * (size_t)procs->job->processes, kvs_proxy_answer, c);
    c->get_pending = ski_calloc((size_t)procs->job->local_processes, sizeof *c->get_pending);
}

void kvs_proxy_end(struct kvs_proxy *c)
{
    kvs_destroy(c->kvs);
    free(c->get_pending);
}

void kvs_proxy_poll_fill(const struct kvs_proxy *c, struct pollfd *polls)
{
    for (int i = 0; i < c->procs->job->local_processes; i++)
        polls[i] = (struct pollfd){.fd = c->procs->child[i].control, .events = POLLIN};
}

/* A process may put a value under its own number only, and once. */
static bool kvs_proxy_put(struct kvs_proxy *c, int index, const struct ski_control *head,
                          const char *value)
{
    if (head->process != c->procs->job->process[index].number || !kvs_put(c->kvs, head, value))
        return false;
    frame_conn_send(c->conn, FRAME_PUT, head, sizeof *head, value, head->bytes);
    return true;
}

static bool kvs_proxy_get(struct kvs_proxy *c, int index, const struct ski_control *head)
{
    enum kvs_result found;

    if (c->get_pending[index])
        return false;
    c->get_pending[index] = true;
    found                 = kvs_get(c->kvs, head, index);
    if (found == KVS_FIRST)
        frame_conn_send(c->conn, FRAME_GET, head, sizeof *head, NULL, 0);
    return found != KVS_FULL;
}

static bool kvs_proxy_serve_one(struct kvs_proxy *c, int index, const char *record, size_t bytes)
{
    int                processes = c->procs->job->processes;
    struct ski_control head;

    if (kvs_decode(SKI_CONTROL_PUT, processes, record, bytes, &head))
        return kvs_proxy_put(c, index, &head, record + sizeof head);
    return kvs_decode(SKI_CONTROL_GET, processes, record, bytes, &head) &&
           kvs_proxy_get(c, index, &head);
}

bool kvs_proxy_poll_serve(struct kvs_proxy *c, const struct pollfd *polls,
                          char reason[REASON_BYTES])
{
    static char record[RECORD_MAX + 1]; /* one byte more, to recognise a record that is too long */
    char        process_text[64];

    for (int i = 0; i < c->procs->job->local_processes; i++) {
        struct procs_child *child = &c->procs->child[i];
        ssize_t             n     = 0;

        if (!polls[i].revents)
            continue;
        n = recv(child->control, record, sizeof record, MSG_DONTWAIT);
        if (n > 0 && !kvs_proxy_serve_one(c, i, record, (size_t)n)) {
            ski_process_text(c->procs->job, c->procs->job->process[i].number, -1, process_text,
                             sizeof process_text);
            snprintf(reason, REASON_BYTES, "%s sent an invalid request on its control connection",
                     process_text);
            return false;
        }
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            fd_close(&child->control);
    }
    return true;
}

bool kvs_proxy_on_value(struct kvs_proxy *c, const struct frame *frame)
{
    struct ski_control head;

    if (!kvs_decode(SKI_CONTROL_VALUE, c->procs->job->processes, frame->data, frame->bytes, &head))
        return false;
    kvs_put(c->kvs, &head,
            frame->data + sizeof head); /* a value that one of our processes put is known already */
    return true;
}
