/* SPDX-License-Identifier: Apache-2.0 */
/* ast_dump.c - see ast_dump.h. */
#include "print/ast_dump.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "support/text.h"
#include "syntax/lexer.h"

/* The output stream and the current depth. */
struct ast_dump_output {
    FILE    *to;
    unsigned depth;
};

/* ---- lines -------------------------------------------------------------------------------- */

static void ast_dump_indent(struct ast_dump_output *out)
{
    fprintf(out->to, "%*s", (int)(4 * out->depth), "");
}

__attribute__((format(printf, 3, 4))) static void ast_dump_line(struct ast_dump_output *out,
                                                                struct source_location  location,
                                                                const char             *format, ...)
{
    va_list args;

    ast_dump_indent(out);
    va_start(args, format);
    vfprintf(out->to, format, args);
    va_end(args);
    if (location.line)
        fprintf(out->to, " @%u:%u", location.line, location.column);
    fputc('\n', out->to);
}

/* Prints a text on one line: a run of white space and comments becomes a single blank. */
static void ast_dump_flat(FILE *to, struct text text)
{
    const char *at = text.at, *end = text_end(text);

    while (at < end) {
        const char *after = lexer_comment_end(at, end);

        if (text_is_space(*at) || (after && after != at)) {
            at = text_is_space(*at) ? at + 1 : after;
            if (at < end && !text_is_space(*at) && lexer_comment_end(at, end) == at)
                fputc(' ', to);
        } else {
            fputc(*at++, to);
        }
    }
}

/* Prints a text: a run of white space becomes a single blank. */
static void ast_dump_squeezed(FILE *to, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!text_is_space(text.at[i]))
            fputc(text.at[i], to);
        else if (!text_is_space(text.at[i - 1]))
            fputc(' ', to);
}

/* Prints a text line by line, without empty lines. */
static void ast_dump_lines(struct ast_dump_output *out, struct text text, const char *mark,
                           bool squeezed)
{
    const char *at = text.at, *end = text_end(text);

    while (at < end) {
        const char *after = memchr(at, '\n', (size_t)(end - at));
        struct text here  = text_trim(text_between(at, after ? after : end));

        if (here.length) {
            ast_dump_indent(out);
            fprintf(out->to, "%s ", mark);
            if (squeezed)
                ast_dump_squeezed(out->to, here);
            else
                fwrite(here.at, 1, here.length, out->to);
            fputc('\n', out->to);
        }
        at = after ? after + 1 : end;
    }
}

static void ast_dump_comment(struct ast_dump_output *out, struct text text)
{
    if (text.at)
        ast_dump_lines(out, text, "comment |", true);
}

/* Prints code: on the line of its label if it has only one line. */
static void ast_dump_code(struct ast_dump_output *out, const char *what, struct source_code code)
{
    if (!code.text.at)
        return;
    if (!memchr(code.text.at, '\n', code.text.length)) {
        ast_dump_line(out, code.location, "%s | %.*s", what, (int)code.text.length, code.text.at);
        return;
    }
    ast_dump_line(out, code.location, "%s", what);
    out->depth++;
    ast_dump_lines(out, code.text, "|", false);
    out->depth--;
}

static void ast_dump_type(FILE *to, struct source_code code, unsigned stars)
{
    ast_dump_flat(to, code.text);
    fprintf(to, " %.*s", (int)(stars < 8 ? stars : 8), "********");
}

static void ast_dump_location(struct ast_dump_output *out, struct source_location at)
{
    fprintf(out->to, " @%u:%u\n", at.line, at.column);
}

/* ---- declarations ------------------------------------------------------------------------- */

static void ast_dump_fields(struct ast_dump_output *out, const char *what,
                            const struct ast_field *field)
{
    for (; field; field = field->next) {
        ast_dump_comment(out, field->comment);
        ast_dump_indent(out);
        fprintf(out->to, "%s%s ", field->transient ? "transient " : "", what);
        ast_dump_type(out->to, field->type, field->stars);
        fprintf(out->to, "%.*s", (int)field->name.text.length, field->name.text.at);
        ast_dump_location(out, field->name.location);
        out->depth++;
        for (const struct ast_dimension *d = field->dimensions; d; d = d->next) {
            if (d->length.text.at)
                ast_dump_code(out, "dimension", d->length);
            else
                ast_dump_line(out, d->location, "dimension");
        }
        ast_dump_code(out, "value", field->value);
        out->depth--;
    }
}

