/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h - what test programs wait for.  Some of them are also run with corrupted packets
 * (packet_fuzz.c): a value of another size than expected ends the program with a line.
 */
#ifndef TEST_WAITS_H
#define TEST_WAITS_H

#include <string.h>

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

/** Waits for @p future, copies its value, which has @p bytes bytes, and clears it. */
static inline void future_take(skua_future *future, void *value, size_t bytes)
{
    memcpy(value, future_value(future, bytes), bytes);
    skua_future_clear(future);
}

/** Waits for @p future, whose value is one number, and clears it. */
static inline int64_t future_take_int64(skua_future *future)
{
    int64_t value;

    future_take(future, &value, sizeof value);
    return value;
}

/** Waits until the job is quiescent. */
static inline void wait_quiet(void)
{
    skua_counter quiet = SKUA_COUNTER_INIT;

    skua_quiescence(skua_done_count(&quiet));
    CHECK(skua_counter_wait(&quiet, 1));
}

/** Waits until all PEs have called it, or the job ends. */
static inline void wait_barrier(void)
{
    skua_counter passed = SKUA_COUNTER_INIT;

    skua_barrier(skua_done_count(&passed));
    skua_counter_wait(&passed, 1);
}

#endif
