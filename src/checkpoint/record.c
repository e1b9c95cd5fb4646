/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - see record.h. */
#include "checkpoint/record.h"

#include <string.h>

#include "core/collective/collective.h"
#include "core/pe/handler.h"
#include "objects/model/msg_target.h"

void ski_record_send(struct ski_pe *self, int pe, enum ski_record kind, const void *head,
                     size_t head_bytes, const void *data, size_t bytes)
{
    struct ski_record_head record = {kind};
    skua_msg              *msg    = skua_msg_alloc(sizeof record + head_bytes + bytes);
    char                  *at     = skua_msg_data(msg);

    memcpy(at, &record, sizeof record);
    if (head_bytes)
        memcpy(at + sizeof record, head, head_bytes);
    if (bytes)
        memcpy(at + sizeof record + head_bytes, data, bytes);
    (void)self;
    skua_send(pe, (skua_handler){SKI_HANDLER_RESTORE_RECORD}, msg);
}

void ski_record_broadcast(struct ski_pe *self, enum ski_record kind, const void *data, size_t bytes)
{
    struct ski_record_head record = {kind};

    ski_broadcast(self, SKI_HANDLER_RESTORE_RECORD,
                  ski_msg_with_header(&record, sizeof record, data, bytes));
}
