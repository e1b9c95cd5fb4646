/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap.h - a test prints "ok 1 - name" or "not ok 1 - name" for each check; any "not ok" fails it.
 *
 * Unit tests: call OK(), then return tap_end() from main().
 * Programs on several PEs: CHECK() ends the job with an error that names the line, so a test passes
 * only if it reaches its skua_exit(0). Randomised tests take their seed from tap_seed(), which
 * prints it; SEED=n in the environment repeats a run.
 */
#ifndef TAP_H
#define TAP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <skua/pe.h>

static int tap_count, tap_bad;

#define OK(condition, ...) tap_ok(!!(condition), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((unused, format(printf, 4, 5))) static void tap_ok(int pass, const char *file,
                                                                 int line, const char *what, ...)
{
    __builtin_va_list args;

    tap_bad += !pass;
    printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
    __builtin_va_start(args, what);
    vprintf(what, args);
    __builtin_va_end(args);
    printf(pass ? "\n" : " (%s:%d)\n", file, line);
}

__attribute__((unused)) static int tap_end(void)
{
    printf("1..%d\n", tap_count);
    return tap_bad != 0;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            skua_abort("%s:%d: this does not hold: %s", __FILE__, __LINE__, #condition);           \
    } while (0)

/* xorshift64*: a sequence that does not depend on the machine. */
static inline uint64_t tap_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

__attribute__((unused)) static uint64_t tap_seed(void)
{
    const char     *given = getenv("SEED");
    struct timespec now;
    uint64_t        seed;

    clock_gettime(CLOCK_REALTIME, &now);
    seed =
        given ? strtoull(given, NULL, 0) : (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;
    printf("# seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed ? seed : 1;
}

/* Returns true if all PEs share memory. */
static inline bool tap_all_near(void)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        if (!skua_shares_memory(pe))
            return false;
    return true;
}

#endif
