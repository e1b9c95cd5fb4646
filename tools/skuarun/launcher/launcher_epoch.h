/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher_epoch.h - the epochs of a job that survives the loss of processes (--survive).
 *
 * Agents stay when their processes have ended, and send IDLE.  When all have, the launcher sends
 * them the specification of the next epoch, or closes their connections.  An agent that ends, or is
 * silent for SKUA_PEER_TIMEOUT, is lost with its host; other agents start its processes in the next
 * epoch (placement.h).  An agent that is left without processes, or is that of a spare host, stays
 * IDLE.  A job without --survive has one epoch.
 */
#ifndef SKUARUN_LAUNCHER_EPOCH_H
#define SKUARUN_LAUNCHER_EPOCH_H

#include "launcher/launcher_state.h"

/** Initialises what an epoch needs, for the processes of the map. */
void launcher_begin_epoch(struct launcher *l);

/** Frees what launcher_begin_epoch() has allocated. */
void launcher_end_epoch(struct launcher *l);

/** With --survive: kills agents that are silent for too long; when the epoch has ended, begins the
 *  next one or closes the connections to the agents. */
void launcher_check_epoch(struct launcher *l);

#endif
