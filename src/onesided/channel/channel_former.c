/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_former.c - channels of a job that this one was restarted from.
 *
 * Channels of PEs are not in a checkpoint: a sender is an address that the program keeps.  A
 * program that keeps the value of a channel in its state may use it after a restart by mistake, and
 * the record of another channel may be at the position in its key.  So generations of a restarted
 * job begin at a number of its own, in the upper 8 of their 24 bits.
 */
#include "onesided/channel/channel_pe.h"

void ski_channel_pe_restarted(struct ski_pe *self, uint32_t restarts)
{
    ski_channel_pe(self)->generation = (1 + restarts % 254) << 16;
}

const char *ski_channel_former_hint(const struct ski_pe *self)
{
    return ski_channel_pe(self)->generation
               ? "; one of the job before the restart is created anew, unless it is an object "
                 "channel"
               : "";
}
