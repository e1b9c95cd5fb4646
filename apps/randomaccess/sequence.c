/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.c - see sequence.h. */
#include "sequence.h"

/* Returns the product of two polynomials modulo x^64 + x^2 + x + 1. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    for (int bit = 63; bit >= 0; bit--) {
        product = sequence_next(product);
        if (b >> bit & 1)
            product ^= a;
    }
    return product;
}

uint64_t sequence_at(uint64_t n)
{
    uint64_t a = 1, power = 2; /* x^0, x^1 */

    for (; n; n >>= 1) {
        if (n & 1)
            a = multiply(a, power);
        power = multiply(power, power);
    }
    return a;
}
