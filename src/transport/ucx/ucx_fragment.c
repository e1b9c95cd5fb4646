/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_fragment.c - see ucx_fragment.h. */
#include "transport/ucx/ucx_fragment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FRAGMENT_AM_ID 2

struct fragment_header {
    uint64_t key;
    int32_t  pe;
    uint32_t number;
    uint64_t bytes, at;
};

/* A packet that has arrived in part. */
struct ski_fragments_in {
    struct ski_fragments_in *next;
    struct fragment_header   of;   /* the header of its first fragment */
    char                    *room; /* NULL: the packet is dropped */
    size_t                   left; /* bytes that have not arrived */
};

/* A packet that is being sent. It is complete when UCX holds none of its fragments and the call
 * that sends them is over. */
struct fragment_out {
    struct ski_fragments  *fragments;
    struct ski_ucx_held   *held; /* counts the packet */
    void                  *packet;
    size_t                 left;     /* fragments that UCX holds, and 1 for the call */
    struct fragment_header header[]; /* one per fragment, which UCX reads until it is sent */
};

/* ---- sending ---------------------------------------------------------------------- */

static void fragment_on_sent(void *request, ucs_status_t status, void *arg)
{
    struct fragment_out  *out       = arg;
    struct ski_fragments *fragments = out->fragments;

    (void)status; /* the endpoint reports a failure */
    assert(out->left > 0);
    fragments->events++;
    ucp_request_free(request);
    if (--out->left > 0)
        return;
    ski_ucx_held_remove(out->held, out->header[0].bytes);
    fragments->up->sent(fragments->owner, out->packet);
    free(out);
}

/* Sends the fragment that @p header describes. */
static ucs_status_t fragment_send(struct fragment_out *out, ucp_ep_h ep,
                                  const struct fragment_header *header)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags     = UCP_AM_SEND_FLAG_EAGER,
                                 .cb.send   = fragment_on_sent,
                                 .user_data = out};
    size_t              left  = header->bytes - header->at; /* which is in the packet */
    size_t              bytes = left < SKI_FRAGMENT_BYTES ? left : SKI_FRAGMENT_BYTES;
    char               *data  = (char *)out->packet + header->at;
    void               *request =
        ucp_am_send_nbx(ep, FRAGMENT_AM_ID, header, sizeof *header, data, bytes, &param);

    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request);
    out->left++;
    return UCS_INPROGRESS;
}

/* Of a packet that fails midway, fragments that UCX holds complete as usual. */
ucs_status_t ski_fragments_send(struct ski_fragments *fragments, ucp_ep_h ep,
                                struct ski_ucx_held *held, void *packet, size_t bytes,
                                ucs_status_t *broken)
{
    size_t               sent   = 0;
    size_t               count  = (bytes + SKI_FRAGMENT_BYTES - 1) / SKI_FRAGMENT_BYTES;
    struct fragment_out *out    = malloc(sizeof *out + count * sizeof *out->header);
    ucs_status_t         status = UCS_OK;

    if (!out)
        return UCS_ERR_NO_MEMORY;
    assert(count > 0);
    *out = (struct fragment_out){fragments, held, packet, 1};
    for (; sent < count && !UCS_STATUS_IS_ERR(status); sent += !UCS_STATUS_IS_ERR(status)) {
        out->header[sent] = (struct fragment_header){
            fragments->key, fragments->pe, fragments->number, bytes, sent * SKI_FRAGMENT_BYTES};
        status = fragment_send(out, ep, &out->header[sent]);
    }
    fragments->number++;
    if (sent > 0 && sent < count) {
        *broken = status;
        status  = UCS_OK;
    }
    if (--out->left > 0) {
        ski_ucx_held_add(held, bytes);
        return UCS_INPROGRESS;
    }
    free(out);
    return UCS_STATUS_IS_ERR(status) ? status : UCS_OK;
}

/* ---- receiving -------------------------------------------------------------------- */

