/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h.
 *
 * The tokens are read once more and written one after the other; where a piece of C begins
 * (struct tree has them all, in order), it is written as it is, and reading goes on behind
 * it.  What goes between two tokens follows from the two, and from what was between them:
 * comments, and line ends.
 *
 * A brace opens a frame: what is in it is indented by one level more than its line.  Lines
 * that are broken inside of a statement are indented by one level for each break, between
 * brackets to the column behind the bracket.
 */
#include "format.h"

#include <string.h>

#include "layout.h"
#include "lexer.h"
#include "source.h"
#include "text.h"

#define FRAMES 512 /* blocks in each other: more than the parser takes */
#define PARENS 16

struct frame {
    unsigned level, breaks;
    bool     wrapped; /* a list goes on on this line */
};

struct formatting {
    struct layout       out;
    struct lexer        lexer;
    const struct piece *piece;  /* the next */
    const char         *behind; /* what was written last, in the source */
    struct token        last;   /* token */
    bool                code;   /* it was C */

    struct frame now, frames[FRAMES];
    unsigned     depth;
    unsigned     paren[PARENS], parens; /* columns behind brackets that are open */

    bool over;    /* a statement or a declaration is: a new line is due */
    bool brief;   /* C between braces, on one line */
    bool forall;  /* since this word */
    bool comment; /* follows the last token, and ... */
    bool alone;   /* ... has a line of its own, or ... */
    bool ended;   /* ... ends with its line */
};

static bool is(const struct token *token, char mark)
{
    return token->kind == TOKEN_MARK && *token->text.at == mark;
}

static bool last_is(const struct formatting *f, char mark)
{
    return !f->code && is(&f->last, mark);
}

static bool last_is_word(const struct formatting *f, const char *const *words)
{
    return !f->code && f->last.kind == TOKEN_WORD && text_among(f->last.text, words) >= 0;
}

/* ---- lines --------------------------------------------------------------------------------- */

