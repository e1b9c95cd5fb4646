/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the reference model: an interpreter of structured control flow that walks over the AST.
 *
 * The model shares the parser with the translator, but no code with the emitter or the runtime.  It
 * follows the text of skua/skuac_flow.h in the most straightforward way: it searches lists from the
 * beginning.
 *
 * It interprets only the C that the programs of this test use: integers, the usual operators,
 * assignments, note(), and messages to the object itself.
 *
 * Two small non-negative numbers, k and v, determine a message; its arguments follow from them (see
 * value_of()):
 *
 *     int n                  1 + v % 3
 *     other integers         the first parameter k, others v
 *     int x[n], also of a message: v, v + 1, ...
 *     string s               "v", of one digit
 *     struct pair, message   k and v; a message has n as well
 */
#ifndef MODEL_H
#define MODEL_H

#include "support.h"
#include "support/text.h"
#include "ast/ast.h"

#define VALUE_ITEMS 3

/* The value of a parameter or a variable. */
struct value {
    long long number;
    int       k, v, n;
    int       x[VALUE_ITEMS];
};

/** Returns the value of the parameter at @p position of the message (k, v). */
struct value value_of(const struct ast_parameter *parameter, unsigned position, int k, int v);

struct feed_message {
    const struct ast_entry *entry;
    int                     k, v;
};

#define FEED_MAX 32

/* The messages to be sent to a program, in any order. */
struct feed {
    unsigned            count;
    struct feed_message message[FEED_MAX];
};

/** Returns the feed in the comment of the class: "feed: run 1 2, a 0 5". */
struct feed feed_of(const struct ast_class *class);

/** Returns the entry with the given name, or NULL. */
struct ast_entry *find_entry(const struct ast_class *class, struct text name);
unsigned          entry_number(const struct ast_class *class, const struct ast_entry *entry);

/** Returns the constructor, or NULL. */
struct ast_entry *find_constructor(const struct ast_class *class);

struct model;

/** Creates an object, with k = 1 and v = 2. */
struct model *model_new(const struct ast_class *class);
void          model_free(struct model *model);
void          model_send(struct model *model, const struct feed_message *message);

const struct trace *model_trace(const struct model *model);

/** Returns the number of steps executed; the model stops at MODEL_STEPS. */
unsigned model_steps(const struct model *model);
unsigned model_kept(const struct model *model);
#define MODEL_STEPS 5000

#endif
