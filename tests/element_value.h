/* SPDX-License-Identifier: Apache-2.0 */
/* element_value.h - an element of any type that reductions know. */
#ifndef ELEMENT_VALUE_H
#define ELEMENT_VALUE_H

#include <complex.h>
#include <stdint.h>

union test_value {
    int32_t        i32;
    int64_t        i64;
    uint32_t       u32;
    uint64_t       u64;
    float          f;
    double         d;
    float complex  cf;
    double complex cd;
    char           bytes[16];
};

#endif
