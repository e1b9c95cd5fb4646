/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_root.c - SKI_REDUCTION_SHARED to a root: the root collects the addresses of the
 * contributions (see reduction.h).
 *
 * Each PE sends the address of its contribution directly to the root and is then done, so that it
 * may compute after its call: no PE on the way has to pass anything on.  On the wire:  struct
 * ski_reduction_head, then the address.  At the root, the message of the record has the addresses
 * by PE, 0 for those that are missing.
 */
#include <string.h>

#include "base/assert.h"
#include "core/collective/reduction.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"

/* Returns the addresses that have arrived, by PE. */
static uint64_t *root_addresses(const struct ski_reduction *r)
{
    return (uint64_t *)(void *)ski_reduction_elements(r->msg);
}

bool ski_reduction_has_address(const struct ski_reduction *r, int pe)
{
    return ski_reduction_is_collected(&r->head) && r->msg && root_addresses(r)[pe];
}

/* Adds the address of the contribution of @p pe.  With the last one, the call continues. */
static void root_add_address(struct ski_pe *self, struct ski_reduction *r, int pe, uint64_t address)
{
    struct ski_reduction_head head  = r->head;
    size_t                    bytes = (size_t)self->pes * sizeof address;
    struct ski_split         *split;
    skua_msg                 *msg;

    if (!r->msg) {
        r->msg = ski_reduction_msg(bytes);
        memset(ski_reduction_elements(r->msg), 0, bytes);
    }
    root_addresses(r)[pe] = address;
    if (++r->arrived < (uint64_t)self->pes)
        return;
    split = r->split;
    msg   = r->msg;
    ski_assert(split); /* this PE has called */
    ski_reduction_release(self, r);
    ski_split_done(self, split, &head, msg);
}

void ski_reduction_contribute_address(struct ski_pe *self, const struct ski_reduction_head *head,
                                      struct ski_split *split, const char *elements)
{
    struct {
        struct ski_reduction_head head;
        uint64_t                  address;
    } packet = {*head, (uintptr_t)elements};
    struct ski_reduction *r;

    if (head->root != self->pe) {
        skua_send_copy(head->root, (skua_handler){SKI_HANDLER_REDUCTION}, &packet, sizeof packet);
        ski_split_done(self, split, head, NULL);
        return;
    }
    r        = ski_reduction_get(self, head, sizeof packet.address, self->pe);
    r->split = split;
    root_add_address(self, r, self->pe, packet.address);
}

void ski_reduction_collect(struct ski_pe *self, skua_msg *msg)
{
    struct ski_reduction_head head   = *ski_reduction_head_of(msg);
    int                       source = msg->source;
    uint64_t                  address;

    memcpy(&address, ski_reduction_elements(msg), sizeof address);
    if (!address) { /* it would count, and be missing */
        ski_net_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    root_add_address(self, ski_reduction_get(self, &head, sizeof address, source), source, address);
}
