/* SPDX-License-Identifier: Apache-2.0 */
/* core_layer.h - core as a layer: the lowest in the list of layer.h. */
#ifndef SKI_CORE_LAYER_H
#define SKI_CORE_LAYER_H

#include "core/pe/layer.h"

/** The stages of core. */
extern const struct ski_layer ski_core_layer;

#endif
