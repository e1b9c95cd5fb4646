/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - the streams of a PE.
 *
 * The buffer is the message.  A stream has on each PE a slot for every neighbour in its
 * mesh (mesh.h), among them the PE itself; the first item for a slot allocates a message,
 * items are copied into its data, and sending hands it over as it is.  The receiver
 * walks it in place.
 *
 * A message on its last hop is items and nothing else, so that a batch is its data.  On
 * the hops before, the PEs that items go to follow behind the items:
 *
 *      | item 0 | item 1 | ... item n-1 |            last
 *      | item 0 | item 1 | ... item n-1 | to 0 | to 1 | ... to n-1 |   on the way
 *
 * While it fills, the room for the PEs lies behind that for all items; what was filled
 * in part is moved together when it is sent.  Each kind has a handler of its own.
 *
 * Invariants, on each PE and for each stream: `left` + items in slots == the bound of
 * the stream; a slot has a message if and only if it has items; between calls `left` > 0
 * and no slot is full; the timer runs, if there is a period, if and only if items wait.
 */
#ifndef SKI_STREAM_H
#define SKI_STREAM_H

#include <stdbool.h>

#include <skua/stream.h>

struct ski_pe;
struct ski_text;

/** Send all that waits on this PE, of every stream; whether there was anything.  @p arg
 *  is not used: it is called when the PE is idle and by quiescence detection. */
bool ski_streams_flush(void *arg);

/** Append to @p text which items wait on this PE. */
void ski_streams_explain(struct ski_text *text);

/** Where offsets of streams lead into, for the calling thread (stream_memory.c). */
void ski_stream_memory_set(char *memory);

/** Where puts of the calling thread, which is now the PE @p self, find their streams. */
void ski_streams_begin(const struct ski_pe *self);

/** Before a PE ends: give back what its streams have. */
void ski_streams_end(struct ski_pe *self);

#endif
