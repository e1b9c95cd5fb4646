/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - streams: small items for many PEs, aggregated into messages.
 *
 * The buffer is the message.  A stream has on each PE a slot for every neighbour in its mesh
 * (mesh.h), among them the PE itself; the first item for a slot allocates a message, items are
 * copied into its data, and sending hands it over as it is.  The receiver walks it in place.
 *
 * A message on its last hop is items and nothing else, so that a batch is its data.  On the hops
 * before, the destinations of the items follow after them:
 *
 *      | item 0 | item 1 | ... item n-1 |            last hop
 *      | item 0 | item 1 | ... item n-1 | to 0 | to 1 | ... to n-1 |   other hops
 *
 * Messages of a `held` stream end in the id of the group that their items are for, 64 bits; 0: the
 * program names none.  A slot is sent before it gets items for another group.
 *
 * While a message fills, the room for the destinations is after that for all items; the two are
 * moved together when a message is sent that is not full.  Each kind of hop has a handler of its
 * own.
 *
 * Invariants, on each PE and for each stream: `left` + items in slots == the bound of the stream; a
 * slot has a message if and only if it has items; between calls `left` > 0 and no slot is full; the
 * timer runs, if there is a period, if and only if items wait.
 */
#ifndef SKI_STREAM_H
#define SKI_STREAM_H

#include <stdbool.h>

#include <skua/stream.h>

#include "objects/model/lifecycle.h"

/** The observer of this module (model/lifecycle.h): the streams of a PE. */
extern const struct ski_lifecycle ski_stream_lifecycle;

#endif
