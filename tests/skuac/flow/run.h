/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the table of programs, which make_table generates for run.c. */
#ifndef RUN_H
#define RUN_H

#include <skua/skua.h>

#include "support.h"

/* A class.  The number of the entry, k and v determine a message (model.h). */
struct target {
    skua_ref (*create)(int pe);
    void (*send)(skua_ref to, unsigned entry, int k, int v);
    void (*next)(skua_ref to, struct turn turn);
};

/* An interface file, with its classes in order. */
struct program {
    const char *path;
    void (*add)(void); /* registers the module */
    const struct target *target;
};

/* Ended by a program without a path. */
extern const struct program programs[];

/** Called by the entry `next` of an object. */
void next_turn(void *self, skua_ref me, const struct trace *trace, struct turn turn);

#endif
