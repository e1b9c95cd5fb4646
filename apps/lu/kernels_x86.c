/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_x86.c - the kernels of CPUs with SSE2, AVX2 and AVX-512. */
#include <stddef.h>

#include "kernels.h"

extern const struct lu_kernels kernels_16, kernels_avx2, kernels_avx512;

const struct lu_kernels *const *kernels_usable(void)
{
    static const struct lu_kernels *const all[] = {&kernels_avx512, &kernels_avx2, &kernels_16,
                                                   NULL};

    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma"))
        return all;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? all + 1 : all + 2;
}
