/* SPDX-License-Identifier: Apache-2.0 */
/*
 * future_value.h - the value of a future, for programs that are also run with corrupted packets
 * (packet_fuzz.c): a value of another size ends the program with a line.
 */
#ifndef TEST_FUTURE_VALUE_H
#define TEST_FUTURE_VALUE_H

#include <skua/skua.h>

#include "tap.h"

/** Waits for @p future, whose value has @p bytes bytes, and returns it. */
static inline const void *future_value(skua_future *future, size_t bytes)
{
    size_t      got  = 0;
    const void *data = skua_future_wait(future, &got);

    CHECK(data && got == bytes);
    return data;
}

#endif
