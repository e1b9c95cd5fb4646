/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - see fuzz.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Called by libFuzzer, which chose the name. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
