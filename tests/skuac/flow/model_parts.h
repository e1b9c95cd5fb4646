/* SPDX-License-Identifier: Apache-2.0 */
/* model_parts.h - between the files of the model: control flow in model.c, C in expression.c. */
#ifndef MODEL_PARTS_H
#define MODEL_PARTS_H

#include "model.h"

/* A name in scope.  Strands that are written within each other share values. */
struct binding {
    const struct binding *outer;
    struct text           name;
    struct value         *value;
};

struct list {
    void   **at;
    unsigned count, room;
};

struct model {
    const struct class *class;
    struct trace          trace;
    const struct binding *state;          /* the fields of the object            */
    struct list           ready, waiting; /* strands                             */
    struct list           kept, late;     /* messages, the oldest first          */
    struct list           memory;         /* all of it, until the end            */
    unsigned              steps;
    bool                  running;
};

/** Zeroed memory that lives as long as the model. */
void *model_alloc(struct model *model, size_t bytes);

/** A name with a value of its own. */
const struct binding *bind(struct model *model, const struct binding *outer, struct text name,
                           struct value value);

/** A message with these arguments comes: from outside, or from a strand that runs. */
void model_arrive(struct model *model, const struct entry *entry, const struct value *arguments);

/** The value of an expression; what statements do. */
struct value evaluate(struct model *model, const struct binding *scope, struct code code);
void         execute(struct model *model, const struct binding *scope, struct code code);

#define ARGUMENTS 4

#endif
