/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - what a PE remembers for this layer, and its beginning and end. */
#ifndef SKI_OBJECTS_H
#define SKI_OBJECTS_H

#include "core/pe.h"

struct ski_waves;
struct ski_quiet;
struct ski_detect;
struct ski_gate;

struct ski_objects {
    struct ski_waves  *waves;  /* wave.c       */
    struct ski_quiet  *quiet;  /* quiescence.c */
    struct ski_detect *detect; /* detector.c   */
    struct ski_gate   *gate;   /* program.c    */
};

/** On each PE, also the hidden helpers. */
void ski_objects_begin(struct ski_pe *self);
void ski_objects_end(struct ski_pe *self);

#endif
