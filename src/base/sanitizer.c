/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.c - see sanitizer.h. */
#include "base/sanitizer.h"

#include <stdint.h>

#ifdef SKI_ASAN
bool ski_poison_on;

void ski_sanitizer_one_process(bool one)
{
    ski_poison_on = one;
}
#else
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
