/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_marker.h - markers, which follow the messages of a PE to an element (route.h).
 */
#ifndef SKI_ROUTE_MARKER_H
#define SKI_ROUTE_MARKER_H

#include "objects/location/route.h"

/** Handler: a marker, behind messages to an element. */
void ski_on_route_marker(skua_msg *msg);

#endif
