/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_renamed.h - settings that were renamed.
 *
 * RENAMED(former, present) declares that the variable SKUA_FORMER is an error at start, whose text
 * gives SKUA_PRESENT.  Without it, a job would run with the default in place of the value that was
 * meant.
 */
/* clang-format off */
RENAMED(attach,         cma)
RENAMED(handoff,        local_completion)
RENAMED(helper,         progress_thread)
RENAMED(interfaces,     net_interfaces)
RENAMED(learn_channels, learned_channels)
RENAMED(linger,         ack_delay)
RENAMED(pack,           pack_max)
RENAMED(packet,         packet_size)
RENAMED(packet_far,     packet_size_net)
RENAMED(registrations,  registration_cache)
RENAMED(request_pool,   request_window)
RENAMED(rma_least,      rma_threshold)
RENAMED(share,          shared_memory)
RENAMED(share_malloc,   malloc_arena)
RENAMED(zero_copy_host, zcopy_threshold_host)
RENAMED(zero_copy_net,  zcopy_threshold_net)
