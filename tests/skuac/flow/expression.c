/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.c - interprets the subset of C that the programs of this test use.
 *
 * A recursive-descent parser that evaluates while it parses.  Both operands of && and || are
 * evaluated: operands in these programs have no side effects.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model_parts.h"

struct reader {
    struct model         *model;
    const struct binding *scope;
    const char           *at, *end;
};

static long long read_conditional(struct reader *r);

static _Noreturn void lost(const struct reader *r)
{
    fprintf(stderr, "the model does not understand: %.*s\n", (int)(r->end - r->at), r->at);
    exit(2);
}

/* ---- words -------------------------------------------------------------------------------- */

static void skip_space(struct reader *r)
{
    while (r->at < r->end && text_is_space(*r->at))
        r->at++;
}

static bool accept(struct reader *r, const char *sign)
{
    size_t length = strlen(sign);

    skip_space(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, sign, length) != 0)
        return false;
    r->at += length;
    return true;
}

static void expect(struct reader *r, const char *sign)
{
    if (!accept(r, sign))
        lost(r);
}

static bool at_name(struct reader *r)
{
    skip_space(r);
    return r->at < r->end && text_is_letter(*r->at);
}

static struct text read_name(struct reader *r)
{
    const char *from;

    if (!at_name(r))
        lost(r);
    for (from = r->at; r->at < r->end && (text_is_letter(*r->at) || text_is_digit(*r->at));)
        r->at++;
    return text_between(from, r->at);
}

/* ---- values ------------------------------------------------------------------------------- */

static struct value *find(const struct reader *r, const struct binding *scope, struct text name)
{
    while (scope && !text_equal(scope->name, name))
        scope = scope->outer;
    if (!scope)
        lost(r);
    return scope->value;
}

/* Returns the variable of a name: in scope, or a field of the object. */
static struct value *read_variable(struct reader *r)
{
    struct text name = read_name(r);

    if (!text_is(name, "self"))
        return find(r, r->scope, name);
    expect(r, "->");
    return find(r, r->model->state, read_name(r));
}

static long long read_item(struct reader *r, const struct value *value)
{
    long long i;

    expect(r, "[");
    i = read_conditional(r);
    expect(r, "]");
    if (i < 0 || i >= value->n)
        lost(r);
    return value->x[i];
}

static long long read_field(struct reader *r, const struct value *value)
{
    struct text name = read_name(r);

    if (text_is(name, "k"))
        return value->k;
    if (text_is(name, "v"))
        return value->v;
    if (text_is(name, "n"))
        return value->n;
    if (text_is(name, "x"))
        return read_item(r, value);
    lost(r);
}

static long long read_primary(struct reader *r)
{
    const struct value *value;
    long long           number = 0;

    if (accept(r, "(")) {
        number = read_conditional(r);
        expect(r, ")");
        return number;
    }
    if (!at_name(r)) {
        if (r->at == r->end || !text_is_digit(*r->at))
            lost(r);
        while (r->at < r->end && text_is_digit(*r->at))
            number = number * 10 + (*r->at++ - '0');
        return number;
    }
    value = read_variable(r);
    skip_space(r);
    if (r->at < r->end && *r->at == '[')
        return read_item(r, value);
    if (accept(r, "->") || accept(r, "."))
        return read_field(r, value);
    return value->number;
}

/* ---- operators ---------------------------------------------------------------------------- */

static long long read_unary(struct reader *r)
{
    if (accept(r, "!"))
        return !read_unary(r);
    if (accept(r, "-"))
        return -read_unary(r);
    return read_primary(r);
}

static long long read_product(struct reader *r)
{
    long long left = read_unary(r);

    for (;;)
        if (accept(r, "*"))
            left *= read_unary(r);
        else if (accept(r, "/"))
            left /= read_unary(r);
        else if (accept(r, "%"))
            left %= read_unary(r);
        else
            return left;
}

static long long read_sum(struct reader *r)
{
    long long left = read_product(r);

    for (;;)
        if (accept(r, "+"))
            left += read_product(r);
        else if (accept(r, "-"))
            left -= read_product(r);
        else
            return left;
}

