/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h.
 *
 * The formatter reads the tokens of the source again and prints them one by one.  Where a code
 * span of the AST begins, it copies the C code and continues after it.  The separator between two
 * tokens depends on both, and on the comments and newlines between them.
 *
 * A brace opens a block, whose contents are indented by one level more than its line.  A line
 * break inside a statement indents by one more level, inside brackets to the column after the
 * bracket.
 */
#include "print/format.h"

#include <assert.h>
#include <string.h>

#include "print/indent.h"
#include "support/source.h"
#include "support/text.h"
#include "syntax/lexer.h"

#define BLOCKS_MAX 512 /* nested blocks; more than the parser accepts */
#define PARENS_MAX 16

struct format_block {
    unsigned level, breaks;
    bool     wrapped; /* a list continues on this line */
};

struct format_state {
    struct indent_output        out;
    struct lexer                lexer;
    const struct ast_code_span *span;        /* the next code span */
    const char                 *printed_end; /* end of what has been printed, in the source */
    struct lexer_token          last;        /* the last token printed */
    bool                        code;        /* the last thing printed was C */

    struct format_block block, blocks[BLOCKS_MAX];
    unsigned            depth;
    unsigned            paren[PARENS_MAX], parens; /* columns after the open brackets */

    bool line_due; /* a statement or declaration has ended: the next token begins a line */
    bool one_line; /* C between braces on one line */
    bool forall;   /* `forall` was printed, its `(` not yet */
    bool comment;  /* a comment follows the last token */
    bool own_line; /* the comment has a line of its own */
};

static bool format_is(const struct lexer_token *token, char mark)
{
    return token->kind == TOKEN_PUNCTUATOR && *token->text.at == mark;
}

static bool format_last_is(const struct format_state *f, char mark)
{
    return !f->code && format_is(&f->last, mark);
}

static bool format_last_is_keyword(const struct format_state *f, const char *const *words)
{
    return !f->code && f->last.kind == TOKEN_IDENTIFIER && text_index_in(f->last.text, words) >= 0;
}

/* ---- lines -------------------------------------------------------------------------------- */