static unsigned newlines(const char *at, const char *end)
{
    unsigned lines = 0;

    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

static unsigned margin(const struct formatting *f)
{
    if (f->parens)
        return f->paren[f->parens - 1];
    return 4 * (f->now.level + f->now.breaks + f->now.wrapped);
}

/* @p lines ended before what comes now. */
static void new_line(struct formatting *f, unsigned lines)
{
    bool top = last_is(f, '{') && !f->comment;

    layout_line(&f->out, margin(f), lines > 1 && !top && !f->parens);
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* Whether a token follows the last one without a space. */
static bool is_joined(const struct formatting *f, const struct token *token)
{
    static const char *const spaced[] = {"if",    "for",   "while",  "forall",
                                         "array", "entry", "serial", NULL};

    if (is(token, ')') || is(token, ']') || is(token, ',') || is(token, ';') || last_is(f, '(') ||
        last_is(f, '[') || last_is(f, '~') || (last_is(f, '*') && !is(token, '=')))
        return true;
    if (is(token, '('))
        return !last_is_word(f, spaced) && !f->forall;
    return is(token, '[') && !last_is_word(f, spaced);
}

/* Whether a token stays on the line of the last one, whatever was between them. */
static bool stays(const struct formatting *f, const struct token *token)
{
    if (f->comment || (f->last.kind == TOKEN_HASH && !f->code))
        return false;
    if (is(token, '{'))
        return !f->over;
    if (is(token, '}'))
        return f->brief || last_is(f, '{');
    return is(token, ',') || is(token, ';') || is(token, ')') || is(token, ']') ||
           (last_is(f, '}') && token->kind == TOKEN_WORD && text_is(token->text, "else"));
}

static bool begins_line(const struct formatting *f, const struct token *token, unsigned lines)
{
    return token->kind == TOKEN_HASH || (is(token, '}') && !f->parens) ||
           (f->over && !(f->comment && f->alone && !lines));
}

/* What goes before a token, after @p lines line ends. */
static void separate(struct formatting *f, const struct token *token, unsigned lines)
{
    if (!f->out.begun)
        return;
    if (!stays(f, token) && begins_line(f, token, lines)) {
        if (!is(token, '}'))
            f->now = (struct frame){.level = f->now.level};
        new_line(f, is(token, '}') ? 1 : lines);
    } else if (!stays(f, token) && lines) {
        f->now.wrapped = f->now.wrapped || last_is(f, ',');
        f->now.breaks += !f->parens && !f->now.wrapped;
        new_line(f, 1);
    } else if (!is_joined(f, token) || (f->comment && token->kind != TOKEN_MARK)) {
        layout_spaces(&f->out, 1);
    }
}

static void open_bracket(struct formatting *f, bool brace)
{
    if (!brace) {
        f->paren[f->parens < PARENS ? f->parens : PARENS - 1] = f->out.column;
        f->parens += f->parens < PARENS;
        return;
    }
    f->now.wrapped = false;

    f->frames[f->depth < FRAMES ? f->depth++ : FRAMES - 1] = f->now;

    f->now  = (struct frame){.level = f->now.level + f->now.breaks + 1};
    f->over = true;
}

/* Before it is written. */
static void close_brace(struct formatting *f)
{
    if (f->depth)
        f->now = f->frames[--f->depth];
}

static void put(struct formatting *f, const struct token *token, unsigned lines)
{
    if (is(token, '}'))
        close_brace(f);
    separate(f, token, lines);
    layout_text(&f->out, token->text);
    f->forall = (token->kind == TOKEN_WORD && text_is(token->text, "forall")) ||
                (f->forall && !is(token, '('));
    f->over = token->kind == TOKEN_HASH || is(token, '}') || (is(token, ';') && !f->parens);
    if (is(token, '(') || is(token, '[') || is(token, '{'))
        open_bracket(f, is(token, '{'));
    else if ((is(token, ')') || is(token, ']')) && f->parens)
        f->parens--;
    f->brief = f->comment = f->alone = f->ended = f->code = false;

    f->last   = *token;
    f->behind = text_end(token->text);
}

/* ---- C and comments ------------------------------------------------------------------------ */

static void put_code(struct formatting *f, unsigned lines)
{
    struct token token = {.kind = TOKEN_WORD, .text = f->piece->text};

    put(f, &token, lines);
    f->code  = true;
    f->piece = f->piece->next;
}

/* C between braces, of which the first was written. */
static void put_block(struct formatting *f)
{
    struct text text = f->piece->text, short_text = layout_trimmed(text);

    if (layout_is_long(text)) {
        layout_block(&f->out, text, margin(f));
        f->code = true;
    } else if (short_text.length) {
        layout_spaces(&f->out, 1);
        layout_text(&f->out, short_text);
        f->brief = f->code = true;
    }
    f->behind = text_end(text);
    f->piece  = f->piece->next;
}

static unsigned spaces_before(const char *at, const char *end)
{
    for (const char *c = at; c < end; c++)
        if (*c != ' ')
            return 1;
    return (unsigned)(end - at);
}

/* A comment from @p at to @p end: it stays behind what it is behind, or has its own line. */
static void put_comment(struct formatting *f, const char *at, const char *end)
{
    unsigned     lines  = newlines(f->behind, at);
    unsigned     column = source_place(f->lexer.source, at).column - 1;
    struct frame before;

    if (lines || !f->out.begun) {
        if (f->over)
            f->now = (struct frame){.level = f->now.level};
        before = f->now;
        if (!f->over && !before.breaks)
            f->now.breaks = 1;
        new_line(f, lines);
        f->now   = before;
        f->alone = true;
    } else {
        unsigned spaces = spaces_before(f->behind, at);

        layout_spaces(&f->out,
                      spaces || f->comment || last_is(f, '(') || last_is(f, '[') ? spaces : 1);
    }
    layout_comment(&f->out, text_between(at, end), column);
    f->comment = true;
    f->ended   = at[1] == '/';
    f->behind  = end;
}

/* The comments before the next token; returns where that is. */
static const char *put_comments(struct formatting *f, const char *end)
{
    const char *at = f->behind;

    for (;;) {
        const char *after;

        while (at < end && is_space(*at))
            at++;
        after = comment_end(at, end);
        if (!after || after == at)
            return at;
        put_comment(f, at, after);
        at = after;
    }
}

/* ---- files --------------------------------------------------------------------------------- */

/* Write the next thing; false: there is none. */
static bool step(struct formatting *f)
{
    const char  *end = text_end(f->lexer.source->text), *at, *from = f->behind;
    struct token token;
    unsigned     lines;

    if (f->piece && f->piece->block && f->piece->text.at == f->behind) {
        put_block(f);
        return true;
    }
    at    = put_comments(f, end);
    lines = newlines(f->behind, at);
    if (at == end)
        return false;
    if (f->piece && f->piece->text.at == at) {
        put_code(f, lines);
        return true;
    }
    f->lexer.at = from; /* before the comments: it wants to know whether a line begins */
    token       = lexer_next(&f->lexer);
    put(f, &token, lines);
    return true;
}

void format(FILE *to, const struct tree *tree)
{
    struct formatting f = {.out   = {.to = to},
                           .lexer = lexer_at_start(tree->source),
                           .piece = tree->pieces,
                           .over  = true};

    f.lexer.quiet = true;
    f.behind      = f.lexer.at;
    while (step(&f))
        ;
    if (f.out.begun)
        fputc('\n', to);
}
