/* SPDX-License-Identifier: Apache-2.0 */
/* owner.h - the declarations of owner.c for owner.ci. */
#ifndef OWNER_H
#define OWNER_H

#include <skua/api.h>
#include <stdint.h>

#include "../tap.h"

typedef struct Load Load; /* a message of owner.ci */

/* The counts of constructors and entries on each PE. */
enum {
    SAW_SEED,
    SAW_ON,
    SAW_KEPT,
    SAW_DEFAULTS,
    SAW_MEMBER,
    SAW_PROCESS,
    SAW_CELL,
    SAW_HOME,
    SAW_HAND,
    SAW_BEGUN,
    SAW_SLOW,
    SAW_TAKEN,
    SAW_ASKED,
    SAW_PASSED,
    KINDS
};

SKUA_BEGIN_DECLS

void  create_all(void);
void  invoke_all(void);
void  see(int kind, int64_t value);
Load *new_load(int k);
void  use(int kind, const Load *load);
void  use_new(int k);
void  check_all(int n, const int64_t *seen);

SKUA_END_DECLS

#endif