static long long read_comparison(struct reader *r)
{
    long long left = read_sum(r);

    if (accept(r, "=="))
        return left == read_sum(r);
    if (accept(r, "!="))
        return left != read_sum(r);
    if (accept(r, "<="))
        return left <= read_sum(r);
    if (accept(r, ">="))
        return left >= read_sum(r);
    if (accept(r, "<"))
        return left < read_sum(r);
    if (accept(r, ">"))
        return left > read_sum(r);
    return left;
}

static long long read_and(struct reader *r)
{
    long long left = read_comparison(r);

    while (accept(r, "&&"))
        left = (read_comparison(r) != 0) & (left != 0);
    return left;
}

static long long read_or(struct reader *r)
{
    long long left = read_and(r);

    while (accept(r, "||"))
        left = (read_and(r) != 0) | (left != 0);
    return left;
}

static long long read_conditional(struct reader *r)
{
    long long condition = read_or(r), yes, no;

    if (!accept(r, "?"))
        return condition;
    yes = read_conditional(r);
    expect(r, ":");
    no = read_conditional(r);
    return condition ? yes : no;
}

/* ---- statements --------------------------------------------------------------------------- */

/* note(self, a, b, ...) */
static void read_note(struct reader *r)
{
    int      item[16];
    unsigned count = 0;

    expect(r, "(");
    expect(r, "self");
    while (accept(r, ",") && count < 16)
        item[count++] = (int)read_conditional(r);
    expect(r, ")");
    trace_add(&r->model->trace, item, count);
}

/* Class_entry(Class_self(self), a, b, ...): a message to the object itself, delivered at once. */
static void read_send(struct reader *r, struct text name)
{
    size_t                  prefix               = r->model->class->name.text.length + 1;
    struct value            arguments[ARGUMENTS] = {0};
    const struct ast_entry *entry;
    unsigned                count = 0;

    if (name.length <= prefix)
        lost(r);
    entry = find_entry(r->model->class, (struct text){name.at + prefix, name.length - prefix});
    if (!entry)
        lost(r);
    expect(r, "(");
    read_name(r);
    expect(r, "(self)");
    while (accept(r, ",") && count < ARGUMENTS)
        arguments[count++].number = read_conditional(r);
    expect(r, ")");
    model_arrive(r->model, entry, arguments);
}

static void read_assignment(struct reader *r)
{
    struct value *to = read_variable(r);

    if (accept(r, "++"))
        to->number++;
    else if (accept(r, "--"))
        to->number--;
    else if (accept(r, "+="))
        to->number += read_conditional(r);
    else if (accept(r, "="))
        to->number = read_conditional(r);
    else
        lost(r);
}

static void read_statement(struct reader *r)
{
    struct reader ahead = *r;
    struct text   name  = read_name(&ahead);

    skip_space(&ahead);
    if (ahead.at == ahead.end || *ahead.at != '(') {
        read_assignment(r);
        return;
    }
    *r = ahead;
    if (text_is(name, "note"))
        read_note(r);
    else
        read_send(r, name);
}

void execute(struct model *model, const struct binding *scope, struct source_code code)
{
    struct reader r = {model, scope, code.text.at, code.text.at + code.text.length};

    for (skip_space(&r); r.at < r.end; skip_space(&r)) {
        read_statement(&r);
        skip_space(&r);
        if (r.at < r.end) /* the step of a loop has no semicolon */
            expect(&r, ";");
    }
}

struct value evaluate(struct model *model, const struct binding *scope, struct source_code code)
{
    struct reader r     = {model, scope, code.text.at, code.text.at + code.text.length};
    struct reader ahead = r;

    if (at_name(&ahead)) { /* a single name may denote a struct or a message */
        struct value *value = read_variable(&ahead);

        skip_space(&ahead);
        if (ahead.at == ahead.end)
            return *value;
    }
    struct value value = {.number = read_conditional(&r)};

    skip_space(&r);
    if (r.at < r.end)
        lost(&r);
    return value;
}