static void ast_dump_parameters(struct ast_dump_output *out, const struct ast_parameter *parameter)
{
    static const char *const passing[] = {"value", "array", "string", "message", "inplace"};

    for (; parameter; parameter = parameter->next) {
        ast_dump_indent(out);
        fprintf(out->to, "parameter %s%s ", passing[parameter->passing],
                parameter->post     ? " nocopypost"
                : parameter->nocopy ? " nocopy"
                                    : "");
        if (parameter->type.text.at)
            ast_dump_type(out->to, parameter->type, parameter->stars);
        else
            fputs("? ", out->to);
        if (parameter->name.text.at) {
            fprintf(out->to, "%.*s", (int)parameter->name.text.length, parameter->name.text.at);
            ast_dump_location(out, parameter->name.location);
        } else {
            ast_dump_location(out, parameter->type.location);
        }
        out->depth++;
        ast_dump_code(out, "length", parameter->length);
        out->depth--;
    }
}

/* ---- statements --------------------------------------------------------------------------- */

static void ast_dump_statement(struct ast_dump_output *out, const struct ast_statement *here);

static void ast_dump_statements(struct ast_dump_output *out, const struct ast_statement *here)
{
    for (; here; here = here->next)
        ast_dump_statement(out, here);
}

static void ast_dump_inner(struct ast_dump_output *out, const char *what,
                           const struct ast_statement *here)
{
    if (!here)
        return;
    ast_dump_line(out, (struct source_location){0}, "%s", what);
    out->depth++;
    ast_dump_statement(out, here);
    out->depth--;
}

static void ast_dump_when_entries(struct ast_dump_output      *out,
                                  const struct ast_when_entry *when_entry)
{
    for (; when_entry; when_entry = when_entry->next) {
        ast_dump_line(out, when_entry->location, "when-entry %.*s%s",
                      (int)when_entry->name.text.length, when_entry->name.text.at,
                      when_entry->bare ? " bare" : "");
        out->depth++;
        ast_dump_code(out, "reference", when_entry->reference);
        ast_dump_parameters(out, when_entry->parameters);
        out->depth--;
    }
}

/* Prints the line that begins a statement. */
static void ast_dump_statement_line(struct ast_dump_output *out, const struct ast_statement *here)
{
    static const char *const kinds[] = {"block",  "serial",  "when", "if",   "for",  "while",
                                        "forall", "overlap", "case", "call", "local"};

    ast_dump_indent(out);
    fputs(kinds[here->kind], out->to);
    if (here->name.text.at)
        fprintf(out->to, " %.*s", (int)here->name.text.length, here->name.text.at);
    if (here->label.at)
        fprintf(out->to, " \"%.*s\"", (int)here->label.length, here->label.at);
    ast_dump_location(out, here->location);
}

static void ast_dump_statement(struct ast_dump_output *out, const struct ast_statement *here)
{
    bool list = here->kind == STATEMENT_BLOCK || here->kind == STATEMENT_OVERLAP ||
                here->kind == STATEMENT_CASE;

    ast_dump_statement_line(out, here);
    out->depth++;
    ast_dump_when_entries(out, here->when_entries);
    ast_dump_fields(out, "variable", here->local);
    ast_dump_code(out, "first", here->first);
    ast_dump_code(out, "last", here->last);
    ast_dump_code(out, "condition", here->condition);
    ast_dump_code(out, "step", here->step);
    for (const struct ast_argument *argument = here->arguments; argument; argument = argument->next)
        ast_dump_code(out, "argument", argument->value);
    if (here->kind == STATEMENT_SERIAL)
        ast_dump_lines(out, here->code.text, "|", false);
    if (list)
        ast_dump_statements(out, here->body);
    else
        ast_dump_inner(out, "body", here->body);
    ast_dump_inner(out, "else", here->otherwise);
    out->depth--;
}

/* ---- classes ------------------------------------------------------------------------------ */

static void ast_dump_attributes(FILE *to, unsigned bits)
{
    for (unsigned i = 0; ast_attribute_names[i]; i++)
        if (bits & 1u << i)
            fprintf(to, " [%s]", ast_attribute_names[i]);
}

