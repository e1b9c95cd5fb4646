/* SPDX-License-Identifier: Apache-2.0 */
/* everything.h - the declarations that the modules of everything.ci share with C. */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../tap.h"

/* Events that are counted. */
enum {
    HIT_SQUARE,
    HIT_SHAPE,
    HIT_READONLY,
    HIT_ARGUMENTS,
    HIT_MESSAGE,
    HIT_KEPT,
    HIT_CREATE,
    HIT_INDEX,
    HIT_ATTRIBUTE,
    HIT_ITEM,
    HIT_OWN,
    HIT_FLOW,
    HIT_DESTROY,
    HITS
};

SKUA_BEGIN_DECLS
void hit(int what); /* counts an event on this PE */
SKUA_END_DECLS

struct setting {
    int    level;
    double factor;
};

/* A user-defined index. */
struct key {
    char    name[8];
    int32_t number;
};

/* An object with a user-defined struct. */
struct Own {
    int     n, moves;
    double *x;
};

#define BIG (1 << 17) /* count of numbers that take a megabyte */

#endif
