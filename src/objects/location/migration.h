/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.h - elements that move to another PE.
 *
 * An element moves when none of its entries is running.  On the wire:
 *
 *      struct migration_head | baggage of each module, in their order | the packed element, or gaps
 *
 * Baggage is what modules of the runtime add to the element (struct ski_baggage).  The
 * element itself is packed by the function of its class (pup.h), directly into the message, and
 * unpacked from it, unless it migrates by pointer.
 *
 * By pointer.  Elements of classes that can migrate are in the arena.  If all that an element owns
 * is there as well (its class is SKUA_CLASS_BY_POINTER), or it owns nothing (skua_pup_plain), a
 * PE that shares the arena gets its address, in the head, and no packed data; the object keeps its
 * address.  The source has done everything that needs the object before it posts the message, and
 * keeps a stub for what must follow it (ski_element_replace()): the object belongs to the
 * destination as soon as it is posted, and the inbox orders what the source has written before what
 * the destination reads.  No message in the source's queue names such an object by its address:
 * those of a class by pointer never do (chare/invoke.h), and a plain object that they name is
 * packed, so its memory stays until they have run.  An object whose class has a function of its own
 * and no `destroy`, but packs nothing outside of its memory, goes by pointer as well: what its
 * class does not pack (the gaps, which follow the baggage) is zeroed at the destination, and the
 * function runs there as if it unpacked the rest (ski_pup_within()).  Baggage of the class itself
 * (ski_class_set_flow()) is for parts of an object that cannot be in the arena.
 */
#ifndef SKI_MIGRATION_H
#define SKI_MIGRATION_H

#include <skua/message.h>

#include "objects/model/lifecycle.h"

/** The observer of this module (model/lifecycle.h): elements that depart and arrive. */
extern const struct ski_lifecycle ski_migration_lifecycle;

/** Orders an element that is SKI_ALIVE or SKI_LEAVING, and of a class that can be packed, to
 * migrate to @p pe as soon as none of its entries is running.  If @p pe is this PE, the element
 * stays. */
void ski_migration_order(struct ski_object *object, int pe);

/** Returns the baggage of a module in a message that brings an element, and its size; NULL: there
 * is none. */
const void *ski_migration_baggage(const skua_msg *msg, const struct ski_baggage *of, size_t *bytes);

/** Handler: an element arrives. */
void ski_on_migrate(skua_msg *msg);

#define SKI_MIGRATE_MIN (24 + 4 * (SKI_BAGGAGES_MAX + 1))

#endif