static void ast_dump_entry(struct ast_dump_output *out, const struct ast_entry *here)
{
    static const char *const kinds[] = {"entry", "constructor", "destructor"};

    ast_dump_comment(out, here->comment);
    ast_dump_indent(out);
    fprintf(out->to, "%s", kinds[here->kind]);
    ast_dump_attributes(out->to, here->attributes);
    fputc(' ', out->to);
    if (here->result.text.at)
        ast_dump_type(out->to, here->result, here->result_stars);
    fprintf(out->to, "%.*s", (int)here->name.text.length, here->name.text.at);
    ast_dump_location(out, here->location);
    out->depth++;
    ast_dump_code(out, "aggregate", here->aggregate);
    ast_dump_parameters(out, here->parameters);
    if (here->body)
        ast_dump_statement(out, here->body);
    out->depth--;
}

static void ast_dump_class(struct ast_dump_output *out, const struct ast_class *here)
{
    ast_dump_indent(out);
    for (unsigned i = 0; ast_class_attribute_names[i]; i++)
        if (here->attributes >> i & 1)
            fprintf(out->to, "%s ", ast_class_attribute_names[i]);
    fputs(ast_class_kind_names[here->kind], out->to);
    if (here->dims)
        fprintf(out->to, " %uD", here->dims);
    fprintf(out->to, " %.*s", (int)here->name.text.length, here->name.text.at);
    ast_dump_location(out, here->location);
    out->depth++;
    ast_dump_code(out, "index", here->index);
    for (const struct ast_base *base = here->bases; base; base = base->next)
        ast_dump_line(out, base->name.location, "base %.*s", (int)base->name.text.length,
                      base->name.text.at);
    for (const struct ast_entry *e = here->entries; e; e = e->next)
        ast_dump_entry(out, e);
    if (here->has_state) {
        ast_dump_line(out, here->state_location, "state");
        out->depth++;
        ast_dump_fields(out, "field", here->state);
        out->depth--;
    }
    out->depth--;
}

/* ---- modules ------------------------------------------------------------------------------ */

static void ast_dump_record(struct ast_dump_output *out, const char *what, struct source_name name,
                            const struct ast_field *members)
{
    ast_dump_line(out, name.location, "%s %.*s", what, (int)name.text.length, name.text.at);
    out->depth++;
    ast_dump_fields(out, "field", members);
    out->depth--;
}

static void ast_dump_item(struct ast_dump_output *out, const struct ast_item *here)
{
    ast_dump_comment(out, here->comment);
    switch (here->kind) {
    case ITEM_EXTERN:
        ast_dump_line(out, here->location, "extern %.*s", (int)here->is.module.text.length,
                      here->is.module.text.at);
        break;
    case ITEM_INCLUDE: ast_dump_code(out, "include", here->is.code); break;
    case ITEM_DIRECTIVE: ast_dump_code(out, "directive", here->is.code); break;
    case ITEM_READONLY: ast_dump_fields(out, "readonly", here->is.readonly); break;
    case ITEM_MESSAGE:
        ast_dump_record(out, "message", here->is.message->name, here->is.message->fields);
        break;
    case ITEM_RECORD:
        ast_dump_record(out, here->is.record->external ? "external struct" : "struct",
                        here->is.record->name, here->is.record->fields);
        break;
    case ITEM_CLASS: ast_dump_class(out, here->is.class); break;
    case ITEM_INIT:
        ast_dump_line(out, here->location, "initnode %.*s", (int)here->is.function.text.length,
                      here->is.function.text.at);
        break;
    case ITEM_CODE:
        ast_dump_line(out, here->location, "code");
        ast_dump_lines(out, here->is.code.text, "    |", false);
        break;
    }
}

static void ast_dump_module(struct ast_dump_output *out, const struct ast_module *here)
{
    ast_dump_comment(out, here->comment);
    if (here->name.text.at)
        ast_dump_line(out, here->location, "%s%s %.*s", here->imported ? "imported " : "",
                      here->main ? "mainmodule" : "module", (int)here->name.text.length,
                      here->name.text.at);
    else
        ast_dump_line(out, here->location, "outside");
    if (here->imported)
        return;
    out->depth++;
    for (const struct ast_item *i = here->items; i; i = i->next)
        ast_dump_item(out, i);
    out->depth--;
}

void ast_dump(FILE *to, const struct ast_tree *tree)
{
    struct ast_dump_output out = {.to = to};

    for (const struct ast_module *here = tree->modules; here; here = here->next)
        ast_dump_module(&out, here);
    assert(out.depth == 0);
}
