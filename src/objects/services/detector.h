/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detector.h - completion detection of a part of a program: termination detection (termination.h)
 * over the items that the program says it has produced and consumed.
 *
 * The PE that created a detector is its root.  A PE has a table of the detectors that it has used;
 * of all others it has counted nothing.  When a detector completes, a message goes down the tree
 * and all PEs remove it.
 */
#ifndef SKI_DETECTOR_H
#define SKI_DETECTOR_H

#include <skua/detector.h>

#include "objects/model/lifecycle.h"

/** The observer of this module (model/lifecycle.h): the detectors of a PE. */
extern const struct ski_lifecycle ski_detector_lifecycle;

#define SKI_DETECTOR_START_MIN 56
#define SKI_DETECTOR_END_MIN   sizeof(skua_detector)

/** Handler: start a detector that this PE has created. */
void ski_on_detector_start(skua_msg *msg);

/** Handler: a detector has completed. */
void ski_on_detector_end(skua_msg *msg);

#endif
