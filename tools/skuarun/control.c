/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - see control.h. */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "boot/crash_report.h"
#include "fd.h"

#define RECORD_MOST (sizeof(struct ski_control) + SKI_CONTROL_MOST)

static void answer(void *arg, int index, const struct ski_control *head, const char *value)
{
    struct control *c       = arg;
    struct iovec    parts[] = {{(void *)(uintptr_t)head, sizeof *head},
                               {(void *)(uintptr_t)value, head->bytes}};
    struct msghdr   record  = {.msg_iov = parts, .msg_iovlen = 2};

    /* There is room: it has one question at a time.  If it is gone, that is seen elsewhere. */
    sendmsg(c->launch->child[index].control, &record, MSG_DONTWAIT | MSG_NOSIGNAL);
    c->asks[index] = false;
}

void control_begin(struct control *c, struct launch *launch, struct channel *channel)
{
    c->launch  = launch;
    c->channel = channel;
    c->table   = table_create(TABLE_KEYS * (size_t)launch->job->processes, answer, c);
    c->asks    = ski_calloc((size_t)launch->job->local_processes, sizeof *c->asks);
}

void control_end(struct control *c)
{
    table_destroy(c->table);
    free(c->asks);
}

void control_fill(const struct control *c, struct pollfd *polls)
{
    for (int i = 0; i < c->launch->job->local_processes; i++)
        polls[i] = (struct pollfd){.fd = c->launch->child[i].control, .events = POLLIN};
}

/* A process tells its own value, once. */
static bool put(struct control *c, int index, const struct ski_control *head, const char *value)
{
    if (head->process != c->launch->job->process[index].number || !table_put(c->table, head, value))
        return false;
    channel_send(c->channel, FRAME_PUT, head, sizeof *head, value, head->bytes);
    return true;
}

static bool get(struct control *c, int index, const struct ski_control *head)
{
    enum table_found found;

    if (c->asks[index])
        return false;
    c->asks[index] = true;
    found          = table_get(c->table, head, index);
    if (found == TABLE_FIRST)
        channel_send(c->channel, FRAME_GET, head, sizeof *head, NULL, 0);
    return found != TABLE_NO_ROOM;
}

static bool serve_one(struct control *c, int index, const char *record, size_t bytes)
{
    int                processes = c->launch->job->processes;
    struct ski_control head;

    if (control_decode(SKI_CONTROL_PUT, processes, record, bytes, &head))
        return put(c, index, &head, record + sizeof head);
    return control_decode(SKI_CONTROL_GET, processes, record, bytes, &head) && get(c, index, &head);
}

bool control_serve(struct control *c, const struct pollfd *polls, char why[WHY_BYTES])
{
    static char record[RECORD_MOST + 1]; /* one more, to see what is too long */
    char        who[64];

    for (int i = 0; i < c->launch->job->local_processes; i++) {
        struct child *child = &c->launch->child[i];
        ssize_t       n     = 0;

        if (!polls[i].revents)
            continue;
        n = recv(child->control, record, sizeof record, MSG_DONTWAIT);
        if (n > 0 && !serve_one(c, i, record, (size_t)n)) {
            ski_process_text(c->launch->job, c->launch->job->process[i].number, -1, who,
                             sizeof who);
            snprintf(why, WHY_BYTES, "%s sent a request that makes no sense", who);
            return false;
        }
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            fd_close(&child->control);
    }
    return true;
}

bool control_value(struct control *c, const struct frame *frame)
{
    struct ski_control head;

    if (!control_decode(SKI_CONTROL_VALUE, c->launch->job->processes, frame->data, frame->bytes,
                        &head))
        return false;
    table_put(c->table, &head, frame->data + sizeof head); /* it may be ours, and known */
    return true;
}
