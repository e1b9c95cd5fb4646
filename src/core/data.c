/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c - data of PEs and of processes.
 *
 * A key is an offset into one block a PE, and one a process; registration only
 * makes the block larger.
 */
#include "core/data.h"

#include <string.h>

#include <skua/pe.h>

#include "base/memory.h"
#include "core/pe.h"

static size_t pe_bytes, process_bytes;
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

void *skua_pe_data_get(skua_pe_data key)
{
    return (char *)SKI_SELF()->data + key.offset;
}

void *skua_process_data_get(skua_process_data key)
{
    return process_block + key.offset;
}

static void *zeroed(size_t bytes)
{
    size_t size = bytes ? bytes : SKI_CACHE_LINE;
    return memset(ski_checked(aligned_alloc(SKI_CACHE_LINE, size), size), 0, size);
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
