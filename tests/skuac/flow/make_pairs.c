/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_pairs.c - generates a program for every construct nested in every other.
 *
 * usage: make_pairs DIAGONALS MODULE >MODULE.ci
 *
 * With fewer DIAGONALS than constructs, each construct is the outer one of so many programs and the
 * inner one of so many.
 *
 * The innermost construct contains a `when` of its own; notes surround and separate the
 * constructs.
 */
#include <stdlib.h>

#include "program.h"

enum construct { BLOCK, WHEN, BOTH, IF, FOR, WHILE, FORALL, OVERLAP, CASE, CALL };
#define CONSTRUCTS 10

static const char *const title[] = {"Block", "When",   "Both",    "If",   "For",
                                    "While", "Forall", "Overlap", "Case", "Call"};

/* The constructs to nest, from `at` on, and the innermost one. */
struct nest {
    struct program *p;
    enum construct  construct[2];
    unsigned        at;
};

static void put_nest(struct nest nest);

static void put_inner(struct nest nest)
{
    put_note(nest.p);
    nest.at++;
    put_nest(nest);
    put_note(nest.p);
}

/* ---- constructs: each writes what is within at least once --------------------------------- */

static void put_block(struct nest nest)
{
    line(nest.p, "{");
    put_inner(nest);
    line(nest.p, "}");
}

static void put_when(struct nest nest)
{
    line(nest.p, "when %s {", when_entry_text(nest.p, 0, NULL));
    put_inner(nest);
    line(nest.p, "}");
}

/* Two messages, one of them by reference number. */
static void put_both(struct nest nest)
{
    line(nest.p, "when %s,", when_entry_text(nest.p, 0, "1"));
    line(nest.p, "     %s {", when_entry_text(nest.p, 1, NULL));
    put_inner(nest);
    line(nest.p, "}");
}

static void put_if(struct nest nest)
{
    line(nest.p, "if (self->x %% 2 == 0) {");
    line(nest.p, "serial { self->x++; }");
    put_inner(nest);
    line(nest.p, "} else {");
    put_inner(nest);
    line(nest.p, "}");
}

static void put_for(struct nest nest)
{
    unsigned n = new_variable(nest.p);

    readable(nest.p, "i%u", n);
    line(nest.p, "for (int i%u = 0; i%u < 2; i%u++) {", n, n, n);
    put_inner(nest);
    line(nest.p, "}");
}

static void put_while(struct nest nest)
{
    unsigned n = new_variable(nest.p);

    readable(nest.p, "u%u", n);
    line(nest.p, "int u%u;", n);
    line(nest.p, "while (u%u < 2) {", n);
    line(nest.p, "serial { u%u++; }", n);
    put_inner(nest);
    line(nest.p, "}");
}

static void put_forall(struct nest nest)
{
    unsigned n = new_variable(nest.p);

    readable(nest.p, "f%u", n);
    line(nest.p, "forall [f%u] (0 : 1) {", n);
    put_inner(nest);
    line(nest.p, "}");
}

static void put_overlap(struct nest nest)
{
    unsigned names = nest.p->body->names;

    line(nest.p, "overlap {");
    put_block(nest);
    nest.p->body->names = names;
    line(nest.p, "when %s {", when_entry_text(nest.p, 1, NULL));
    put_note(nest.p);
    line(nest.p, "}");
    nest.p->body->names = names;
    put_block(nest);
    line(nest.p, "}");
}

static void put_case(struct nest nest)
{
    unsigned names = nest.p->body->names;

    line(nest.p, "case {");
    line(nest.p, "when %s {", when_entry_text(nest.p, 0, "1"));
    put_inner(nest);
    line(nest.p, "}");
    nest.p->body->names = names;
    line(nest.p, "when %s {", when_entry_text(nest.p, 1, NULL));
    put_inner(nest);
    line(nest.p, "}");
    line(nest.p, "}");
}

static void put_call(struct nest nest)
{
    char name[16];

    snprintf(name, sizeof name, "sub%u", new_variable(nest.p));
    line(nest.p, "%s(%s, 3);", name, nest.p->body->name[nest.p->body->names - 1]);
    entry_begin(nest.p, name);
    put_inner(nest);
    entry_end(nest.p);
}

static void put_innermost(struct program *p)
{
    line(p, "when %s {", when_entry_text(p, 2, NULL));
    put_note(p);
    line(p, "}");
}

static void put_nest(struct nest nest)
{
    static void (*const put[])(struct nest) = {put_block, put_when,  put_both,   put_if,
                                               put_for,   put_while, put_forall, put_overlap,
                                               put_case,  put_call};
    unsigned names                          = nest.p->body->names;

    if (nest.at == 2)
        put_innermost(nest.p);
    else
        put[nest.construct[nest.at]](nest);
    nest.p->body->names = names;
}

/* ---- programs ----------------------------------------------------------------------------- */

/* Enough messages to finish the program, few enough to try all orders. */
static const char *feed(const struct program *p)
{
    if (p->used[0] && p->used[1])
        return "run 1 2, a 0 1, a 1 2, b 0 3, c 0 4, c 1 6";
    if (p->used[0])
        return "run 1 2, a 0 1, a 1 2, c 0 4, c 1 6, c 2 2";
    if (p->used[1])
        return "run 1 2, b 0 3, b 1 5, c 0 4, c 1 6, c 2 2";
    return "run 1 2, run 2 1, c 0 4, c 1 6, c 2 2, c 3 3";
}

static void put_pair(enum construct outer, enum construct inner, const char *message)
{
    char           name[32];
    struct program p = {.name         = name,
                        .message      = message,
                        .when_entries = 3,
                        .when_entry   = {SHAPE_TWO, SHAPE_MESSAGE, SHAPE_ARRAY}};

    snprintf(name, sizeof name, "%sIn%s", title[inner], title[outer]);
    program_begin(&p);
    entry_begin(&p, "run");
    put_note(&p);
    put_nest((struct nest){&p, {outer, inner}, 0});
    put_note(&p);
    entry_end(&p);
    program_end(&p, stdout, feed(&p));
}

int main(int argc, char **argv)
{
    const unsigned diagonals = argc > 2 ? (unsigned)atoi(argv[1]) : CONSTRUCTS;
    const char    *module    = argc > 2 ? argv[2] : "pairs";
    char           message[64];

    snprintf(message, sizeof message, "%s_tile", module);
    file_begin(stdout, module, message);
    for (unsigned outer = 0; outer < CONSTRUCTS; outer++)
        for (unsigned i = 0; i < diagonals; i++)
            put_pair((enum construct)outer, (enum construct)((outer + i) % CONSTRUCTS), message);
    file_end(stdout);
    return 0;
}
