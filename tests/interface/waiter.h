/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.h - the declarations that waiter.ci and its functions share. */
#ifndef WAITER_H
#define WAITER_H

#include "../tap.h"

#define WAITERS 9

SKUA_BEGIN_DECLS

void waiter_begin(Waiter *self, uint64_t seed);
void waiter_send(Waiter *self);
void waiter_take(Waiter *self, int64_t key, int n, const double *x);
void waiter_move(Waiter *self);
void waiter_report(Waiter *self, const skua_completion *done);

SKUA_END_DECLS

#endif
