/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_x86.c - the sets of kernels of an application, struct KERNELS, on CPUs with SSE2, AVX2
 * and AVX-512. */
#include <stddef.h>

#include "kernels.h"

extern const struct KERNELS kernels_16, kernels_avx2, kernels_avx512;

const struct KERNELS *const *kernels_usable(void)
{
    static const struct KERNELS *const all[] = {&kernels_avx512, &kernels_avx2, &kernels_16, NULL};

    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return all + 2;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? all : all + 1;
}
