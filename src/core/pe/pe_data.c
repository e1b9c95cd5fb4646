/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe_data.c - data of PEs and of processes.
 *
 * A key is an offset into a block, of which each PE has one, or each process; registration only
 * makes the block larger.
 */
#include "core/pe/pe_data.h"

#include <string.h>

#include <skua/pe.h>

#include "base/memory.h"
#include "core/pe/pe.h"

/* No key is 0, which is that of a variable that was never registered.  The zeroed bytes there are
 * enough for code that reads before it checks a key (objects/services/stream.c). */
static size_t data_pe_bytes = SKI_DATA_BEGIN, data_process_bytes = SKI_DATA_BEGIN;
static char  *data_process_block;
static bool   data_closed;

static uint32_t data_reserve(const char *call, size_t *total, size_t bytes)
{
    size_t offset = *total;

    if (data_closed)
        ski_misuse("%s: data is registered before skua_main() or skua_init()", call);
    if (bytes > UINT32_MAX - SKI_CACHE_LINE - offset)
        ski_misuse("%s: %zu bytes are too many; register a pointer instead", call, bytes);
    *total += (bytes + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
    return (uint32_t)offset;
}

skua_pe_data skua_pe_data_register(size_t bytes)
{
    return (skua_pe_data){data_reserve(__func__, &data_pe_bytes, bytes)};
}

skua_process_data skua_process_data_register(size_t bytes)
{
    return (skua_process_data){data_reserve(__func__, &data_process_bytes, bytes)};
}

static SKI_COLD _Noreturn void data_misuse(const char *call)
{
    ski_misuse("%s: a key that was never registered", call);
}

void *skua_pe_data_get(skua_pe_data key)
{
    if (SKI_UNLIKELY(!key.offset))
        data_misuse(__func__);
    ski_assert(key.offset % SKI_CACHE_LINE == 0 && key.offset < data_pe_bytes);
    return (char *)SKI_SELF()->data + key.offset;
}

void *skua_process_data_get(skua_process_data key)
{
    if (SKI_UNLIKELY(!key.offset))
        data_misuse(__func__);
    if (SKI_UNLIKELY(!data_process_block))
        ski_misuse("%s: called outside of skua_main() and of phases (skua_init())", __func__);
    ski_assert(key.offset < data_process_bytes);
    return data_process_block + key.offset;
}

static void *data_zeroed(size_t bytes)
{
    return memset(ski_memory_checked(aligned_alloc(SKI_CACHE_LINE, bytes), bytes), 0, bytes);
}

void ski_data_open(void)
{
    data_closed        = true;
    data_process_block = data_zeroed(data_process_bytes);
}

void ski_data_close(void)
{
    free(data_process_block);
    data_process_block = NULL;
}

void ski_data_reset(void)
{
    data_closed = false;
}

void *ski_data_of_pe(void)
{
    return data_zeroed(data_pe_bytes);
}
