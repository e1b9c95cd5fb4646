/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_plan.h - copies from one layout of this process to another of as many bytes.
 *
 * A *copy plan* is computed once for a pair of layouts, so that each copy has few decisions to
 * make:
 *
 *   block      both are one block
 *   strided    the same pattern of blocks on both sides, perhaps packed on one of them
 *   blocks     anything else: what is contiguous on both sides is copied (iov.h)
 */
#ifndef SKI_COPY_PLAN_H
#define SKI_COPY_PLAN_H

#include "onesided/rma/datatype.h"

/* The kinds of plans. */
enum ski_copy_kind { SKI_COPY_BLOCK, SKI_COPY_STRIDED, SKI_COPY_BLOCKS };

/* The plan of a copy. */
struct ski_copy_plan {
    enum ski_copy_kind kind;
    size_t             bytes;    /* of all data */
    skua_layout        to, from; /* STRIDED: with the same blocks; `at` is not used */
};

/** Computes the plan of a copy from one layout to another; both are simplified and have equally
 * many bytes.  NULL stands for one block.  Lists of the layouts must exist as long as the plan. */
void ski_copy_plan_make(struct ski_copy_plan *plan, const skua_layout *to, const skua_layout *from);

/** Copies data as planned. */
void ski_copy_plan_run(const struct ski_copy_plan *plan, char *to, const char *from);

#endif
