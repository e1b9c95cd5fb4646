/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.c - see sanitizer.h. */
#include "base/sanitizer.h"

#include <stdint.h>

#ifdef SKI_ASAN
#include <sanitizer/lsan_interface.h>

bool ski_poison_on;

void ski_sanitizer_root_add(void *at, size_t bytes)
{
    __lsan_register_root_region(at, bytes);
}

void ski_sanitizer_root_remove(void *at, size_t bytes)
{
    __lsan_unregister_root_region(at, bytes);
}

void ski_sanitizer_one_process(bool one)
{
    ski_poison_on = one;
}
#else
void ski_sanitizer_root_add(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}

void ski_sanitizer_root_remove(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}

void ski_sanitizer_one_process(bool one)
{
    (void)one;
}
#endif

size_t ski_sanitizer_arena_max(void)
{
#if defined(SKI_ASAN) || defined(SKI_TSAN)
    return (size_t)1 << 30; /* ASan fills the shadow of all of it; TSan leaves few addresses */
#else
    return SIZE_MAX;
#endif
}
