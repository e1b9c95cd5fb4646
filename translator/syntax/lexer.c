/* SPDX-License-Identifier: Apache-2.0 */
/* lexer.c - see lexer.h. */
#include "syntax/lexer.h"

#include <assert.h>
#include <string.h>

#include "support/diagnostic.h"
#include "support/source.h"
#include "support/text.h"

struct lexer lexer_start(const struct source *source)
{
    const char *at = source->text.at;

    if (source->text.length >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
        at += 3; /* skip the UTF-8 byte order mark */
    return (struct lexer){.source = source, .at = at};
}

const char *lexer_comment_end(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '/')
        return at;
    if (at[1] == '/') {
        while ((at = memchr(at, '\n', (size_t)(end - at))) && at[-1] == '\\')
            at++;
        return at ? at : end;
    }
    if (at[1] != '*')
        return at;
    for (at += 2; (at = memchr(at, '*', (size_t)(end - at))); at++)
        if (at + 1 < end && at[1] == '/')
            return at + 2;
    return NULL;
}

const char *lexer_quoted_end(const char *at, const char *end)
{
    char quote = *at;

    assert(quote == '"' || quote == '\'');
    for (at++; at < end && *at != '\n'; at++) {
        if (*at == quote)
            return at + 1;
        if (*at == '\\' && end - at > 2 && at[1] == '\r' && at[2] == '\n')
            at += 2;
        else if (*at == '\\' && end - at > 1)
            at++;
    }
    return NULL;
}

const char *lexer_word_end(const char *at, const char *end)
{
    bool number = at < end && text_is_digit(*at);

    for (; at < end; at++)
        if (!text_is_letter(*at) && !text_is_digit(*at) &&
            !(number && *at == '\'' && end - at > 1 &&
              (text_is_letter(at[1]) || text_is_digit(at[1]))))
            break;
    return at;
}

/* Returns whether @p c may be part of the delimiter of a raw string. */
static bool lexer_delimits(char c)
{
    return c != '(' && c != ')' && c != '\\' && c != '"' && !text_is_space(c);
}

const char *lexer_raw_string_end(const char *at, const char *end)
{
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R", NULL};
    const char              *quote = lexer_word_end(at, end), *open = quote + 1, *close;
    size_t                   length;

    if (quote == end || *quote != '"' || text_index_in(text_between(at, quote), prefixes) < 0)
        return at;
    while (open < end && open - quote <= 17 && lexer_delimits(*open))
        open++;
    if (open == end || *open != '(')
        return at;
    length = (size_t)(open - quote - 1);
    for (close = open; (close = memchr(close, ')', (size_t)(end - close))); close++)
        if ((size_t)(end - close) > length + 1 && !memcmp(close + 1, quote + 1, length) &&
            close[length + 1] == '"')
            return close + length + 2;
    return at;
}

static void lexer_error(struct lexer *lexer, const char *at, size_t length, const char *what)
{
    if (lexer->quiet || lexer->last_error == at)
        return;
    lexer->last_error = at;
    diagnostic_error_at(source_locate(lexer->source, at), length, "%s", what);
}

/* ---- white space and comments ------------------------------------------------------------- */

/* The white space and comments between two tokens. */
struct lexer_gap {
    struct text comment;
    unsigned    lines; /* newlines since the last comment or token */
    bool        first; /* there was a newline */
};

static void lexer_skip_spaces(struct lexer *lexer, struct lexer_gap *between)
{
    const char *end = text_end(lexer->source->text);

    for (; lexer->at < end && text_is_space(*lexer->at); lexer->at++)
        if (*lexer->at == '\n') {
            between->lines++;
            between->first = true;
        }
}

/* Adds the comment from lexer->at to @p end.  It continues a comment that ends on the line before;
 * it documents the previous token, not the next, if it is on the line of the previous one. */
static void lexer_add_comment(struct lexer *lexer, struct lexer_gap *between, const char *end)
{
    if (between->comment.at && between->lines <= 1)
        between->comment = text_between(between->comment.at, end);
    else if (between->first)
        between->comment = text_between(lexer->at, end);
    between->lines = 0;
    lexer->at      = end;
}

static struct lexer_gap lexer_skip_gap(struct lexer *lexer)
{
    const char      *end     = text_end(lexer->source->text);
    struct lexer_gap between = {.first = lexer->at == lexer_start(lexer->source).at};

