/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_multicast.h - invoking the members of a section.
 *
 * A multicast goes to the root, which numbers it, and down the tree.  Each station hands
 * it to its members: in a loop, without messages, to those that are here; to the others by
 * a message that finds them (location.h).  So a member gets each multicast once, from its
 * station.  Those that were sent after it may overtake each other while it moves: what
 * comes before its turn waits, and moves along.
 *
 * If it has parts (nocopy.h), a station that not all of its host reach them from fetches them
 * before it passes them on; the multicasts behind wait.
 *
 * Two orders are multicasts as well: number 0, which tells a member that is not at its
 * station that it is enrolled and where its station is; and the last, which ends the
 * section.
 */
#ifndef SKI_SECTION_MULTICAST_H
#define SKI_SECTION_MULTICAST_H

#include "objects/collective/section.h"

/** Send the first order after a member that is not here. */
void ski_multicast_enrol(struct ski_section *section, const skua_index *index);

/** The multicasts that wait for a member follow it: it has left. */
void ski_multicast_follow(struct ski_section *section, struct ski_enrolled *member);

/** Carry out the order to end that waits. */
void ski_multicast_end(struct ski_section *section);

/** Invoke an entry of all members with a message with parts, which is used up. */
void ski_multicast_parts(skua_section target, skua_entry entry, skua_msg *msg);

/** Free a multicast, with or without parts. */
void ski_multicast_free(skua_msg *msg);

extern const struct ski_lifecycle ski_section_multicast_lifecycle;

/* Handlers. */
void ski_on_section_root(skua_msg *msg);
void ski_on_section(skua_msg *msg);
void ski_on_section_late(skua_msg *msg);

#define SKI_SECTION_LEAST 32

#endif
