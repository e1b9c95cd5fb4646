/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - parts of a tree once more: a class completes what it inherits in its own way. */
#ifndef COPY_H
#define COPY_H

#include "tree.h"

/** A list of parameters. */
struct parameter *copy_parameters(const struct parameter *list);

/** One entry, without its successor, with a body of its own. */
struct entry *copy_entry(const struct entry *entry);

#endif
