/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi_rma.c - puts, gets and atomics of libfabric.
 *
 * A put completes when it is visible at its target (FI_DELIVERY_COMPLETE), so a flush only waits
 * for earlier puts.  Puts are counted in *epochs*: a peer has a list of these, oldest first.  A put
 * counts in the last epoch; a flush ends that and starts another.  An epoch is over when it has
 * ended, none of its puts is in flight, and it is the first.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ofi/ofi.h"

/* ---- operations -------------------------------------------------------------------- */

static bool rkey_covers(const struct ski_driver_rkey *key, uint64_t remote, size_t bytes)
{
    return remote >= key->base && bytes <= key->bytes && remote - key->base <= key->bytes - bytes;
}

/* Returns a remote address as the provider expects it: virtual, or an offset. */
static uint64_t ofi_rma_address(const struct ski_driver_rkey *key, uint64_t remote)
{
    return ski_ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? remote : remote - key->base;
}

/* Returns SKUA_OK if another operation may start now. */
static skua_status ofi_rma_admit(struct ski_peer *peer, const struct ski_driver_rkey *key,
                                 uint64_t remote, size_t bytes)
{
    if (peer->lost)
        return SKUA_ERR_UNREACH;
    if (!rkey_covers(key, remote, bytes))
        return SKUA_ERR_RANGE;
    return peer->port->in_flight < ski_ofi.info->tx_attr->size ? SKUA_OK : SKUA_ERR_AGAIN;
}

/* Returns the epoch that a new put belongs to, or NULL if memory is exhausted. */
static struct ski_ofi_epoch *ofi_rma_epoch(struct ski_peer *peer)
{
    if (!peer->last)
        peer->first = peer->last = calloc(1, sizeof *peer->last);
    return peer->last;
}

static ssize_t ofi_rma_write(struct ski_ofi_op *op, const void *local, size_t bytes,
                             uint64_t remote, uint64_t key)
{
    struct iovec      part    = {(void *)(uintptr_t)local, bytes};
    struct fi_rma_iov to      = {remote, bytes, key};
    struct fi_msg_rma message = {.msg_iov       = &part,
                                 .iov_count     = 1,
                                 .addr          = op->peer->address,
                                 .rma_iov       = &to,
                                 .rma_iov_count = 1,
                                 .context       = &op->context};

    return fi_writemsg(op->peer->port->ep, &message,
                       FI_DELIVERY_COMPLETE | FI_COMPLETION | (op->quiet ? FI_INJECT : 0));
}

skua_status ski_ofi_put(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie)
{
    skua_status        status = ofi_rma_admit(peer, key, remote, bytes);
    bool               copied = bytes <= ski_ofi.info->tx_attr->inject_size;
    struct ski_ofi_op *op;

    if (status != SKUA_OK)
        return status;
    if (!ofi_rma_epoch(peer) || !(op = ski_ofi_op_get(peer->port, peer, SKI_OFI_PUT)))
        return SKUA_ERR_NOMEM;
    op->cookie = cookie;
    op->quiet  = copied;
    op->epoch  = peer->last;
    status     = ski_ofi_op_started(
            peer->port, op, ofi_rma_write(op, local, bytes, ofi_rma_address(key, remote), key->key));
    if (status != SKUA_PENDING)
        return status;
    peer->last->open++;
    return copied ? SKUA_OK : SKUA_PENDING;
}

skua_status ski_ofi_get(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                        struct ski_driver_rkey *key, void *cookie)
{
    skua_status        status = ofi_rma_admit(peer, key, remote, bytes);
    struct ski_ofi_op *op;

    if (status != SKUA_OK)
        return status;
    op = ski_ofi_op_get(peer->port, peer, SKI_OFI_GET);
    if (!op)
        return SKUA_ERR_NOMEM;
    op->cookie = cookie;
    op->quiet  = false;
    return ski_ofi_op_started(peer->port, op,
                              fi_read(peer->port->ep, local, bytes, NULL, peer->address,
                                      ofi_rma_address(key, remote), key->key, &op->context));
}

/* ---- flush ------------------------------------------------------------------------- */

/* Completes the flushes of epochs that are over. */
static void ofi_rma_end_epochs(struct ski_peer *peer, skua_status status)
{
    struct ski_ofi_epoch *epoch;

    while ((epoch = peer->first) && epoch->ends && epoch->open == 0) {
        assert(epoch != peer->last && epoch->next); /* the last epoch has not ended */
        peer->first = epoch->next;
        peer->port->up->done(peer->port->owner, epoch->cookie, status);
        free(epoch);
    }
}

