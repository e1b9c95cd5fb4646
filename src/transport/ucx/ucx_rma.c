/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_rma.c - registered memory, put, get and atomics: see ucx.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ucx/ucx.h"

struct ski_driver_mem {
    ucp_mem_h handle;
};

struct ski_driver_rkey {
    ucp_rkey_h handle;
};

bool ski_ucx_rma_offload(void)
{
    return ski_ucx.has_adapter;
}

skua_status ski_ucx_mem_reg(void *base, size_t bytes, struct ski_driver_mem **out)
{
    ucp_mem_map_params_t   params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                   UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                     .address = base,
                                     .length  = bytes};
    struct ski_driver_mem *memory = malloc(sizeof *memory);
    ucs_status_t           status = UCS_ERR_NO_MEMORY;

    if (memory)
        status = ucp_mem_map(ski_ucx.context, &params, &memory->handle);
    if (status != UCS_OK) {
        free(memory);
        return ski_ucx_failed("ucp_mem_map", status);
    }
    *out = memory;
    return SKUA_OK;
}

void ski_ucx_mem_dereg(struct ski_driver_mem *memory)
{
    ucp_mem_unmap(ski_ucx.context, memory->handle);
    free(memory);
}

size_t ski_ucx_rkey_pack(struct ski_driver_mem *memory, void *to)
{
    void  *packed;
    size_t bytes;

    if (ucp_rkey_pack(ski_ucx.context, memory->handle, &packed, &bytes) != UCS_OK)
        return 0;
    if (bytes <= SKI_RKEY_MAX)
        memcpy(to, packed, bytes);
    else
        bytes = 0;
    ucp_rkey_buffer_release(packed);
    return bytes;
}

skua_status ski_ucx_rkey_unpack(struct ski_peer *peer, const void *from, size_t bytes,
                                struct ski_driver_rkey **out)
{
    struct ski_driver_rkey *key    = peer->lost ? NULL : malloc(sizeof *key);
    ucs_status_t            status = peer->lost ? UCS_ERR_UNREACHABLE : UCS_ERR_NO_MEMORY;

    if (key && bytes)
        status = ucp_ep_rkey_unpack(peer->ep, from, &key->handle);
    if (status == UCS_OK)
        *out = key;
    else
        free(key);
    return ski_ucx_status(status);
}

void ski_ucx_rkey_destroy(struct ski_driver_rkey *key)
{
    ucp_rkey_destroy(key->handle);
    free(key);
}

static void ucx_on_done(void *request, ucs_status_t status, void *cookie)
{
    struct ski_port *port = ((struct ski_ucx_request *)request)->port;

    port->events++;
    port->up->done(port->owner, cookie, ski_ucx_status(status));
    ucp_request_free(request);
}

static ucp_request_param_t ucx_request_param(void *cookie)
{
    return (ucp_request_param_t){.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send   = ucx_on_done,
                                 .user_data = cookie};
}

static skua_status ucx_started(struct ski_peer *peer, void *request)
{
    if (!UCS_PTR_IS_PTR(request))
        return ski_ucx_status(UCS_PTR_STATUS(request));
    ((struct ski_ucx_request *)request)->port = peer->port;
    return SKUA_PENDING;
}

skua_status ski_ucx_put(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie)
{
    ucp_request_param_t param = ucx_request_param(cookie);

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    return ucx_started(peer, ucp_put_nbx(peer->ep, local, bytes, remote, key->handle, &param));
}

skua_status ski_ucx_get(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie)
{
    ucp_request_param_t param = ucx_request_param(cookie);

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    return ucx_started(peer, ucp_get_nbx(peer->ep, local, bytes, remote, key->handle, &param));
}

skua_status ski_ucx_atomic(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                           uint64_t value, uint64_t *result, uint64_t remote,
                           struct ski_driver_rkey *key, void *cookie)
{
    static const ucp_atomic_op_t ops[] = {
        [SKI_NET_ADD] = UCP_ATOMIC_OP_ADD,   [SKI_NET_AND] = UCP_ATOMIC_OP_AND,
        [SKI_NET_OR] = UCP_ATOMIC_OP_OR,     [SKI_NET_XOR] = UCP_ATOMIC_OP_XOR,
        [SKI_NET_SWAP] = UCP_ATOMIC_OP_SWAP, [SKI_NET_CSWAP] = UCP_ATOMIC_OP_CSWAP};
    ucp_request_param_t param  = ucx_request_param(cookie);
    uint64_t            before = *result; /* the value to compare with */

    assert((unsigned)op < sizeof ops / sizeof *ops && (bytes == 4 || bytes == 8));
    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    /* UCX takes the new value where it returns the old one, and the value to compare with as an
     * argument. */
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype     = ucp_dt_make_contig(bytes);
    param.reply_buffer = result;
    if (op == SKI_NET_CSWAP)
        *result = value;
    return ucx_started(peer,
                       ucp_atomic_op_nbx(peer->ep, ops[op], op == SKI_NET_CSWAP ? &before : &value,
                                         1, remote, key->handle, &param));
}

skua_status ski_ucx_flush(struct ski_peer *peer, void *cookie)
{
    ucp_request_param_t param = ucx_request_param(cookie);

    if (SKI_UNLIKELY(peer->lost))
        return SKUA_ERR_UNREACH;
    return ucx_started(peer, ucp_ep_flush_nbx(peer->ep, &param));
}

/* UCX's fence does not order copies through the kernel, which it uses where it has shared memory
 * alone. */
bool ski_ucx_fence(struct ski_peer *peer)
{
    return !peer->shared && ucp_worker_fence(peer->port->worker) == UCS_OK;
}
