/* SPDX-License-Identifier: Apache-2.0 */
/* parser.c - see parser.h. */
#include "syntax/parser.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "support/text.h"

/* ---- tokens ------------------------------------------------------------------------------- */

const struct lexer_token *parser_peek(struct parser *parser)
{
    if (!parser->peeked) {
        parser->token   = lexer_next(&parser->lexer);
        parser->peeked  = true;
        parser->gave_up = parser->gave_up || parser->lexer.in_comment;
    }
    return &parser->token;
}

struct lexer_token parser_peek_ahead(struct parser *parser, unsigned tokens)
{
    struct lexer_token token = *parser_peek(parser);
    struct lexer       ahead = parser->lexer;

    ahead.quiet = true;
    while (tokens--)
        token = lexer_next(&ahead);
    return token;
}

void parser_resume_at(struct parser *parser, const char *at)
{
    assert(at >= parser->source->text.at && at <= text_end(parser->source->text));
    parser->lexer.at = parser->last_end = at;
    parser->peeked = parser->broken = false;
}

struct lexer_token parser_next(struct parser *parser)
{
    struct lexer_token token = *parser_peek(parser);

    parser->peeked   = false;
    parser->broken   = token.broken;
    parser->last_end = text_end(token.text);
    return token;
}

bool parser_is_punctuator(const struct lexer_token *token, char mark)
{
    return token->kind == TOKEN_PUNCTUATOR && *token->text.at == mark;
}

bool parser_is_keyword(const struct lexer_token *token, const char *word)
{
    return token->kind == TOKEN_IDENTIFIER && text_is(token->text, word);
}

bool parser_at_punctuator(struct parser *parser, char mark)
{
    return parser_is_punctuator(parser_peek(parser), mark);
}

bool parser_at_keyword(struct parser *parser, const char *word)
{
    return parser_is_keyword(parser_peek(parser), word);
}

bool parser_at_end(struct parser *parser)
{
    return parser_peek(parser)->kind == TOKEN_END;
}

bool parser_accept_punctuator(struct parser *parser, char mark)
{
    if (!parser_at_punctuator(parser, mark))
        return false;
    parser_next(parser);
    return true;
}

bool parser_accept_keyword(struct parser *parser, const char *word)
{
    if (!parser_at_keyword(parser, word))
        return false;
    parser_next(parser);
    return true;
}

unsigned parser_accept_stars(struct parser *parser)
{
    unsigned stars = 0;

    while (parser_accept_punctuator(parser, '*'))
        stars++;
    return stars;
}

struct source_location parser_locate(const struct parser *parser, const char *at)
{
    return source_locate(parser->source, at);
}

struct source_name parser_name_of(const struct parser *parser, const struct lexer_token *token)
{
    return (struct source_name){token->text, parser_locate(parser, token->text.at)};
}

/* ---- errors ------------------------------------------------------------------------------- */

static bool parser_error_args(struct parser *parser, const char *at, size_t length,
                              const char *format, va_list args)
{
    char what[512];

    if (parser->gave_up || parser->broken || parser->lexer.last_error == at)
        return false;
    parser->lexer.last_error = at;
    vsnprintf(what, sizeof what, format, args);
    diagnostic_error_at(parser_locate(parser, at), length, "%s", what);
    return true;
}

bool parser_error_at(struct parser *parser, const char *at, size_t length, const char *format, ...)
{
    va_list args;
    bool    reported;

    va_start(args, format);
    reported = parser_error_args(parser, at, length, format, args);
    va_end(args);
    return reported;
}

bool parser_error(struct parser *parser, const char *format, ...)
{
    struct text text = parser_peek(parser)->text;
    va_list     args;
    bool        reported;

    va_start(args, format);
    reported = parser_error_args(parser, text.at, text.length, format, args);
    va_end(args);
    return reported;
}

const char *parser_describe_next(struct parser *parser)
{
    const struct lexer_token *token = parser_peek(parser);

    switch (token->kind) {
    case TOKEN_END: return "the end of the file";
    case TOKEN_DIRECTIVE: return "a directive";
    case TOKEN_STRING: return "a string";
    default: break;
    }
    return bump_printf("`%.*s'", (int)(token->text.length < 60 ? token->text.length : 60),
                       token->text.at);
}

void parser_give_up(struct parser *parser)
{
    parser->lexer.at = text_end(parser->source->text);
    parser->peeked   = false;
    parser->gave_up  = true;
}

/* Reports a missing punctuator.  At a line break it is missing after the last token, not before
 * the next one. */
