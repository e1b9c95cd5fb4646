/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_multicast.h - invoking the members of a section.
 *
 * A multicast goes to the root, which numbers it, and down the tree of delegates.  Each delegate
 * delivers it to its own members: in a loop, without messages, to those on its PE; to the others by
 * a message that finds them (location.h).  So a member gets each multicast once, from its delegate.
 * Messages to a member may overtake each other while it migrates: a multicast that comes before its
 * turn waits, and follows the member when it migrates again.
 *
 * An element that is destroyed before it is enrolled leaves no section: the next element of its
 * index is the member.  So a multicast that waits for such an element, or finds none at the home,
 * returns to the delegate, which drops it if the member has left, and else sends it again: either
 * the order that enrolls the next element, or the message that the member has left, is in flight.
 *
 * A delegate that gets a multicast with nocopy arguments (nocopy.h) which some PE of its host does
 * not reach fetches them before it passes the multicast on; later multicasts wait.
 *
 * Three orders are multicasts as well: number 0 informs a member that is not on the PE of its
 * delegate which PE that is; the last of a generation sends its members to the next one
 * (section_rebuild.h), or ends the section.
 */
#ifndef SKI_SECTION_MULTICAST_H
#define SKI_SECTION_MULTICAST_H

#include "objects/collective/section.h"

/** Sends the order that enrolls a member which is not on this PE, its delegate. */
void ski_section_multicast_enroll(struct ski_section *section, const skua_index *index);

/** Sends the multicasts that wait for a member after it: the member has left this PE. */
void ski_section_multicast_follow(struct ski_section *section, struct ski_section_member *member);

/** Returns the multicasts that wait for a member to its delegate: the member was destroyed before
 * it was enrolled. */
void ski_section_multicast_return(struct ski_section *section, struct ski_section_member *member);

/** Executes the order to end that waits in @p section. */
void ski_section_multicast_end(struct ski_section *section);

/** Frees a multicast, with or without nocopy arguments. */
void ski_section_multicast_free(skua_msg *msg);

/** The observer of section multicasts. */
extern const struct ski_lifecycle ski_section_multicast_lifecycle;

/** At the root: sends the order that lets the members of @p section switch to the generation of the
 *  members in @p lists, in its turn. */
void ski_section_multicast_switch(const struct ski_section *section, const void *lists,
                                  size_t bytes);

/** Handler at the root: numbers a multicast and passes it down the tree. */
void ski_on_section_multicast_root(skua_msg *msg);

/** Handler: deliver a multicast at a delegate. */
void ski_on_section_multicast(skua_msg *msg);

/** Handler: deliver a multicast to one member, which is not on the PE of its delegate. */
void ski_on_section_multicast_catch_up(skua_msg *msg);

/** Handler at a delegate: a multicast found no element, or one destroyed before its turn. */
void ski_on_section_multicast_returned(skua_msg *msg);

#define SKI_SECTION_MULTICAST_MIN 32 /* bytes of the smallest multicast */

#endif
