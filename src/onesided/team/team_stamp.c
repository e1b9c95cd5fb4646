/* SPDX-License-Identifier: Apache-2.0 */
/* team_stamp.c - see team_stamp.h. */
#include "onesided/team/team_stamp.h"

#include "core/message/inbox_send.h"
#include "core/pe/pe.h"

SKI_COLD void ski_team_stamp_wake(struct ski_pe *self, struct ski_team_stamp *stamp)
{
    uint32_t sleepers = atomic_exchange_explicit(&stamp->sleepers, 0, memory_order_acq_rel);

    for (; sleepers; sleepers &= sleepers - 1)
        ski_inbox_wakeup(self, __builtin_ctz(sleepers));
}