skua_status ski_ofi_flush(struct ski_peer *peer, void *cookie)
{
    struct ski_ofi_epoch *next;

    if (!peer->last || (peer->first == peer->last && peer->last->open == 0))
        return SKUA_OK;
    next = calloc(1, sizeof *next);
    if (!next)
        return SKUA_ERR_NOMEM;
    assert(!peer->last->ends);
    peer->last->ends   = true;
    peer->last->cookie = cookie;
    peer->last->next   = next;
    peer->last         = next;
    return SKUA_PENDING;
}

/* ---- atomics ----------------------------------------------------------------------- */

static const enum fi_op ofi_rma_ops[] = {
    [SKI_NET_ADD] = FI_SUM,  [SKI_NET_AND] = FI_BAND,          [SKI_NET_OR] = FI_BOR,
    [SKI_NET_XOR] = FI_BXOR, [SKI_NET_SWAP] = FI_ATOMIC_WRITE, [SKI_NET_CSWAP] = FI_CSWAP,
};

static bool ofi_rma_has_atomic(struct fid_ep *ep, enum ski_net_op op, enum fi_datatype type)
{
    size_t most = 0;

    if (!ski_ofi.atomics)
        return false;
    if (op == SKI_NET_CSWAP)
        return fi_compare_atomicvalid(ep, type, FI_CSWAP, &most) == 0 && most >= 1;
    return fi_fetch_atomicvalid(ep, type, ofi_rma_ops[op], &most) == 0 && most >= 1;
}

/* Returns an operand as it is stored in an operation until that is done: a value of 4 bytes in the
 * first 4 of its 8. */
static uint64_t ofi_rma_narrow(uint64_t value, unsigned width)
{
    uint32_t half = (uint32_t)value;

    if (width == sizeof half)
        memcpy(&value, &half, sizeof half);
    return value;
}

static uint64_t ofi_rma_widen(uint64_t value, unsigned width)
{
    uint32_t half;

    memcpy(&half, &value, sizeof half);
    return width == sizeof half ? half : value;
}

skua_status ski_ofi_atomic(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                           uint64_t value, uint64_t *result, uint64_t remote,
                           struct ski_driver_rkey *key, void *cookie)
{
    enum fi_datatype   type   = bytes == 4 ? FI_UINT32 : FI_UINT64;
    struct fid_ep     *ep     = peer->port->ep;
    skua_status        status = ofi_rma_admit(peer, key, remote, bytes);
    uint64_t           to     = ofi_rma_address(key, remote);
    struct ski_ofi_op *own;

    if (status != SKUA_OK)
        return status;
    if (!ofi_rma_has_atomic(ep, op, type))
        return SKUA_ERR_UNSUPPORTED;
    own = ski_ofi_op_get(peer->port, peer, SKI_OFI_ATOMIC);
    if (!own)
        return SKUA_ERR_NOMEM;
    own->cookie  = cookie;
    own->quiet   = false;
    own->width   = bytes;
    own->result  = result;
    own->value   = ofi_rma_narrow(value, bytes);
    own->compare = ofi_rma_narrow(*result, bytes);
    if (op == SKI_NET_CSWAP)
        return ski_ofi_op_started(peer->port, own,
                                  fi_compare_atomic(ep, &own->value, 1, NULL, &own->compare, NULL,
                                                    &own->before, NULL, peer->address, to, key->key,
                                                    type, FI_CSWAP, &own->context));
    return ski_ofi_op_started(peer->port, own,
                              fi_fetch_atomic(ep, &own->value, 1, NULL, &own->before, NULL,
                                              peer->address, to, key->key, type, ofi_rma_ops[op],
                                              &own->context));
}

/* ---- completion ------------------------------------------------------------------- */

void ski_ofi_rma_end(struct ski_port *port, struct ski_ofi_op *op, skua_status status)
{
    if (op->kind == SKI_OFI_ATOMIC && status == SKUA_OK)
        *op->result = ofi_rma_widen(op->before, op->width);
    if (!op->quiet)
        port->up->done(port->owner, op->cookie, status);
    if (op->kind != SKI_OFI_PUT)
        return;
    assert(op->epoch->open > 0);
    op->epoch->open--;
    ofi_rma_end_epochs(op->peer, status);
}
