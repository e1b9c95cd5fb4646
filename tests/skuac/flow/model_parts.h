/* SPDX-License-Identifier: Apache-2.0 */
/* model_parts.h - shared by the files of the model: control flow in model.c, C in expression.c. */
#ifndef MODEL_PARTS_H
#define MODEL_PARTS_H

#include "model.h"

/* A name in scope.  Nested frames share values. */
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
    const struct ast_class *class;
    struct trace          trace;
    const struct binding *state;          /* the fields of the object            */
    struct list           ready, waiting; /* frames                              */
    struct list           kept, late;     /* messages, oldest first              */
    struct list           memory;         /* all allocations                     */
    unsigned              steps;
    bool                  running;
};

/** Returns zeroed memory that lives as long as the model. */
void *model_alloc(struct model *model, size_t bytes);

/** Adds a name with a value of its own to the scope @p outer. */
const struct binding *bind(struct model *model, const struct binding *outer, struct text name,
                           struct value value);

/** Delivers a message with the given arguments, from outside or from a running frame. */
void model_arrive(struct model *model, const struct ast_entry *entry,
                  const struct value *arguments);

/** Returns the value of an expression. */
struct value evaluate(struct model *model, const struct binding *scope, struct source_code code);

/** Executes statements. */
void execute(struct model *model, const struct binding *scope, struct source_code code);

#define ARGUMENTS 4

#endif
