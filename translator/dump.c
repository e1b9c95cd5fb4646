/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - see dump.h. */
#include "dump.h"

#include <stdarg.h>
#include <string.h>

#include "lexer.h"
#include "text.h"

/* Where it goes to, and how deep we are. */
struct dumping {
    FILE    *to;
    unsigned depth;
};

/* ---- lines --------------------------------------------------------------------------------- */

static void indent(struct dumping *out)
{
    fprintf(out->to, "%*s", (int)(4 * out->depth), "");
}

__attribute__((format(printf, 3, 4))) static void line(struct dumping *out, struct place place,
                                                       const char *format, ...)
{
    va_list args;

    indent(out);
    va_start(args, format);
    vfprintf(out->to, format, args);
    va_end(args);
    if (place.line)
        fprintf(out->to, " @%u:%u", place.line, place.column);
    fputc('\n', out->to);
}

/* On one line, with one space for each stretch of space and comments. */
static void squeeze(FILE *to, struct text text)
{
    const char *at = text.at, *end = text_end(text);

    while (at < end) {
        const char *after = comment_end(at, end);

        if (is_space(*at) || (after && after != at)) {
            at = is_space(*at) ? at + 1 : after;
            if (at < end && !is_space(*at) && comment_end(at, end) == at)
                fputc(' ', to);
        } else {
            fputc(*at++, to);
        }
    }
}

