/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_flow.h - structured entries while they are written: strands, names in scope, and pieces
 * of the user's C as functions of their own (emit_fragment.c).
 */
#ifndef EMIT_FLOW_H
#define EMIT_FLOW_H

#include "emit_parts.h"

/* One part of a structured entry that waits for itself. */
struct strand {
    const char          *name;  /* "Block__run", "Block__run_1" */
    const char          *title; /* "Block.run"                  */
    const struct strand *outer; /* in which it is written       */
    struct writer        arrivals, variables, go;
    unsigned             arrival_count, variable_count, waits, places;
};

/* A message that a frame holds. */
struct slot {
    struct slot        *next; /* of the same `when` */
    struct strand      *strand;
    const char         *name;
    const struct entry *entry;
    unsigned            opened; /* the fragment that has opened it */
};

/* A name that code may mention. */
struct binding {
    struct binding         *next; /* further out */
    struct text             name;
    struct slot            *slot;      /* a parameter ...                  */
    const struct parameter *parameter; /* ... of its entry                 */
    struct strand          *strand;    /* else a variable of this frame    */
    const struct field     *local;     /* ... of this type; NULL: int      */
    const char             *variable;
};

/* A structured entry while it is written. */
struct flow {
    const struct class *class;
    const char   *name;
    struct writer frames, fragments, functions;
    unsigned      fragment_count, strand_count;
};

/* A fragment while it is written. */
struct fragment {
    struct flow       *flow;
    struct strand     *strand;
    struct binding    *scope;
    const struct code *code;
    unsigned           codes;
    const char        *name;
};

/* ---- names ------------------------------------------------------------------------------- */

/** The parameters of an entry whose message a frame holds, under the names that @p parameters
 *  give them. */
struct binding *bind_slot(struct binding *scope, struct slot *slot,
                          const struct parameter *parameters);

/** A variable in the frame of a strand; @p local NULL: an int. */
struct binding *bind_variable(struct binding *scope, struct strand *strand,
                              const struct field *local, struct text name);

/** Room for a message in the frame of a strand. */
struct slot *add_slot(struct strand *strand, const struct entry *entry);

/* ---- fragments ----------------------------------------------------------------------------- */

/** Begin a function for pieces of code; what it does with them is written next, to
 *  flow->fragments.  End it: its name. */
struct fragment begin_fragment(struct flow *flow, struct strand *strand, struct binding *scope,
                               const char *what, const char *result, const struct code *code,
                               unsigned codes);
const char     *end_fragment(const struct fragment *fragment, const char *result);

/** A fragment that is one piece of code: statements, or an expression with a value. */
const char *put_statements_fragment(struct flow *flow, struct strand *strand, struct binding *scope,
                                    const char *what, struct code code, const char *open,
                                    const char *close);
const char *put_value_fragment(struct flow *flow, struct strand *strand, struct binding *scope,
                               const char *what, const char *type, struct code code);

#endif
