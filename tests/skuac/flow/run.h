/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - between run.c and the table that make_table writes: what the programs have alike. */
#ifndef RUN_H
#define RUN_H

#include <skua/skua.h>

#include "support.h"

/* A class.  A message is given by the number of its entry and by k and v (model.h). */
struct target {
    skua_ref (*create)(int pe);
    void (*send)(skua_ref to, unsigned entry, int k, int v);
    void (*next)(skua_ref to, struct turn turn);
};

/* An interface file, with its classes in order. */
struct program {
    const char *path;
    void (*add)(void); /* registers it */
    const struct target *target;
};

/* Ended by one without a path. */
extern const struct program programs[];

/** In the entry `next` of an object. */
void next_turn(void *self, skua_ref me, const struct trace *trace, struct turn turn);

#endif
