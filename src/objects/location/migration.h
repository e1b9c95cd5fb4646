/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.h - elements that move to another PE.
 *
 * An element moves when none of its entries is running.  As it travels:
 *
 *      struct migration_head | baggage of each module, in their order | the element
 *
 * Baggage is what modules of the runtime give the element to take along (struct ski_baggage).  The
 * element itself is packed by the function of its class (pup.h), straight into the message, and
 * unpacked from it.
 *
 * By pointer.  An element of a class that is SKUA_CLASS_BY_POINTER lies in the arena with all that
 * it owns, so a PE that shares the arena gets its address in place of its packed data; the object
 * keeps its address.  The source has done everything that needs the object before it posts the
 * message, and keeps a stub for what must follow it (ski_element_replace()): the object belongs to
 * the destination as soon as it is posted, and the inbox orders what the source has written before
 * what the destination reads.  No message in the source's queue names such an object by its address
 * (chare/invoke.h).  Baggage of the class itself (ski_class_set_baggage()) is for parts of an
 * object that cannot lie in the arena.
 */
#ifndef SKI_MIGRATION_H
#define SKI_MIGRATION_H

#include <skua/message.h>

#include "objects/model/lifecycle.h"

/** The observer of this module (model/lifecycle.h): elements that depart and arrive. */
extern const struct ski_lifecycle ski_migration_lifecycle;

/** Handler: an element arrives. */
void ski_on_migrate(skua_msg *msg);

#define SKI_MIGRATE_LEAST 36

#endif
