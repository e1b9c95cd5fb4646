/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_flow.h - structured entries while their code is generated: frames, names in scope, and
 * fragments, the functions that hold the user's C code (emit_fragment.c).
 */
#ifndef EMIT_FLOW_H
#define EMIT_FLOW_H

#include "emit/emit_parts.h"

/** A part of a structured entry that waits on its own, and so has a frame at run time: the body of
 *  the entry, a branch of an `overlap`, or the body of a `forall`. */
struct emit_frame {
    const char              *name;  /* "Block__run", "Block__run__1" */
    const char              *title; /* "Block.run"                  */
    const struct emit_frame *outer; /* the frame that starts it     */
    struct writer            arrivals, variables, go;
    unsigned                 arrival_count, variable_count, waits, resume_points;
};

/** A message that a frame holds. */
struct emit_slot {
    struct emit_slot       *next; /* next slot of the same `when` */
    struct emit_frame      *frame;
    const char             *name;
    const struct ast_entry *entry;
    unsigned                opened; /* number of the fragment that has unmarshalled it */
};

/** A name in scope: a parameter of a message in `slot`, or else a variable of `frame`. */
struct emit_binding {
    struct emit_binding        *next; /* further out */
    struct text                 name;
    struct emit_slot           *slot;
    const struct ast_parameter *parameter; /* parameter of the slot's entry */
    struct emit_frame          *frame;     /* frame of a variable */
    const struct ast_field     *local;     /* declaration of a variable; NULL: an int */
    const char                 *variable;  /* member of the frame for the variable */
};

/** A structured entry while its code is generated. */
struct emit_flow {
    const struct ast_class *class;
    const char   *name;
    struct writer frames, fragments, functions;
    unsigned      fragment_count, frame_count;
};

/** A fragment while its code is generated. */
struct emit_fragment {
    struct emit_flow         *flow;
    struct emit_frame        *frame;
    struct emit_binding      *scope;
    const struct source_code *code;
    unsigned                  codes;
    const char               *name;
};

/* ---- names ------------------------------------------------------------------------------- */

/** Adds to @p scope the parameters of the message in @p slot, under the names in @p parameters. */
struct emit_binding *emit_bind_slot(struct emit_binding *scope, struct emit_slot *slot,
                                    const struct ast_parameter *parameters);

/** Adds to @p scope and to @p frame the variable @p name; @p local NULL: an int. */
struct emit_binding *emit_bind_variable(struct emit_binding *scope, struct emit_frame *frame,
                                        const struct ast_field *local, struct text name);

/** Adds to @p frame a slot for a message to @p entry. */
struct emit_slot *emit_add_slot(struct emit_frame *frame, const struct ast_entry *entry);

/* ---- fragments ----------------------------------------------------------------------------- */

/** Begins a function that contains @p codes pieces of code.  The caller appends its statements to
 *  flow->fragments and then calls emit_fragment_end(). */
struct emit_fragment emit_fragment_begin(struct emit_flow *flow, struct emit_frame *frame,
                                         struct emit_binding *scope, const char *what,
                                         const char *result, const struct source_code *code,
                                         unsigned codes);

/** Ends a fragment that returns the expression @p result, or nothing if that is empty.  Returns the
 *  name of the function. */
const char *emit_fragment_end(const struct emit_fragment *fragment, const char *result);

/** Emits, for each name of a @p message that the code mentions, that it becomes NULL if it is equal
 * to the C variable @p value: the frame does not own that message any more. */
void emit_fragment_give_up(const struct emit_fragment *fragment, const struct ast_message *message,
                           const char *value);

/** Generates a fragment that executes statements.  Returns the name of the function. */
const char *emit_fragment_statements(struct emit_flow *flow, struct emit_frame *frame,
                                     struct emit_binding *scope, const char *what,
                                     struct source_code code, const char *open, const char *close);

/** Generates a fragment that returns the value of an expression.  Returns the name of the
 *  function. */
const char *emit_fragment_value(struct emit_flow *flow, struct emit_frame *frame,
                                struct emit_binding *scope, const char *what, const char *type,
                                struct source_code code);

#endif
