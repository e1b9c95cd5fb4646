/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance_layer.h - the balancer as a layer of the runtime, above objects: what it observes of
 * collections and elements, and which of its data migrate with an element.
 */
#ifndef SKI_BALANCE_LAYER_H
#define SKI_BALANCE_LAYER_H

#include "core/pe/layer.h"

/** The stages of this layer. */
extern const struct ski_layer ski_balance_layer;

#endif
