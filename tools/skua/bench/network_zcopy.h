/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_zcopy.h - the part of `skua bench network` that measures channels and zero copy: the
 * programs of `skua bench channels` and `skua bench zerocopy`, with each driver.
 *
 * Their results are added to the series skua-DRIVER, with these metrics:
 *
 *   channel_us, channel_heap_us        a round trip through a pair of channels, with memory of
 *                                      skua_channel_alloc() and of malloc()
 *   channel_message_us, channel_entry_us
 *                                      the same by messages and by entry calls, copied in and out
 *   channel_learned_us                 a round trip of entry calls with in-place delivery, which
 *                                      become a learned channel
 *   zcopy_copy_us, zcopy_get_us, zcopy_put_us, zcopy_send_us, zcopy_post_us
 *                                      a transfer one way, with memory of skua_buffer_alloc()
 *   zcopy_copy_heap_us, ...            the same with memory of malloc()
 */
#ifndef SKUA_NETWORK_ZCOPY_H
#define SKUA_NETWORK_ZCOPY_H

#include "network.h"

/** Measures channels and zero copy with @p driver. */
void network_zcopy_run(const struct network *network, struct results *results, const char *driver);

/** Returns the sizes for which a metric of this part is measured, and their number; NULL: the
 *  metric is none of this part. */
const size_t *network_zcopy_sizes(const char *metric, size_t *count);

/** Prints the goals of the driver whose series is @p series. */
void network_zcopy_print_goals(const struct results *results, const char *series);

#endif
