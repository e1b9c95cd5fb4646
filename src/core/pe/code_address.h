/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_address.h - addresses of code as numbers that other processes of the program can read.
 *
 * The program may be loaded elsewhere in each process.  An address in the program itself is kept as
 * its offset there, with the highest bit set; one in a library is kept as it is.
 */
#ifndef SKI_CODE_ADDRESS_H
#define SKI_CODE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ski_frame;

/** Finds out where the program is in this process.  Once, before the calls below. */
void ski_code_open(void);

/** Returns the number of the code at @p code; 0 for NULL. */
uint64_t ski_code_address(const void *code);

/** Returns whether @p address is in the program itself. */
static inline bool ski_code_in_program(uint64_t address)
{
    return address >> 63;
}

/** Writes the function of the code at @p address, a return address, to @p text; with its source
 *  line, "function at file.c:12", if @p line. */
void ski_code_describe(uint64_t address, bool line, char *text, size_t size);

/** Writes the module, offset and symbol of the code at @p pc to @p frame.  Safe in a signal
 *  handler as far as dladdr() is. */
void ski_code_frame(struct ski_frame *frame, void *pc);

#endif
