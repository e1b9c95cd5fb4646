/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_marker.h - markers, which follow the messages of a PE to an element (route.h), and the end
 * of the wait for them.
 */
#ifndef SKI_ROUTE_MARKER_H
#define SKI_ROUTE_MARKER_H

#include "objects/location/route.h"

/** Handler: a marker, behind messages to an element. */
void ski_on_route_marker(skua_msg *msg);

/** Handler: the answer to a marker. */
void ski_on_route_clear(skua_msg *msg);

/** Handler: the answer to a probe (forward_window.h). */
void ski_on_probed(skua_msg *msg);

#endif