static struct text trimmed(struct text text)
{
    for (; text.length && is_space(*text.at); text.length--)
        text.at++;
    while (text.length && is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

/* With one space for each stretch of it. */
static void put_squeezed(FILE *to, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!is_space(text.at[i]))
            fputc(text.at[i], to);
        else if (!is_space(text.at[i - 1]))
            fputc(' ', to);
}

/* Line by line, without those that are empty. */
static void lines(struct dumping *out, struct text text, const char *mark, bool squeezed)
{
    const char *at = text.at, *end = text_end(text);

    while (at < end) {
        const char *after = memchr(at, '\n', (size_t)(end - at));
        struct text here  = trimmed(text_between(at, after ? after : end));

        if (here.length) {
            indent(out);
            fprintf(out->to, "%s ", mark);
            if (squeezed)
                put_squeezed(out->to, here);
            else
                fwrite(here.at, 1, here.length, out->to);
            fputc('\n', out->to);
        }
        at = after ? after + 1 : end;
    }
}

static void comment(struct dumping *out, struct text text)
{
    if (text.at)
        lines(out, text, "comment |", true);
}

/* An expression: one line if it is on one. */
static void code(struct dumping *out, const char *what, struct code code)
{
    if (!code.text.at)
        return;
    if (!memchr(code.text.at, '\n', code.text.length)) {
        line(out, code.place, "%s | %.*s", what, (int)code.text.length, code.text.at);
        return;
    }
    line(out, code.place, "%s", what);
    out->depth++;
    lines(out, code.text, "|", false);
    out->depth--;
}

static void type(FILE *to, struct code code, unsigned stars)
{
    squeeze(to, code.text);
    fprintf(to, " %.*s", (int)(stars < 8 ? stars : 8), "********");
}

static void place(struct dumping *out, struct place at)
{
    fprintf(out->to, " @%u:%u\n", at.line, at.column);
}

/* ---- declarations -------------------------------------------------------------------------- */

static void fields(struct dumping *out, const char *what, const struct field *field)
{
    for (; field; field = field->next) {
        comment(out, field->comment);
        indent(out);
        fprintf(out->to, "%s%s ", field->transient ? "transient " : "", what);
        type(out->to, field->type, field->stars);
        fprintf(out->to, "%.*s", (int)field->name.text.length, field->name.text.at);
        place(out, field->name.place);
        out->depth++;
        for (const struct dimension *d = field->dimensions; d; d = d->next) {
            if (d->length.text.at)
                code(out, "dimension", d->length);
            else
                line(out, d->place, "dimension");
        }
        code(out, "value", field->value);
        out->depth--;
    }
}

static void parameters(struct dumping *out, const struct parameter *parameter)
{
    static const char *const passing[] = {"value", "array", "string", "message", "landing"};

    for (; parameter; parameter = parameter->next) {
        indent(out);
        fprintf(out->to, "parameter %s%s ", passing[parameter->passing],
                parameter->post     ? " nocopypost"
                : parameter->nocopy ? " nocopy"
                                    : "");
        if (parameter->type.text.at)
            type(out->to, parameter->type, parameter->stars);
        else
            fputs("? ", out->to);
        if (parameter->name.text.at) {
            fprintf(out->to, "%.*s", (int)parameter->name.text.length, parameter->name.text.at);
            place(out, parameter->name.place);
        } else {
            place(out, parameter->type.place);
        }
        out->depth++;
        code(out, "length", parameter->length);
        out->depth--;
    }
}

/* ---- statements ---------------------------------------------------------------------------- */

static void statement(struct dumping *out, const struct statement *here);

static void statements(struct dumping *out, const struct statement *here)
{
    for (; here; here = here->next)
        statement(out, here);
}

static void inner(struct dumping *out, const char *what, const struct statement *here)
{
    if (!here)
        return;
    line(out, (struct place){0}, "%s", what);
    out->depth++;
    statement(out, here);
    out->depth--;
}

static void triggers(struct dumping *out, const struct trigger *trigger)
{
    for (; trigger; trigger = trigger->next) {
        line(out, trigger->place, "trigger %.*s%s", (int)trigger->name.text.length,
             trigger->name.text.at, trigger->bare ? " bare" : "");
        out->depth++;
        code(out, "reference", trigger->reference);
        parameters(out, trigger->parameters);
        out->depth--;
    }
}

/* The words of a statement, on its line. */
static void statement_line(struct dumping *out, const struct statement *here)
{
    static const char *const kinds[] = {"block",  "serial",  "when", "if",   "for",  "while",
                                        "forall", "overlap", "case", "call", "local"};

    indent(out);
    fputs(kinds[here->kind], out->to);
    if (here->name.text.at)
        fprintf(out->to, " %.*s", (int)here->name.text.length, here->name.text.at);
    if (here->label.at)
        fprintf(out->to, " \"%.*s\"", (int)here->label.length, here->label.at);
    place(out, here->place);
}

static void statement(struct dumping *out, const struct statement *here)
{
    bool list = here->kind == STATEMENT_BLOCK || here->kind == STATEMENT_OVERLAP ||
                here->kind == STATEMENT_CASE;

    statement_line(out, here);
    out->depth++;
    triggers(out, here->triggers);
    fields(out, "variable", here->local);
    code(out, "first", here->first);
    code(out, "last", here->last);
    code(out, "condition", here->condition);
    code(out, "step", here->step);
    for (const struct argument *argument = here->arguments; argument; argument = argument->next)
        code(out, "argument", argument->value);
    if (here->kind == STATEMENT_SERIAL)
        lines(out, here->code.text, "|", false);
    if (list)
        statements(out, here->body);
    else
        inner(out, "body", here->body);
    inner(out, "else", here->otherwise);
    out->depth--;
}

/* ---- classes ------------------------------------------------------------------------------- */

static void attributes(FILE *to, unsigned bits)
{
    static const char *const names[] = {"threaded",   "sync",   "expedited",       "immediate",
                                        "inline",     "local",  "reductiontarget", "createhere",
                                        "createhome", "nokeep", "notrace",         "aggregate"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bits & 1u << i)
            fprintf(to, " [%s]", names[i]);
}

static void entry(struct dumping *out, const struct entry *here)
{
    static const char *const kinds[] = {"entry", "constructor", "destructor"};

    comment(out, here->comment);
    indent(out);
    fprintf(out->to, "%s", kinds[here->kind]);
    attributes(out->to, here->attributes);
    fputc(' ', out->to);
    if (here->result.text.at)
        type(out->to, here->result, here->result_stars);
    fprintf(out->to, "%.*s", (int)here->name.text.length, here->name.text.at);
    place(out, here->place);
    out->depth++;
    code(out, "aggregate", here->aggregate);
    parameters(out, here->parameters);
    if (here->body)
        statement(out, here->body);
    out->depth--;
}

static void class(struct dumping *out, const struct class *here)
{
    static const char *const kinds[] = {"mainchare", "chare", "group",
                                        "nodegroup", "array", "interface"};

    indent(out);
    fprintf(out->to, "%s%s", here->migratable ? "migratable " : "", kinds[here->kind]);
    if (here->dims)
        fprintf(out->to, " %uD", here->dims);
    fprintf(out->to, " %.*s", (int)here->name.text.length, here->name.text.at);
    place(out, here->place);
    out->depth++;
    code(out, "index", here->index);
    for (const struct base *base = here->bases; base; base = base->next)
        line(out, base->name.place, "base %.*s", (int)base->name.text.length, base->name.text.at);
    for (const struct entry *e = here->entries; e; e = e->next)
        entry(out, e);
    if (here->has_state) {
        line(out, here->state_place, "state");
        out->depth++;
        fields(out, "field", here->state);
        out->depth--;
    }
    out->depth--;
}

/* ---- modules ------------------------------------------------------------------------------- */

static void record(struct dumping *out, const char *what, struct name name,
                   const struct field *members)
{
    line(out, name.place, "%s %.*s", what, (int)name.text.length, name.text.at);
    out->depth++;
    fields(out, "field", members);
    out->depth--;
}

static void item(struct dumping *out, const struct item *here)
{
    comment(out, here->comment);
    switch (here->kind) {
    case ITEM_EXTERN:
        line(out, here->place, "extern %.*s", (int)here->is.module.text.length,
             here->is.module.text.at);
        break;
    case ITEM_INCLUDE: code(out, "include", here->is.code); break;
    case ITEM_HASH: code(out, "hash", here->is.code); break;
    case ITEM_READONLY: fields(out, "readonly", here->is.readonly); break;
    case ITEM_MESSAGE:
        record(out, "message", here->is.message->name, here->is.message->fields);
        break;
    case ITEM_RECORD: record(out, "struct", here->is.record->name, here->is.record->fields); break;
    case ITEM_CLASS: class(out, here->is.class); break;
    case ITEM_INIT:
        line(out, here->place, "initnode %.*s", (int)here->is.function.text.length,
             here->is.function.text.at);
        break;
    case ITEM_CODE:
        line(out, here->place, "code");
        lines(out, here->is.code.text, "    |", false);
        break;
    }
}

static void module(struct dumping *out, const struct module *here)
{
    comment(out, here->comment);
    if (here->name.text.at)
        line(out, here->place, "%s%s %.*s", here->foreign ? "foreign " : "",
             here->main ? "mainmodule" : "module", (int)here->name.text.length, here->name.text.at);
    else
        line(out, here->place, "outside");
    if (here->foreign)
        return;
    out->depth++;
    for (const struct item *i = here->items; i; i = i->next)
        item(out, i);
    out->depth--;
}

void dump(FILE *to, const struct tree *tree)
{
    struct dumping out = {.to = to};

    for (const struct module *here = tree->modules; here; here = here->next)
        module(&out, here);
}
