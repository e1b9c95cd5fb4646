/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - the results of two runs, side by side: `skua bench --compare OLD NEW`.
 *
 * A file has the lines of JSON that `skua bench --format=json` prints, or is a CSV file that `skua
 * bench` has written.  A row is a result that both files have, of equal benchmark, series, bytes
 * and metric.  Where a file has such a result several times, as after several runs into one file,
 * the best one counts.
 */
#ifndef SKUA_COMPARE_H
#define SKUA_COMPARE_H

#include "results.h"

/** The results of a file, in ascending order of their names. */
struct compare_list {
    struct result *result;
    size_t         count, room;
};

/** Reads the results of @p from, which @p name names in errors.  Returns false if a line is not a
 * result, or there is none, and prints where and why to @p errors. */
bool compare_read(struct compare_list *list, FILE *from, const char *name, FILE *errors);

/** Frees the results. */
void compare_free(struct compare_list *list);

/** Prints the rows of both lists from the largest worsening to the largest improvement, the means
 * of the ratios, and the results that are in one list only.  Changes of more than @p threshold
 * percent are marked. */
void compare_print(const struct compare_list *old, const struct compare_list *new, double threshold,
                   FILE *to);

/** Compares two files on standard output.  Returns the exit code: 1 if a file cannot be read. */
int compare_files(const char *old, const char *new, double threshold);

#endif
