/* SPDX-License-Identifier: Apache-2.0 */
/* time.h - skua_time(): the seconds since the job began. */
#ifndef SKUA_TIME_H
#define SKUA_TIME_H

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** Returns the seconds since the job began. The time is the same for all PEs of a host. It is read
 *  from the cycle counter and costs a few nanoseconds. In a job that is restarted from a checkpoint
 *  the time continues: it is the seconds until the checkpoint was made, and those since the
 *  restarted job began. Work that was lost, and the time between the two jobs, do not count. May be
 *  called anywhere. */
SKUA_API double skua_time(void);

SKUA_END_DECLS

#endif
