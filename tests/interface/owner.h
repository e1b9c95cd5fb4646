/* SPDX-License-Identifier: Apache-2.0 */
/* owner.h - the declarations of owner.c for owner.ci. */
#ifndef OWNER_H
#define OWNER_H

#include <skua/api.h>
#include <stdint.h>

#include "../tap.h"

struct Load; /* a read-only variable of owner.ci */

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
    KINDS
};

SKUA_BEGIN_DECLS

void create_all(void);
void invoke_all(void);
void see(int kind, int64_t value);
void use(int kind, const struct Load *load);
void check_all(int n, const int64_t *seen);

SKUA_END_DECLS

#endif
