/* SPDX-License-Identifier: Apache-2.0 */
/* saver.h - the declarations that saver.ci and its functions share. */
#ifndef SAVER_H
#define SAVER_H

#include "../tap.h"

#define SAVER_ROWS    3
#define SAVER_COLUMNS 4

SKUA_BEGIN_DECLS

void saver_add(Saver *self, int64_t key, int64_t x);
void saver_add_row(Saver *self, int64_t key, int n, const double *v);
void saver_check_shared(Saver *self, const double *v);
void saver_add_kept(Saver *self, int n, const double *v);
void saver_report(Saver *self, const skua_completion *done);

SKUA_END_DECLS

#endif
