/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c - see pieces.h. */
#include "transport/ucx/pieces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PIECE_ID 2

struct header {
    uint64_t key;
    int32_t  pe;
    uint32_t number;
    uint64_t bytes, at;
};

/* A packet of which pieces have come. */
struct ski_incoming {
    struct ski_incoming *next;
    struct header        of;   /* its first piece's           */
    char                *room; /* NULL: it is dropped         */
    size_t               left; /* bytes that have not come    */
};

/* A packet of which pieces are on the way.  It goes when UCX has none of them left, and
 * the call that sends them is over. */
struct outgoing {
    struct ski_pieces *pieces;
    void              *packet;
    size_t             left;     /* pieces that UCX holds, and the call    */
    struct header      header[]; /* which UCX reads as long as it has them */
};

/* ---- sending ---------------------------------------------------------------------- */

static void on_piece_sent(void *request, ucs_status_t status, void *arg)
{
    struct outgoing   *out    = arg;
    struct ski_pieces *pieces = out->pieces;

    (void)status; /* a failure is told by the endpoint */
    pieces->events++;
    ucp_request_free(request);
    if (--out->left > 0)
        return;
    pieces->up->sent(pieces->owner, out->packet);
    free(out);
}

static ucs_status_t send_piece(struct outgoing *out, ucp_ep_h ep, const struct header *header)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags     = UCP_AM_SEND_FLAG_EAGER,
                                 .cb.send   = on_piece_sent,
                                 .user_data = out};
    size_t              left  = header->bytes - header->at;
    size_t              bytes = left < SKI_PIECE_BYTES ? left : SKI_PIECE_BYTES;
    char               *data  = (char *)out->packet + header->at;
    void *request = ucp_am_send_nbx(ep, PIECE_ID, header, sizeof *header, data, bytes, &param);

    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request);
    out->left++;
    return UCS_INPROGRESS;
}

/* Of the pieces of a packet that fails midway, those that UCX has come back as usual. */
ucs_status_t ski_pieces_send(struct ski_pieces *pieces, ucp_ep_h ep, void *packet, size_t bytes)
{
    size_t           count  = (bytes + SKI_PIECE_BYTES - 1) / SKI_PIECE_BYTES;
    struct outgoing *out    = malloc(sizeof *out + count * sizeof *out->header);
    ucs_status_t     status = UCS_OK;

    if (!out)
        return UCS_ERR_NO_MEMORY;
    *out = (struct outgoing){pieces, packet, 1};
    for (size_t i = 0; i < count && !UCS_STATUS_IS_ERR(status); i++) {
        out->header[i] =
            (struct header){pieces->key, pieces->pe, pieces->number, bytes, i * SKI_PIECE_BYTES};
        status = send_piece(out, ep, &out->header[i]);
    }
    pieces->number++;
    if (--out->left > 0)
        return UCS_INPROGRESS;
    free(out);
    return UCS_STATUS_IS_ERR(status) ? status : UCS_OK;
}

/* ---- receiving -------------------------------------------------------------------- */

static bool is_same(const struct header *a, const struct header *b)
{
    return a->key == b->key && a->pe == b->pe && a->number == b->number && a->bytes == b->bytes;
}

/* Where the packet of a piece is noted; the end of the list if it is the first. */
static struct ski_incoming **find(struct ski_pieces *pieces, const struct header *header)
{
    struct ski_incoming **at = &pieces->incoming;

    while (*at && !is_same(&(*at)->of, header))
        at = &(*at)->next;
    return at;
}

/* The first piece of a packet; NULL: there is no memory to note it. */
static struct ski_incoming *begin(struct ski_pieces *pieces, const struct header *header)
{
    struct ski_incoming *in = malloc(sizeof *in);

    if (in)
        *in = (struct ski_incoming){.of   = *header,
                                    .room = pieces->up->room(pieces->owner, header->bytes),
                                    .left = header->bytes};
    return in;
}

/* A piece of @p bytes, and what it belongs to; the last one completes the packet. */
static void take(struct ski_pieces *pieces, const struct header *header, const void *data,
                 size_t bytes)
{
    struct ski_incoming **at = find(pieces, header), *in;

    in = *at ? *at : (*at = begin(pieces, header));
    if (!in || bytes > in->left)
        return;
    if (in->room)
        memcpy(in->room + header->at, data, bytes);
    in->left -= bytes;
    if (in->left > 0)
        return;
    *at = in->next;
    if (in->room)
        pieces->up->arrived(pieces->owner, in->room, in->of.bytes);
    free(in);
}

/* UCX's memory is not aligned. */
static ucs_status_t on_piece(void *arg, const void *header, size_t header_bytes, void *data,
                             size_t bytes, const ucp_am_recv_param_t *param)
{
    struct ski_pieces *pieces = arg;
    struct header      own;

    pieces->events++;
    if (header_bytes != sizeof own || param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return UCS_OK; /* not one of ours */
    memcpy(&own, header, sizeof own);
    if (bytes > 0 && own.at <= own.bytes && bytes <= own.bytes - own.at)
        take(pieces, &own, data, bytes);
    return UCS_OK;
}

void ski_pieces_lost(struct ski_pieces *pieces, int pe)
{
    struct ski_incoming **at = &pieces->incoming, *in;

    while ((in = *at)) {
        if (pe >= 0 && in->of.pe != pe) {
            at = &in->next;
            continue;
        }
        *at = in->next;
        if (in->room)
            pieces->up->spoilt(pieces->owner, in->room);
        free(in);
    }
}

/* ---- life ------------------------------------------------------------------------- */

ucs_status_t ski_pieces_open(struct ski_pieces *pieces, ucp_worker_h worker, int pe,
                             const struct ski_upcalls *up, void *owner)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                    UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id  = PIECE_ID,
                                      .cb  = on_piece,
                                      .arg = pieces};

    *pieces = (struct ski_pieces){.up = up, .owner = owner, .pe = pe};
    if (getrandom(&pieces->key, sizeof pieces->key, 0) != sizeof pieces->key)
        return UCS_ERR_IO_ERROR;
    return ucp_worker_set_am_recv_handler(worker, &handler);
}
