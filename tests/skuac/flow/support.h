/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h - shared by the programs of this test and the code that runs them.
 *
 * A program is a class of an interface file.  It records its actions in a trace, which is part of
 * its state: note(self, numbers...).  The first number identifies the location in the program; the
 * others are values of parameters and variables.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdint.h>

#define TRACE_ITEMS 240

/* Items beyond the end are only counted and hashed. */
struct trace {
    uint32_t count, sum;
    int32_t  item[TRACE_ITEMS];
};

static inline void trace_add(struct trace *trace, const int *item, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (trace->count < TRACE_ITEMS)
            trace->item[trace->count] = item[i];
        trace->count++;
        trace->sum = trace->sum * 31 + (uint32_t)item[i];
    }
}

#define note(self, ...)                                                                            \
    trace_add(&(self)->trace, (const int[]){__VA_ARGS__},                                          \
              (unsigned)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

/* A struct argument. */
struct pair {
    int k, v;
};

/* Sent to an object after the messages of a stretch (run.c). */
struct turn {
    int run, at; /* number of the run, and of its messages sent so far */
    int moved;   /* the object is on the PE that sends the next stretch */
    int owner;   /* the PE to be notified of the end */
};

#endif
