/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h - the objects layer of a PE: its beginning and its end.
 *
 * objects.c lists the modules of the layer.  A module that has state of a PE, or acts when elements
 * and collections come and go, adds its observer (model/lifecycle.h) there.
 */
#ifndef SKI_OBJECTS_H
#define SKI_OBJECTS_H

#include "core/pe/layer.h"

struct ski_pe;

/** The stages and calls of this layer. */
extern const struct ski_layer ski_objects_layer;

#endif
