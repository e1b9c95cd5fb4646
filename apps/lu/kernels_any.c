/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_any.c - the kernels of a CPU that has one kind of vectors. */
#include <stddef.h>

#include "kernels.h"

extern const struct lu_kernels kernels_16;

const struct lu_kernels *const *kernels_usable(void)
{
    static const struct lu_kernels *const all[] = {&kernels_16, NULL};

    return all;
}