static bool fragment_is_same_packet(const struct fragment_header *a,
                                    const struct fragment_header *b)
{
    return a->key == b->key && a->pe == b->pe && a->number == b->number && a->bytes == b->bytes;
}

/* Returns the link to the packet of a fragment; the end of the list if it is the first one. */
static struct ski_fragments_in **fragment_find(struct ski_fragments         *fragments,
                                               const struct fragment_header *header)
{
    struct ski_fragments_in **at = &fragments->incoming;

    while (*at && !fragment_is_same_packet(&(*at)->of, header))
        at = &(*at)->next;
    return at;
}

/* Starts a packet with its first fragment. Returns NULL if memory is exhausted. */
static struct ski_fragments_in *fragment_begin(struct ski_fragments         *fragments,
                                               const struct fragment_header *header)
{
    struct ski_fragments_in *in = malloc(sizeof *in);

    if (in)
        *in =
            (struct ski_fragments_in){.of   = *header,
                                      .room = fragments->up->alloc(fragments->owner, header->bytes),
                                      .left = header->bytes};
    return in;
}

/* Copies a fragment of @p bytes; the last one completes the packet. */
static void fragment_take(struct ski_fragments *fragments, const struct fragment_header *header,
                          const void *data, size_t bytes)
{
    struct ski_fragments_in **at = fragment_find(fragments, header), *in;

    in = *at ? *at : (*at = fragment_begin(fragments, header));
    if (!in || bytes > in->left)
        return;
    assert(in->left <= in->of.bytes);
    assert(header->at <= in->of.bytes && bytes <= in->of.bytes - header->at);
    if (in->room)
        memcpy(in->room + header->at, data, bytes);
    in->left -= bytes;
    if (in->left > 0)
        return;
    *at = in->next;
    if (in->room)
        fragments->up->arrived(fragments->owner, in->room, in->of.bytes);
    free(in);
}

/* Returns whether a fragment of @p bytes lies within a packet that is sent in fragments. */
static bool fragment_is_possible(const struct fragment_header *header, size_t bytes)
{
    return bytes > 0 && header->bytes > SKI_FRAGMENT_BYTES && header->bytes <= PTRDIFF_MAX &&
           header->at <= header->bytes && bytes <= header->bytes - header->at;
}

/* Copies the header first, since UCX does not align it. */
static ucs_status_t fragment_on_recv(void *arg, const void *header, size_t header_bytes, void *data,
                                     size_t bytes, const ucp_am_recv_param_t *param)
{
    struct ski_fragments  *fragments = arg;
    struct fragment_header own;

    fragments->events++;
    if (header_bytes != sizeof own || param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return UCS_OK; /* not a fragment */
    memcpy(&own, header, sizeof own);
    if (fragment_is_possible(&own, bytes))
        fragment_take(fragments, &own, data, bytes);
    return UCS_OK;
}

void ski_fragments_abort(struct ski_fragments *fragments, int pe)
{
    struct ski_fragments_in **at = &fragments->incoming, *in;

    while ((in = *at)) {
        if (pe >= 0 && in->of.pe != pe) {
            at = &in->next;
            continue;
        }
        *at = in->next;
        if (in->room)
            fragments->up->abort(fragments->owner, in->room);
        free(in);
    }
}

/* ---- life ------------------------------------------------------------------------- */

ucs_status_t ski_fragments_open(struct ski_fragments *fragments, ucp_worker_h worker, int pe,
                                const struct ski_upcalls *up, void *owner)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                    UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id  = FRAGMENT_AM_ID,
                                      .cb  = fragment_on_recv,
                                      .arg = fragments};

    *fragments = (struct ski_fragments){.up = up, .owner = owner, .pe = pe};
    if (getrandom(&fragments->key, sizeof fragments->key, 0) != sizeof fragments->key)
        return UCS_ERR_IO_ERROR;
    return ucp_worker_set_am_recv_handler(worker, &handler);
}
