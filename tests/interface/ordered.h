/* SPDX-License-Identifier: Apache-2.0 */
/* ordered.h - the declarations that the interface file and the program share. */
#ifndef ORDERED_H
#define ORDERED_H

#include "../tap.h"

SKUA_BEGIN_DECLS

/** Sends a broadcast and a multicast with the given number, one of them with an array. */
void cast(Walker_proxy walkers, Walker_section some, int number);

/** Returns the number of arrays that have been released. */
int released(void);

SKUA_END_DECLS

#endif