    for (;;) {
        const char *after;

        lexer_skip_spaces(lexer, &between);
        after = lexer_comment_end(lexer->at, end);
        if (after == lexer->at)
            break;
        if (!after)
            lexer_error(lexer, lexer->at, 2, "unterminated comment");
        lexer->in_comment = lexer->in_comment || !after;
        lexer_add_comment(lexer, &between, after ? after : end);
    }
    if (between.lines > 1)
        between.comment = (struct text){0};
    return between;
}

/* ---- tokens ------------------------------------------------------------------------------- */

static const char *lexer_identifier_end(const char *at, const char *end)
{
    while (at < end && (text_is_letter(*at) || text_is_digit(*at)))
        at++;
    return at;
}

static const char *lexer_number_end(const char *at, const char *end)
{
    for (; at < end; at++)
        if (!text_is_letter(*at) && !text_is_digit(*at) && *at != '.' &&
            !((*at == '+' || *at == '-') && strchr("eEpP", at[-1])))
            break;
    return at;
}

/* Returns the end of a directive without trailing white space.  As in compilers, white space may
 * follow the backslash that continues a line. */
static const char *lexer_directive_end(const char *at, const char *end)
{
    const char *from = at, *last;

    do {
        at   = memchr(at, '\n', (size_t)(end - at));
        last = at ? at : end;
        while (last > from && text_is_space(last[-1]))
            last--;
        if (!at || last == from || last[-1] != '\\')
            return last;
    } while (++at < end);
    return last;
}

static bool lexer_is_punctuator(char c)
{
    return c && strchr("!%&()*+,-./:;<=>?[]^{|}~'", c);
}

static const char *lexer_string_end(struct lexer *lexer, struct lexer_token *token, const char *end)
{
    const char *after = lexer_quoted_end(lexer->at, end);

    if (after)
        return after;
    token->broken = true;
    lexer_error(lexer, lexer->at, 1, "unterminated string");
    after = memchr(lexer->at, '\n', (size_t)(end - lexer->at));
    return after ? after : end;
}

/* Skips a run of bytes that begin no token, with one error for all of them. */
static void lexer_skip_invalid(struct lexer *lexer, const char *end, bool first)
{
    const char *at = lexer->at;

    while (lexer->at < end && !text_is_space(*lexer->at) && !text_is_letter(*lexer->at) &&
           !text_is_digit(*lexer->at) && !lexer_is_punctuator(*lexer->at) && *lexer->at != '"' &&
           (*lexer->at != '#' || !first || lexer->at == at))
        lexer->at++;
    lexer_error(lexer, at, (size_t)(lexer->at - at),
                *at == '#' ? "a `#' must be the first character of its line" : "invalid character");
}

/* Determines the kind and the end of the token at lexer->at.  Returns false if no token begins
 * there. */
static bool lexer_find_end(struct lexer *lexer, struct lexer_token *token, const char **after)
{
    const char *end = text_end(lexer->source->text);
    char        c   = *lexer->at;

    if (text_is_letter(c)) {
        token->kind = TOKEN_IDENTIFIER;
        *after      = lexer_identifier_end(lexer->at, end);
    } else if (text_is_digit(c)) {
        token->kind = TOKEN_NUMBER;
        *after      = lexer_number_end(lexer->at, end);
    } else if (c == '"') {
        token->kind = TOKEN_STRING;
        *after      = lexer_string_end(lexer, token, end);
    } else if (c == '#' && token->first) {
        token->kind = TOKEN_DIRECTIVE;
        *after      = lexer_directive_end(lexer->at, end);
    } else {
        token->kind = TOKEN_PUNCTUATOR;
        *after      = lexer->at + 1;
        return lexer_is_punctuator(c);
    }
    return true;
}

struct lexer_token lexer_next(struct lexer *lexer)
{
    const char *end = text_end(lexer->source->text), *after;

    for (;;) {
        struct lexer_gap   between = lexer_skip_gap(lexer);
        struct lexer_token token   = {.comment = between.comment, .first = between.first};

        if (lexer->at == end) {
            token.text = text_between(end, end);
            return token;
        }
        if (lexer_find_end(lexer, &token, &after)) {
            assert(after > lexer->at);
            token.text = text_between(lexer->at, after);
            lexer->at  = after;
            return token;
        }
        lexer_skip_invalid(lexer, end, token.first);
    }
}
