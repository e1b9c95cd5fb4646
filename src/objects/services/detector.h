/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detector.h - completion of a part of a program, found by waves (termination.h) over what it
 * says to have produced and consumed.
 *
 * The PE that created a detector is the root of its waves.  A PE remembers the detectors
 * that it has used, in a table by their names; the others have nothing to report.  At
 * the end a message goes down the tree and all forget it.
 */
#ifndef SKI_DETECTOR_H
#define SKI_DETECTOR_H

#include <skua/detector.h>

struct ski_detect *ski_detect_begin(void);
void               ski_detect_end(struct ski_detect *detect);

#define SKI_DETECT_START_LEAST 56
#define SKI_DETECT_END_LEAST   sizeof(skua_detector)

void ski_on_detect_start(skua_msg *msg);
void ski_on_detect_end(skua_msg *msg);

#endif
