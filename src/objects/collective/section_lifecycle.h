/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_lifecycle.h - what happens to sections when their members or their collection do.
 *
 * The position of a member in each of its sections migrates with it, and multicasts that wait for
 * it follow.  A destroyed member contributes no more.  A destroyed collection ends its sections.
 */
#ifndef SKI_SECTION_LIFECYCLE_H
#define SKI_SECTION_LIFECYCLE_H

#include "objects/model/lifecycle.h"

/** The observer of sections. */
extern const struct ski_lifecycle ski_section_lifecycle;

#endif
