/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - the fuzzing target; see fuzz.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Runs the translator on one input; an invariant that does not hold aborts.  libFuzzer requires
 *  this name. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
