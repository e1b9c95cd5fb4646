/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_tree.h - the creation of a section, and the tree that it makes on its way.
 *
 * It is a list of stations with their members (section.h), the creator's first.  A PE that
 * gets such a list is its first station.  It cuts the rest, as evenly as can be, into a
 * list for each of its children, which are the first stations of these.
 */
#ifndef SKI_SECTION_TREE_H
#define SKI_SECTION_TREE_H

#include "objects/collective/section.h"

/* Handlers. */
void ski_on_section_create(skua_msg *msg);

#define SKI_SECTION_CREATE_LEAST 32

#endif
