/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the checks of a run, and its result. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>

#include "body.h"
#include "options.h"

/** A body whose force is compared with direct summation. */
struct check_sample {
    double at[3], a[3];
};

/** Returns true for 1 % of all bodies. */
bool check_is_sample(int64_t id);

/** Returns a body as a sample. */
struct check_sample check_sample_of(const struct body *body, const struct field *field);

/** Adds the accelerations by @p count points, by direct summation, to those of samples. */
void check_add_direct(double *sum, const struct check_sample *sample, int64_t samples,
                      const struct point *point, int64_t count, double eps);

/** The results of a run. */
struct check_run {
    struct body_sums sums;          /* sums after the last step                       */
    double           energy, drift; /* initial energy; largest drift of the energy    */
    double           force_error;   /* relative RMS error of the forces; < 0: unknown */
    int64_t          interactions;  /* interactions of all steps                      */
    int64_t          first;         /* interactions of step 0                         */
};

/** Records the sums of a step. */
void check_add_step(struct check_run *run, const struct body_sums *sums, int64_t step);

/** Records the error of the forces of samples; @p direct are those by direct summation. */
void check_compare(struct check_run *run, const struct check_sample *sample, const double *direct,
                   int64_t samples);

/** Prints the result line and the checks that failed.  Returns true if all checks hold. */
bool check_report(const struct check_run *run, const struct barneshut_options *options);

#endif