static bool parser_error_missing(struct parser *parser, char mark, const char *after)
{
    const char *joint = " after ";

    if (!after)
        joint = after = "";
    if (parser_peek(parser)->first || parser_at_end(parser) || parser_at_punctuator(parser, '}'))
        return parser_error_at(parser, parser->last_end, 1, "expected `%c'%s%s", mark, joint,
                               after);
    return parser_error(parser, "expected `%c'%s%s, found %s", mark, joint, after,
                        parser_describe_next(parser));
}

bool parser_expect_punctuator(struct parser *parser, char mark, const char *after)
{
    if (parser_accept_punctuator(parser, mark))
        return true;
    if (parser_reject_cxx(parser))
        return false;
    parser_error_missing(parser, mark, after);
    return false;
}

bool parser_expect_semicolon(struct parser *parser, const char *after)
{
    return parser_expect_punctuator(parser, ';', after) || parser_peek(parser)->first ||
           parser_at_punctuator(parser, '}');
}

char parser_closer_of(char open)
{
    assert(open == '(' || open == '[' || open == '{');
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* Returns the number of white-space characters at the beginning of the line of @p at. */
static unsigned parser_line_indent(const struct parser *parser, const char *at)
{
    struct text line   = source_line(parser->source, parser_locate(parser, at).line);
    unsigned    margin = 0;

    while (margin < line.length && text_is_space(line.at[margin]))
        margin++;
    return margin;
}

void parser_note_closer(struct parser *parser, const char *open, const char *close)
{
    if (!parser->suspect && *close == '}' &&
        parser_locate(parser, open).line != parser_locate(parser, close).line &&
        parser_line_indent(parser, close) < parser_line_indent(parser, open))
        parser->suspect = open;
}

/* At the end of the file the unclosed brace is always the outermost one.  Indentation shows which
 * brace is more likely to be the cause. */
static void parser_note_suspect(struct parser *parser)
{
    if (parser->suspect)
        diagnostic_note_at(parser_locate(parser, parser->suspect),
                           "perhaps this `{' was meant to be closed earlier");
}

bool parser_expect_closer(struct parser *parser, const char *open)
{
    if (parser_accept_punctuator(parser, parser_closer_of(*open))) {
        parser_note_closer(parser, open, parser->last_end - 1);
        return true;
    }
    if (parser_reject_cxx(parser) ||
        !parser_error_at(parser, open, 1, "this `%c' is not closed", *open))
        return false;
    if (!parser_at_end(parser)) {
        diagnostic_note_at(parser_locate(parser, parser_peek(parser)->text.at),
                           "expected `%c' before this", parser_closer_of(*open));
        return false;
    }
    parser_note_suspect(parser);
    parser_give_up(parser); /* the enclosing brackets are not closed either: one error is enough */
    return false;
}

bool parser_expect_name(struct parser *parser, struct source_name *name, const char *what)
{
    struct lexer_token token;

    if (parser_peek(parser)->kind != TOKEN_IDENTIFIER) {
        parser_error(parser, "expected %s, found %s", what, parser_describe_next(parser));
        return false;
    }
    token = parser_next(parser);
    *name = parser_name_of(parser, &token);
    return true;
}

const char *parser_nearest_keyword(struct parser *parser, const char *const *words)
{
    return parser_peek(parser)->kind == TOKEN_IDENTIFIER
               ? diagnostic_nearest(parser_peek(parser)->text, words)
               : NULL;
}

static bool parser_at_pair(struct parser *parser, char first, char second)
{
    const struct lexer_token *token = parser_peek(parser);

    return parser_is_punctuator(token, first) && token->text.at[1] == second;
}

bool parser_reject_cxx(struct parser *parser)
{
    if (parser_at_punctuator(parser, '&')) {
        if (parser_error(parser, "C has no references"))
            diagnostic_hint("arguments are passed by value; for an array write `double x[n]'");
        return true;
    }
    if (parser_at_punctuator(parser, '<')) {
        if (parser_error(parser, "C has no templates"))
            diagnostic_hint("for an array write `double x[n]', for text `string'");
        return true;
    }
    if (parser_at_pair(parser, ':', ':')) {
        if (parser_error_at(parser, parser_peek(parser)->text.at, 2, "C has no namespaces"))
            diagnostic_hint(
                "for `std::string' write `string', for `std::vector<double>' `double x[n]'");
        return true;
    }
    return false;
}

bool parser_reject_foreign(struct parser *parser, const struct parser_foreign_keyword *list,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (parser_at_keyword(parser, list[i].word)) {
            if (parser_error(parser, "%s", list[i].error))
                diagnostic_hint("%s", list[i].hint);
            return true;
        }
    return false;
}
