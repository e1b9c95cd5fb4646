/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - what a CPU of this host shares with others, as the system tells in
 * /sys/devices/system/cpu: with or without hwloc.
 */
#ifndef SKI_PLACE_H
#define SKI_PLACE_H

#include <skua/topology.h>

/** Look a CPU up under @p root, "/sys/devices/system/cpu" but in tests; all but its
 *  number may be -1. */
skua_place ski_place_read(const char *root, int cpu);

#define SKI_PLACE_ROOT "/sys/devices/system/cpu"

/** How far two places of one host are from each other, SKUA_SAME_CORE at least. */
skua_nearness ski_place_distance(const skua_place *a, const skua_place *b);

#endif
