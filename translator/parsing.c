/* SPDX-License-Identifier: Apache-2.0 */
/* parsing.c - see parsing.h. */
#include "parsing.h"

#include <stdarg.h>
#include <stdio.h>

#include "arena.h"
#include "code.h"
#include "diagnostic.h"
#include "source.h"
#include "text.h"

/* ---- tokens -------------------------------------------------------------------------------- */

const struct token *look(struct parser *parser)
{
    if (!parser->looked) {
        parser->token  = lexer_next(&parser->lexer);
        parser->looked = true;
        parser->lost   = parser->lost || parser->lexer.cut;
    }
    return &parser->token;
}

struct token look_further(struct parser *parser, unsigned tokens)
{
    struct token token = *look(parser);
    struct lexer ahead = parser->lexer;

    ahead.quiet = true;
    while (tokens--)
        token = lexer_next(&ahead);
    return token;
}

struct token take(struct parser *parser)
{
    struct token token = *look(parser);

    parser->looked = false;
    parser->broken = token.broken;
    parser->behind = text_end(token.text);
    return token;
}

bool token_is_mark(const struct token *token, char mark)
{
    return token->kind == TOKEN_MARK && *token->text.at == mark;
}

bool token_is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_WORD && text_is(token->text, word);
}

bool at_mark(struct parser *parser, char mark)
{
    return token_is_mark(look(parser), mark);
}

bool at_word(struct parser *parser, const char *word)
{
    return token_is_word(look(parser), word);
}

bool at_end(struct parser *parser)
{
    return look(parser)->kind == TOKEN_END;
}

bool take_mark(struct parser *parser, char mark)
{
    if (!at_mark(parser, mark))
        return false;
    take(parser);
    return true;
}

bool take_word(struct parser *parser, const char *word)
{
    if (!at_word(parser, word))
        return false;
    take(parser);
    return true;
}

struct place place_of(const struct parser *parser, const char *at)
{
    return source_place(parser->source, at);
}

struct name name_of(const struct parser *parser, const struct token *token)
{
    return (struct name){token->text, place_of(parser, token->text.at)};
}

/* ---- complaints ---------------------------------------------------------------------------- */

static bool complain_args(struct parser *parser, const char *at, size_t length, const char *format,
                          va_list args)
{
    char what[512];

    if (parser->lost || parser->broken || parser->lexer.complained == at)
        return false;
    parser->lexer.complained = at;
    vsnprintf(what, sizeof what, format, args);
    error_at(place_of(parser, at), length, "%s", what);
    return true;
}

bool complain_at(struct parser *parser, const char *at, size_t length, const char *format, ...)
{
    va_list args;
    bool    said;

    va_start(args, format);
    said = complain_args(parser, at, length, format, args);
    va_end(args);
    return said;
}

bool complain(struct parser *parser, const char *format, ...)
{
    struct text text = look(parser)->text;
    va_list     args;
    bool        said;

    va_start(args, format);
    said = complain_args(parser, text.at, text.length, format, args);
    va_end(args);
    return said;
}

const char *seen(struct parser *parser)
{
    const struct token *token = look(parser);

    switch (token->kind) {
    case TOKEN_END: return "the end of the file";
    case TOKEN_HASH: return "a # line";
    case TOKEN_STRING: return "a string";
    default: break;
    }
    return arena_print("`%.*s'", (int)(token->text.length < 60 ? token->text.length : 60),
                       token->text.at);
}

void give_up(struct parser *parser)
{
    parser->lexer.at = text_end(parser->source->text);
    parser->looked   = false;
    parser->lost     = true;
}

/* Behind what was taken last, if the line ends there: it is missing there, not where the next
 * token is. */
static bool complain_missing(struct parser *parser, char mark, const char *after)
{
    const char *behind = " behind ";

    if (!after)
        behind = after = "";
    if (look(parser)->first || at_end(parser) || at_mark(parser, '}'))
        return complain_at(parser, parser->behind, 1, "expected `%c'%s%s", mark, behind, after);
    return complain(parser, "expected `%c'%s%s, not %s", mark, behind, after, seen(parser));
}

bool expect_mark(struct parser *parser, char mark, const char *after)
{
    if (take_mark(parser, mark))
        return true;
    if (parse_reference(parser))
        return false;
    complain_missing(parser, mark, after);
    return false;
}

bool expect_semicolon(struct parser *parser, const char *after)
{
    return expect_mark(parser, ';', after) || look(parser)->first || at_mark(parser, '}');
}

static char closer_of(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* How far to the right the line of a byte begins. */
static unsigned margin(const struct parser *parser, const char *at)
{
    struct text line   = source_line(parser->source, place_of(parser, at).line);
    unsigned    margin = 0;

    while (margin < line.length && is_space(line.at[margin]))
        margin++;
    return margin;
}

void note_closed(struct parser *parser, const char *open, const char *close)
{
    if (!parser->suspect && *close == '}' &&
        place_of(parser, open).line != place_of(parser, close).line &&
        margin(parser, close) < margin(parser, open))
        parser->suspect = open;
}

/* At the end of the file the brace that is not closed is the outermost: which is meant? */
static void hint_suspect(struct parser *parser)
{
    if (parser->suspect)
        hint_at(place_of(parser, parser->suspect), "was this one meant to be closed before?");
}

bool expect_closed(struct parser *parser, const char *open)
{
    if (take_mark(parser, closer_of(*open))) {
        note_closed(parser, open, parser->behind - 1);
        return true;
    }
    if (parse_reference(parser) || !complain_at(parser, open, 1, "this `%c' is not closed", *open))
        return false;
    if (!at_end(parser)) {
        hint_at(place_of(parser, look(parser)->text.at), "expected `%c' before this",
                closer_of(*open));
        return false;
    }
    hint_suspect(parser);
    give_up(parser); /* the brackets around it are not closed either */
    return false;
}

bool expect_name(struct parser *parser, struct name *name, const char *what)
{
    struct token token;

    if (look(parser)->kind != TOKEN_WORD) {
        complain(parser, "expected %s, not %s", what, seen(parser));
        return false;
    }
    token = take(parser);
    *name = name_of(parser, &token);
    return true;
}

const char *meant(struct parser *parser, const char *const *words)
{
    return look(parser)->kind == TOKEN_WORD ? nearest(look(parser)->text, words) : NULL;
}

/* ---- going on ------------------------------------------------------------------------------ */

/* Take a token, and if it opens a bracket all that is in it.  True: a declaration or a
 * statement may end here. */
static bool skip_one(struct parser *parser)
{
    struct token token = take(parser);

    if (token_is_mark(&token, '(') || token_is_mark(&token, '[') || token_is_mark(&token, '{'))
        skip_brackets(parser);
    return token.kind == TOKEN_HASH || token_is_mark(&token, ';') ||
           (token_is_mark(&token, '{') && !at_word(parser, "else"));
}

static bool begins_next(const struct token *token, const char *const *words)
{
    return token->first && (token->kind == TOKEN_HASH ||
                            (token->kind == TOKEN_WORD && text_among(token->text, words) >= 0));
}

void skip_to_next(struct parser *parser, const char *from, const char *const *words)
{
    while (!at_end(parser) && !at_mark(parser, '}')) {
        if (look(parser)->text.at != from && begins_next(look(parser), words))
            return;
        if (skip_one(parser))
            return;
    }
}
