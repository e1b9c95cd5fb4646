/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_data.c - see buffer_data.h. */
#include "onesided/buffer/buffer_data.h"

#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "core/message/message.h"
#include "core/net/zcopy_send.h"
#include "core/pe/handler.h"
#include "onesided/rma/rma_pe.h"

_Static_assert(sizeof(struct ski_buffer_data) <= SKI_PLACE_DATA, "the driver shows all of it");

#define DATA_ZCOPY_MIN ((size_t)8192)     /* fewer are copied into a message */
#define DATA_ZCOPY_MAX ((size_t)64 << 20) /* more go in pieces, so that others have a turn */

/* ---- the source ------------------------------------------------------------------------------ */

static skua_msg *buffer_data_new(struct ski_pe *self, const skua_buffer *to, size_t more)
{
    skua_msg              *msg  = skua_msg_alloc(sizeof(struct ski_buffer_data) + more);
    struct ski_buffer_data head = {.to = *to};

    memcpy(skua_msg_data(msg), &head, sizeof head);
    msg->handler = SKI_HANDLER_BUFFER_DATA;
    msg->source  = self->pe;
    return msg;
}

/* Sends a message of the PE to itself: the driver has read the source, which @p sent describes. */
static void buffer_data_sent(struct ski_pe *self, void *sent)
{
    ski_assert(ski_rma_pe(self)->at_driver > 0);
    ski_rma_pe(self)->at_driver--;
    ski_msg_post(self, self->pe, SKI_HANDLER_BUFFER_SENT, sent);
}

bool ski_buffer_send_zcopy(struct ski_pe *self, int pe, skua_msg *msg, size_t header,
                           const skua_buffer *from, size_t bytes)
{
    skua_msg *sent = ski_msg_copy(self, SKI_HANDLER_BUFFER_SENT, from, sizeof *from);

    ski_assert(from->pe == self->pe && bytes <= from->bytes);
    ski_rma_pe(self)->at_driver++; /* it may be complete before the call returns */
    if (ski_zcopy_send(self, pe, msg, header, from->at, bytes, buffer_data_sent, sent))
        return true;
    ski_assert(ski_rma_pe(self)->at_driver > 0);
    ski_rma_pe(self)->at_driver--;
    skua_msg_free(sent);
    return false;
}

void ski_buffer_post_sent(struct ski_pe *self, const skua_buffer *from)
{
    ski_msg_post(self, self->pe, SKI_HANDLER_BUFFER_SENT,
                 ski_msg_copy(self, SKI_HANDLER_BUFFER_SENT, from, sizeof *from));
}

bool ski_buffer_data_send_zcopy(struct ski_pe *self, const skua_buffer *from, const skua_buffer *to,
                                size_t bytes)
{
    skua_msg *msg;

    if (bytes < DATA_ZCOPY_MIN || bytes > DATA_ZCOPY_MAX || self->thread ||
        !ski_zcopy_send_supported() || ski_job_index(self->job, to->pe) >= 0)
        return false;
    msg = buffer_data_new(self, to, sizeof(struct ski_zcopy_send));
    if (ski_buffer_send_zcopy(self, to->pe, msg, sizeof(struct ski_buffer_data), from, bytes))
        return true;
    skua_msg_free(msg);
    return false;
}

static void buffer_data_send_copied(struct ski_pe *self, const skua_buffer *from,
                                    const skua_buffer *to, size_t bytes)
{
    skua_msg *msg = buffer_data_new(self, to, bytes);

    ski_assert(from->pe == self->pe && bytes <= from->bytes && bytes <= to->bytes);
    if (bytes)
        ski_copy((char *)skua_msg_data(msg) + sizeof(struct ski_buffer_data), from->at, bytes);
    ski_msg_post(self, to->pe, SKI_HANDLER_BUFFER_DATA, msg);
    skua_complete(from->done, from, sizeof *from);
}

void ski_buffer_data_send(struct ski_pe *self, const skua_buffer *from, const skua_buffer *to,
                          size_t bytes)
{
    if (!ski_buffer_data_send_zcopy(self, from, to, bytes))
        buffer_data_send_copied(self, from, to, bytes);
}

void ski_on_buffer_sent(skua_msg *msg)
{
    const skua_buffer *from = skua_msg_data(msg);

    ski_assert(from->pe == ski_self->pe);
    skua_complete(from->done, from, sizeof *from);
    skua_msg_free(msg);
}

/* ---- the target ------------------------------------------------------------------------------ */

/* Reads the header of a packet. Returns false if it is not for a buffer that @p self has made, or
 * has more data than fit. */
static bool buffer_data_read(const struct ski_pe *self, const skua_msg *msg, const char *data,
                             struct ski_buffer_data *head)
{
    memcpy(head, data, sizeof *head);
    return head->to.pe == self->pe && ski_buffer_is_valid(self, &head->to) &&
           msg->bytes - sizeof *head <= head->to.bytes &&
           (head->placed == 0 || (head->placed == 1 && msg->bytes == sizeof *head));
}

/* Returns whether the data of a packet may be received in the target buffer, within the driver. */
static bool buffer_data_may_place(const struct ski_pe *self, const skua_msg *msg, const char *data,
                                  struct ski_buffer_data *head)
{
    return self == ski_self && !ski_pe_exiting(self) && msg->bytes > sizeof *head &&
           buffer_data_read(self, msg, data, head);
}

/* Returns a message without data for a packet whose data are in the target buffer. */
static skua_msg *buffer_data_left(struct ski_pe *self, const skua_msg *msg,
                                  struct ski_buffer_data *head)
{
    skua_msg *left;

    ski_assert(!head->placed && head->to.pe == self->pe);
    head->placed = 1;
    left         = ski_msg_copy(self, SKI_HANDLER_BUFFER_DATA, head, sizeof *head);
    left->source = msg->source;
    return left;
}

static skua_msg *buffer_data_take(struct ski_pe *self, const skua_msg *msg, const char *data)
{
    struct ski_buffer_data head;

    if (!buffer_data_may_place(self, msg, data, &head))
        return NULL;
    memcpy(head.to.at, data + sizeof head, msg->bytes - sizeof head);
    return buffer_data_left(self, msg, &head);
}

static size_t buffer_data_place(struct ski_pe *self, const skua_msg *msg, const char *data,
                                void **to)
{
    struct ski_buffer_data head;

    if (!buffer_data_may_place(self, msg, data, &head))
        return 0;
    *to = head.to.at;
    return msg->bytes - sizeof head;
}

static skua_msg *buffer_data_placed(struct ski_pe *self, const skua_msg *msg, const char *data,
                                    bool whole)
{
    struct ski_buffer_data head;

    memcpy(&head, data, sizeof head);
    return whole ? buffer_data_left(self, msg, &head) : NULL;
}

const struct ski_placement ski_buffer_placement = {
    .place      = buffer_data_place,
    .placed     = buffer_data_placed,
    .take       = buffer_data_take,
    .until_exit = true,
};

void ski_on_buffer_data(skua_msg *msg)
{
    struct ski_buffer_data head;

    if (!buffer_data_read(ski_self, msg, skua_msg_data(msg), &head)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    if (msg->bytes > sizeof head)
        ski_copy(head.to.at, (const char *)skua_msg_data(msg) + sizeof head,
                 msg->bytes - sizeof head);
    skua_complete(head.to.done, &head.to, sizeof head.to);
    skua_msg_free(msg);
}
