/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - the declarations that the interface file and the program share. */
#ifndef KEPT_H
#define KEPT_H

#include "../tap.h"

enum { ALONE, TOGETHER, HOPPING, WAYS }; /* how the objects are destroyed */

#define LENGTH 3000 /* of the arrays */

SKUA_BEGIN_DECLS

/** Sends arrays to all keepers, one by one, by broadcasts and to a section.  Returns their number.
 */
int kept_send_all(Keeper_proxy keepers);

/** Returns how many arrays have been released since the last call. */
int kept_released(void);

SKUA_END_DECLS

#endif
