/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe_data.c - data of PEs and of processes.
 *
 * A key is an offset into one block a PE, and one a process; registration only
 * makes the block larger.
 */
#include "core/pe/pe_data.h"

#include <string.h>

#include <skua/pe.h>

#include "base/memory.h"
#include "core/pe/pe.h"

/* No key is 0, which a variable has that was never registered.  What lies there is as long as
 * what is looked at before a key is checked (objects/services/stream.c). */
static size_t pe_bytes = SKI_DATA_BEGIN, process_bytes = SKI_DATA_BEGIN;
static char  *process_block;
static bool   closed;

static uint32_t reserve(const char *call, size_t *total, size_t bytes)
{
    size_t offset = *total;

    if (closed)
        ski_misuse("%s: data is registered before skua_main()", call);
    if (bytes > UINT32_MAX - SKI_CACHE_LINE - offset)
        ski_misuse("%s: %zu bytes are too many; register a pointer instead", call, bytes);
    *total += (bytes + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
    return (uint32_t)offset;
}

skua_pe_data skua_pe_data_register(size_t bytes)
{
    return (skua_pe_data){reserve(__func__, &pe_bytes, bytes)};
}

skua_process_data skua_process_data_register(size_t bytes)
{
    return (skua_process_data){reserve(__func__, &process_bytes, bytes)};
}

static SKI_COLD _Noreturn void data_misuse(const char *call)
{
    ski_misuse("%s: a key that was never registered", call);
}

void *skua_pe_data_get(skua_pe_data key)
{
    if (SKI_UNLIKELY(!key.offset))
        data_misuse(__func__);
    return (char *)SKI_SELF()->data + key.offset;
}

void *skua_process_data_get(skua_process_data key)
{
    if (SKI_UNLIKELY(!key.offset))
        data_misuse(__func__);
    return process_block + key.offset;
}

static void *zeroed(size_t bytes)
{
    return memset(ski_checked(aligned_alloc(SKI_CACHE_LINE, bytes), bytes), 0, bytes);
}

void ski_data_open(void)
{
    closed        = true;
    process_block = zeroed(process_bytes);
}

void ski_data_close(void)
{
    free(process_block);
    process_block = NULL;
}

void *ski_data_of_pe(void)
{
    return zeroed(pe_bytes);
}
