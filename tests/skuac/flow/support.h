/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h - what the programs of this test share with those who watch them.
 *
 * A program is a class of an interface file.  It writes what it does into a trace, which is
 * part of its state: note(self, numbers...).  The first of the numbers says where in the
 * program it is; the others are values of parameters and variables.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdint.h>

#define TRACE_ITEMS 240

/* What is beyond the end is at least counted, and summed up. */
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

/* Two numbers: an argument that is a struct. */
struct pair {
    int k, v;
};

/* What an object is told when the messages of a stretch have been sent (run.c). */
struct turn {
    int run, at; /* which run, how many of its messages have been sent */
    int moved;   /* the object is where the next ones are sent from     */
    int owner;   /* the PE that wants to hear of the end                */
};

#endif
