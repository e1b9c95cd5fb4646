/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_product.h - an operator for reductions whose order matters: products of 2 x 2 matrices
 * over a prime field. */
#ifndef MATRIX_PRODUCT_H
#define MATRIX_PRODUCT_H

#include <skua/skua.h>

#include "tap.h"

static void matrix_product(void *into, const void *from, size_t count, skua_type type)
{
    uint64_t       *a = into;
    const uint64_t *b = from;

    CHECK(type == SKUA_UINT64 && count % 4 == 0); /* matrices are never split */
    for (size_t i = 0; i < count; i += 4, a += 4, b += 4) {
        uint64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                         a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        for (int k = 0; k < 4; k++)
            a[k] = c[k] % 1000003;
    }
}

#endif
