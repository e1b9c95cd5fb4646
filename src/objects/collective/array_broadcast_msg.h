/* SPDX-License-Identifier: Apache-2.0 */
/* array_broadcast_msg.h - the messages of array broadcasts: what the root sends, and PEs get. */
#ifndef SKI_ARRAY_BROADCAST_MSG_H
#define SKI_ARRAY_BROADCAST_MSG_H

#include <stdint.h>

struct ski_collection;

/* The header of a broadcast; the data follows. */
struct ski_array_broadcast_head {
    _Alignas(32) uint64_t id;
    uint32_t entry;
    uint32_t number;
    uint32_t nocopy; /* the data is a message with nocopy arguments */
};

/* Orders of the runtime stand in place of an entry, in one sequence with the broadcasts. */
#define SKI_ARRAY_BROADCAST_ORDER_END    UINT32_MAX
#define SKI_ARRAY_BROADCAST_ORDER_CLOSE  (UINT32_MAX - 1)
#define SKI_ARRAY_BROADCAST_ORDER_CLOSED (UINT32_MAX - 2)

/** At the root, when all insertions have ended: broadcasts that the array is closed. */
void ski_array_broadcast_closed(struct ski_collection *all);

#endif
