/* SPDX-License-Identifier: Apache-2.0 */
/* short.c - see short.h. */
#include "transport/ucx/short.h"

#include <stdlib.h>

#include "transport/ucx/ucx.h"

/* The oldest receive is over: also from within post(), as there is no other then. */
static void on_short(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    struct ski_port   *port   = arg;
    struct ski_shorts *shorts = &port->shorts;
    char              *data   = shorts->slot[shorts->oldest];
    size_t             bytes  = info->length; /* which lies in the request */

    ucp_request_free(request);
    if (status == UCS_ERR_CANCELED) /* by ski_shorts_close() */
        return;
    shorts->oldest = (shorts->oldest + 1) % SKI_SHORT_SLOTS;
    shorts->posted--;
    port->events++;
    if (status == UCS_OK)
        ski_ucx_packet_came(port, data, bytes);
}

/* Posts a receive behind the others, and tells of it through on_short() even if what it is for
 * has come before: UCX 1.13 does not say otherwise how long that is. */
static void post(struct ski_port *port)
{
    ucp_request_param_t param  = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                  UCP_OP_ATTR_FIELD_USER_DATA |
                                                  UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                  .cb.recv   = on_short,
                                  .user_data = port};
    struct ski_shorts  *shorts = &port->shorts;
    unsigned            at     = (shorts->oldest + shorts->posted++) % SKI_SHORT_SLOTS;
    void *request = ucp_tag_recv_nbx(port->worker, shorts->slot[at], SKI_SHORT_BYTES, 0, 0, &param);

    if (UCS_PTR_IS_PTR(request))
        shorts->request[at] = request;
    else
        shorts->posted--; /* for want of memory */
}

/* No more of those that have come before than there are slots: others wait, too. */
void ski_shorts_post(struct ski_port *port)
{
    for (int i = 0; i < SKI_SHORT_SLOTS && !ski_shorts_are_posted(&port->shorts); i++)
        post(port);
}

ucs_status_t ski_shorts_open(struct ski_port *port)
{
    port->shorts.slot = aligned_alloc(64, SKI_SHORT_SLOTS * SKI_SHORT_BYTES);
    if (!port->shorts.slot)
        return UCS_ERR_NO_MEMORY;
    ski_shorts_post(port);
    return UCS_OK;
}

void ski_shorts_close(struct ski_port *port)
{
    struct ski_shorts *shorts = &port->shorts;

    for (unsigned i = 0; shorts->slot && i < shorts->posted; i++)
        ucp_request_cancel(port->worker, shorts->request[(shorts->oldest + i) % SKI_SHORT_SLOTS]);
}
