/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.h - elements that move to another PE.
 *
 * An element is packed when none of its entries is running: by the function of its class (pup.h),
 * behind what modules of the runtime give it to take along (struct ski_baggage).  As it travels:
 *
 *      struct migration_head | baggage of each module, in their order | the element
 */
#ifndef SKI_MIGRATION_H
#define SKI_MIGRATION_H

#include <skua/message.h>

#include "objects/model/lifecycle.h"

/** The observer of this module (model/lifecycle.h): elements that depart and arrive. */
extern const struct ski_lifecycle ski_migration_lifecycle;

/** Let an element that is SKI_ALIVE or SKI_LEAVING, and of a class that can be packed, migrate to
 *  @p pe when none of its entries is running; this PE: let it stay. */
void ski_migration_order(struct ski_object *object, int pe);

/** Handler: an element arrives. */
void ski_on_migrate(skua_msg *msg);

#define SKI_MIGRATE_LEAST (8 + 4 * SKI_BAGGAGES_MOST + 8 + 8)

#endif
