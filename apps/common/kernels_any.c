/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_any.c - the sets of kernels of an application, struct KERNELS, on a CPU that has one kind
 * of vectors. */
#include <stddef.h>

#include "kernels.h"

extern const struct KERNELS kernels_16;

const struct KERNELS *const *kernels_usable(void)
{
    static const struct KERNELS *const all[] = {&kernels_16, NULL};

    return all;
}
