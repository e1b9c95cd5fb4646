/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the reference: structured control flow by walking over the tree of a class.
 *
 * It shares the parser with the translator, and nothing with what the translator writes nor
 * with the runtime that this stands on.  It follows the text of skua/flow.h in the plainest
 * way: lists that are searched from the beginning.
 *
 * Of C it understands as much as the programs of this test use: integers and the usual
 * operators, assignments, note(), and sending to oneself.
 *
 * A message is given by two small numbers, k and v, which are not negative.  What the
 * arguments are follows from them (see value_of()):
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

/* What a parameter or a variable is. */
struct value {
    long long number;
    int       k, v, n;
    int       x[VALUE_ITEMS];
};

/** What the parameter at @p position of a message is. */
struct value value_of(const struct ast_parameter *parameter, unsigned position, int k, int v);

struct feed_message {
    const struct ast_entry *entry;
    int                     k, v;
};

#define FEED_MAX 32

/* The messages that a program is to be sent, in any order. */
struct feed {
    unsigned            count;
    struct feed_message message[FEED_MAX];
};

/** As the comment before the class says: "feed: run 1 2, a 0 5". */
struct feed feed_of(const struct ast_class *class);

/** The entry of a name, or NULL; its number in the class, by that order. */
struct ast_entry *find_entry(const struct ast_class *class, struct text name);
unsigned          entry_number(const struct ast_class *class, const struct ast_entry *entry);

/** The constructor, or NULL. */
struct ast_entry *find_constructor(const struct ast_class *class);

struct model;

/** An object that has been created, with k = 1 and v = 2. */
struct model *model_new(const struct ast_class *class);
void          model_free(struct model *model);
void          model_send(struct model *model, const struct feed_message *message);

const struct trace *model_trace(const struct model *model);

/** How much it has done; it stops at MODEL_STEPS.  Messages that nobody has waited for. */
unsigned model_steps(const struct model *model);
unsigned model_kept(const struct model *model);
#define MODEL_STEPS 5000

#endif
