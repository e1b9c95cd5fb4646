/* SPDX-License-Identifier: Apache-2.0 */
/* collective_send.c - see collective_send.h. */
#include "core/collective/collective_send.h"

#include <string.h>

#include "core/message/message.h"
#include "core/net/zcopy_send.h"
#include "core/pe/pe.h"

bool ski_collective_send(struct ski_pe *self, int pe, const struct ski_collective_packet *packet)
{
    skua_msg *msg;

    if (!ski_zcopy_send_supported())
        return false;
    msg = skua_msg_alloc(packet->head_bytes + sizeof(struct ski_zcopy_send));
    memcpy(skua_msg_data(msg), packet->head, packet->head_bytes);
    msg->handler = (uint16_t)packet->handler;
    msg->source  = self->pe;
    if (packet->done)
        *packet->done = ski_zcopy_send_record(msg, packet->head_bytes);
    if (ski_zcopy_send(self, pe, msg, packet->head_bytes, packet->data, packet->bytes, packet->sent,
                       packet->owner))
        return true;
    skua_msg_free(msg);
    return false;
}
