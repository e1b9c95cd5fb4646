/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_memory.c - the variable that leads a put to its stream.
 *
 * Elsewhere it is declared const (skua/stream.h), so that a compiler loads it once for a loop
 * that puts.  It does not change while a PE runs; here, where it is set, it is not const, and
 * that declaration must not be seen.
 */
#include <skua/api.h>

SKUA_API extern __thread char *skua_stream_memory;

__thread char *skua_stream_memory;

void ski_stream_memory_set(char *memory);

void ski_stream_memory_set(char *memory)
{
    skua_stream_memory = memory;
}
