/* SPDX-License-Identifier: Apache-2.0 */
/* am_sent.c - see am_sent.h. */
#include "onesided/rma/am_sent.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/sched/wait.h"
#include "onesided/rma/rma_backlog.h"
#include "onesided/rma/rma_request.h"

#define AM_SENT_INDEX_BITS 24 /* of an id: the slot of the request; the others are its turn */

static void am_sent_grow(struct ski_rma_pe *rma)
{
    uint32_t room = rma->sent_room ? 2 * rma->sent_room : 32;

    rma->sent = ski_realloc(rma->sent, room * sizeof *rma->sent);
    memset(rma->sent + rma->sent_room, 0, (room - rma->sent_room) * sizeof *rma->sent);
    for (uint32_t i = rma->sent_room; i < room; i++)
        rma->sent[i].next_free = i + 1;
    rma->sent_free = rma->sent_room;
    rma->sent_room = room;
}

uint32_t ski_am_sent_add(struct ski_pe *self, const struct ski_am_sent *request)
{
    struct ski_rma_pe  *rma = ski_rma_pe(self);
    struct ski_am_sent *sent;
    uint32_t            index;

    if (rma->sent_free == rma->sent_room)
        am_sent_grow(rma);
    index = rma->sent_free;
    if (index >= (1u << AM_SENT_INDEX_BITS) - 1) /* the last id is SKI_AM_NO_ID */
        ski_fatal("PE %d has more than %d one-sided requests in flight; flush more often", self->pe,
                  1 << AM_SENT_INDEX_BITS);
    sent = &rma->sent[index];
    ski_assert(!sent->req && !request->filling);
    rma->sent_free   = sent->next_free;
    sent->req        = request->req;
    sent->bytes      = request->bytes;
    sent->data_bytes = request->data_bytes;
    sent->run_count  = request->run_count;
    sent->runs       = NULL;
    sent->filling    = false;
    sent->pool       = request->pool;
    sent->server     = request->server;
    if (request->runs) {
        sent->runs = ski_malloc(request->run_count * sizeof *sent->runs);
        memcpy(sent->runs, request->runs, request->run_count * sizeof *sent->runs);
    }
    rma->am_bytes[request->pool] += request->bytes;
    return (uint32_t)sent->turn << AM_SENT_INDEX_BITS | index;
}

struct ski_am_sent *ski_am_sent_find(const struct ski_rma_pe *rma, int server, uint32_t id)
{
    uint32_t index = id & ((1u << AM_SENT_INDEX_BITS) - 1);

    if (index >= rma->sent_room || !rma->sent[index].req ||
        rma->sent[index].turn != id >> AM_SENT_INDEX_BITS || rma->sent[index].server != server)
        return NULL;
    return &rma->sent[index];
}

static void am_sent_remove(struct ski_rma_pe *rma, struct ski_am_sent *sent)
{
    ski_assert(sent->req && !sent->filling);
    free(sent->runs);
    sent->req = NULL;
    sent->turn++;
    sent->next_free = rma->sent_free;
    rma->sent_free  = (uint32_t)(sent - rma->sent);
}

void ski_am_sent_end(struct ski_pe *self, struct ski_am_sent *sent)
{
    struct ski_rma_pe      *rma = ski_rma_pe(self);
    struct ski_rma_request *req = sent->req;

    ski_assert(rma->am_bytes[sent->pool] >= sent->bytes && req->parts > 0);
    rma->am_bytes[sent->pool] -= sent->bytes;
    am_sent_remove(rma, sent);
    if (SKI_UNLIKELY(rma->wanting_room != NULL))
        ski_rma_backlog_room(self);
    if (--req->parts == 0 && req->sealed)
        ski_rma_request_end(self, req);
    else
        ski_wake_all(self, &rma->waiters); /* for room in the pool */
}

/* Returns the request that an acknowledgement without data is for; NULL: there is none. */
static struct ski_am_sent *am_sent_match_ack(const struct ski_rma_pe *rma, int server, uint32_t id)
{
    struct ski_am_sent *sent = ski_am_sent_find(rma, server, id);

    return sent && !sent->filling && !sent->runs && sent->data_bytes == 0 ? sent : NULL;
}

bool ski_am_sent_ack(struct ski_pe *self, int server, uint32_t id)
{
    struct ski_am_sent *sent = am_sent_match_ack(ski_rma_pe(self), server, id);

    if (sent)
        ski_am_sent_end(self, sent);
    return sent != NULL;
}

bool ski_am_sent_acks_quietly(const struct ski_rma_pe *rma, int server, uint32_t id)
{
    const struct ski_am_sent     *sent = am_sent_match_ack(rma, server, id);
    const struct ski_rma_request *req  = sent ? sent->req : NULL;

    return req && !rma->waiters && !rma->wanting_room && req->on_pe->backlog == 0 && !req->region &&
           !req->handle && !req->waited && !req->old && req->status == SKUA_OK &&
           !(req->local.kind | req->remote_done.kind);
}

void ski_am_sent_free(struct ski_rma_pe *rma)
{
    for (uint32_t i = 0; i < rma->sent_room; i++)
        if (rma->sent[i].req)
            free(rma->sent[i].runs);
    free(rma->sent);
}