static unsigned format_count_newlines(const char *at, const char *end)
{
    unsigned lines = 0;

    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

static unsigned format_margin(const struct format_state *f)
{
    if (f->parens)
        return f->paren[f->parens - 1];
    return 4 * (f->block.level + f->block.breaks + f->block.wrapped);
}

/* Begins a line; the source has @p lines newlines here. */
static void format_new_line(struct format_state *f, unsigned lines)
{
    bool top = format_last_is(f, '{') && !f->comment;

    indent_new_line(&f->out, format_margin(f), lines > 1 && !top && !f->parens);
}

/* ---- tokens ------------------------------------------------------------------------------- */

/* Returns whether no blank separates @p token from the last one. */
static bool format_is_joined(const struct format_state *f, const struct lexer_token *token)
{
    static const char *const spaced[] = {"if",    "for",   "while",  "forall",
                                         "array", "entry", "serial", NULL};

    if (format_is(token, ')') || format_is(token, ']') || format_is(token, ',') ||
        format_is(token, ';') || format_last_is(f, '(') || format_last_is(f, '[') ||
        format_last_is(f, '~') || (format_last_is(f, '*') && !format_is(token, '=')))
        return true;
    if (format_is(token, '('))
        return !format_last_is_keyword(f, spaced) && !f->forall;
    return format_is(token, '[') && !format_last_is_keyword(f, spaced);
}

/* Returns whether @p token stays on the line of the last one, whatever was between them. */
static bool format_stays(const struct format_state *f, const struct lexer_token *token)
{
    if (f->comment || (f->last.kind == TOKEN_DIRECTIVE && !f->code))
        return false;
    if (format_is(token, '{'))
        return !f->line_due;
    if (format_is(token, '}'))
        return f->one_line || format_last_is(f, '{');
    return format_is(token, ',') || format_is(token, ';') || format_is(token, ')') ||
           format_is(token, ']') ||
           (format_last_is(f, '}') && token->kind == TOKEN_IDENTIFIER &&
            text_is(token->text, "else"));
}

static bool format_begins_line(const struct format_state *f, const struct lexer_token *token,
                               unsigned lines)
{
    return token->kind == TOKEN_DIRECTIVE || (format_is(token, '}') && !f->parens) ||
           (f->line_due && !(f->comment && f->own_line && !lines));
}

/* Prints what separates @p token from the last one; the source has @p lines newlines here. */
static void format_separate(struct format_state *f, const struct lexer_token *token, unsigned lines)
{
    if (!f->out.begun)
        return;
    if (!format_stays(f, token) && format_begins_line(f, token, lines)) {
        if (!format_is(token, '}'))
            f->block = (struct format_block){.level = f->block.level};
        format_new_line(f, format_is(token, '}') ? 1 : lines);
    } else if (!format_stays(f, token) && lines) {
        f->block.wrapped = f->block.wrapped || format_last_is(f, ',');
        f->block.breaks += !f->parens && !f->block.wrapped;
        format_new_line(f, 1);
    } else if (!format_is_joined(f, token) || (f->comment && token->kind != TOKEN_PUNCTUATOR)) {
        indent_spaces(&f->out, 1);
    }
}

static void format_open_bracket(struct format_state *f, bool brace)
{
    if (!brace) {
        f->paren[f->parens < PARENS_MAX ? f->parens : PARENS_MAX - 1] = f->out.column;
        f->parens += f->parens < PARENS_MAX;
        return;
    }
    f->block.wrapped = false;

    f->blocks[f->depth < BLOCKS_MAX ? f->depth++ : BLOCKS_MAX - 1] = f->block;

    f->block    = (struct format_block){.level = f->block.level + f->block.breaks + 1};
    f->line_due = true;
}

/* Must be called before the brace is printed: the brace is not indented. */
static void format_close_brace(struct format_state *f)
{
    if (f->depth)
        f->block = f->blocks[--f->depth];
}

static void format_put(struct format_state *f, const struct lexer_token *token, unsigned lines)
{
    if (format_is(token, '}'))
        format_close_brace(f);
    format_separate(f, token, lines);
    indent_put(&f->out, token->text);
    f->forall = (token->kind == TOKEN_IDENTIFIER && text_is(token->text, "forall")) ||
                (f->forall && !format_is(token, '('));
    f->line_due = token->kind == TOKEN_DIRECTIVE || format_is(token, '}') ||
                  (format_is(token, ';') && !f->parens);
    if (format_is(token, '(') || format_is(token, '[') || format_is(token, '{'))
        format_open_bracket(f, format_is(token, '{'));
    else if ((format_is(token, ')') || format_is(token, ']')) && f->parens)
        f->parens--;
    f->one_line = f->comment = f->own_line = f->code = false;

    f->last = *token;
    assert(text_end(token->text) >= f->printed_end); /* nothing is printed twice */
    f->printed_end = text_end(token->text);
}

/* ---- C and comments ----------------------------------------------------------------------- */

static void format_put_code(struct format_state *f, unsigned lines)
{
    struct lexer_token token = {.kind = TOKEN_IDENTIFIER, .text = f->span->text};

    format_put(f, &token, lines);
    f->code = true;
    f->span = f->span->next;
}

/* Prints C between braces, the first of which has been printed. */
static void format_put_block(struct format_state *f)
{
    struct text text = f->span->text, short_text = text_trim(text);

    if (indent_is_multiline(text)) {
        indent_block(&f->out, text, format_margin(f));
        f->code = true;
    } else if (short_text.length) {
        indent_spaces(&f->out, 1);
        indent_put(&f->out, short_text);
        f->one_line = f->code = true;
    }
    f->printed_end = text_end(text);
    f->span        = f->span->next;
}

static unsigned format_spaces_before(const char *at, const char *end)
{
    for (const char *c = at; c < end; c++)
        if (*c != ' ')
            return 1;
    return (unsigned)(end - at);
}

/* Prints the comment from @p at to @p end: after the last token as in the source, or on its own
 * line. */
static void format_put_comment(struct format_state *f, const char *at, const char *end)
{
    unsigned            lines  = format_count_newlines(f->printed_end, at);
    unsigned            column = source_locate(f->lexer.source, at).column - 1;
    struct format_block before;

    if (lines || !f->out.begun) {
        if (f->line_due)
            f->block = (struct format_block){.level = f->block.level};
        before = f->block;
        if (!f->line_due && !before.breaks)
            f->block.breaks = 1;
        format_new_line(f, lines);
        f->block    = before;
        f->own_line = true;
    } else {
        unsigned spaces = format_spaces_before(f->printed_end, at);

        indent_spaces(
            &f->out,
            spaces || f->comment || format_last_is(f, '(') || format_last_is(f, '[') ? spaces : 1);
    }
    indent_comment(&f->out, text_between(at, end), column);
    f->comment     = true;
    f->printed_end = end;
}

/* Prints the comments before the next token.  Returns where that token begins. */
static const char *format_put_comments(struct format_state *f, const char *end)
{
    const char *at = f->printed_end;

    for (;;) {
        const char *after;

        while (at < end && text_is_space(*at))
            at++;
        after = lexer_comment_end(at, end);
        if (!after || after == at)
            return at;
        format_put_comment(f, at, after);
        at = after;
    }
}

/* ---- files -------------------------------------------------------------------------------- */

/* Prints the next token, comment or piece of C.  Returns false at the end. */
static bool format_step(struct format_state *f)
{
    const char        *end = text_end(f->lexer.source->text), *at, *from = f->printed_end;
    struct lexer_token token;
    unsigned           lines;

    if (f->span && f->span->block && f->span->text.at == f->printed_end) {
        format_put_block(f);
        return true;
    }
    at    = format_put_comments(f, end);
    lines = format_count_newlines(f->printed_end, at);
    if (at == end)
        return false;
    if (f->span && f->span->text.at == at) {
        format_put_code(f, lines);
        return true;
    }
    f->lexer.at = from; /* before the comments: the lexer must see whether a line begins */
    token       = lexer_next(&f->lexer);
    format_put(f, &token, lines);
    return true;
}

void format_print(FILE *to, const struct ast_tree *tree)
{
    struct format_state f = {.out      = {.to = to},
                             .lexer    = lexer_start(tree->source),
                             .span     = tree->code_spans,
                             .line_due = true};

    f.lexer.quiet = true;
    f.printed_end = f.lexer.at;
    while (format_step(&f))
        ;
    if (f.out.begun)
        fputc('\n', to);
}
