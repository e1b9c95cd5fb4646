/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_memory.c - the variable through which a put finds its stream.
 *
 * skua/stream.h declares the variable const, so that a compiler loads it once for a loop that puts:
 * it does not change while a PE runs.  This file sets it, so it must not see that declaration.
 */
#include <skua/api.h>

SKUA_API extern __thread char *skua_stream_memory;

__thread char *skua_stream_memory;

void ski_stream_memory_set(char *memory);

void ski_stream_memory_set(char *memory)
{
    skua_stream_memory = memory;
}
