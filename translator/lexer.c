/* SPDX-License-Identifier: Apache-2.0 */
/* lexer.c - see lexer.h. */
#include "lexer.h"

#include <string.h>

#include "diagnostic.h"
#include "source.h"
#include "text.h"

struct lexer lexer_at_start(const struct source *source)
{
    const char *at = source->text.at;

    if (source->text.length >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
        at += 3; /* which some editors write, to say that it is UTF-8 */
    return (struct lexer){.source = source, .at = at};
}

const char *comment_end(const char *at, const char *end)
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

const char *quoted_end(const char *at, const char *end)
{
    char quote = *at;

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

static void complain(struct lexer *lexer, const char *at, size_t length, const char *what)
{
    if (lexer->quiet || lexer->complained == at)
        return;
    lexer->complained = at;
    error_at(source_place(lexer->source, at), length, "%s", what);
}

/* ---- between tokens ---------------------------------------------------------------------- */

/* What lies between two tokens. */
struct between {
    struct text comment;
    unsigned    lines; /* that ended since the last comment, or the last token */
    bool        first; /* some line ended */
};

static void skip_spaces(struct lexer *lexer, struct between *between)
{
    const char *end = text_end(lexer->source->text);

    for (; lexer->at < end && is_space(*lexer->at); lexer->at++)
        if (*lexer->at == '\n') {
            between->lines++;
            between->first = true;
        }
}

/* The comment from lexer->at to @p end: it goes on with the one before, if that is on the
 * line before; it belongs to the token before, if that is on the same line. */
static void add_comment(struct lexer *lexer, struct between *between, const char *end)
{
    if (between->comment.at && between->lines <= 1)
        between->comment = text_between(between->comment.at, end);
    else if (between->first)
        between->comment = text_between(lexer->at, end);
    between->lines = 0;
    lexer->at      = end;
}

static struct between skip_between(struct lexer *lexer)
{
    const char    *end     = text_end(lexer->source->text);
    struct between between = {.first = lexer->at == lexer_at_start(lexer->source).at};

    for (;;) {
        const char *after;

        skip_spaces(lexer, &between);
        after = comment_end(lexer->at, end);
        if (after == lexer->at)
            break;
        if (!after)
            complain(lexer, lexer->at, 2, "this comment does not end");
        lexer->cut = lexer->cut || !after;
        add_comment(lexer, &between, after ? after : end);
    }
    if (between.lines > 1)
        between.comment = (struct text){0};
    return between;
}

/* ---- tokens -------------------------------------------------------------------------------- */

static const char *word_end(const char *at, const char *end)
{
    while (at < end && (is_letter(*at) || is_digit(*at)))
        at++;
    return at;
}

static const char *number_end(const char *at, const char *end)
{
    for (; at < end; at++)
        if (!is_letter(*at) && !is_digit(*at) && *at != '.' &&
            !((*at == '+' || *at == '-') && strchr("eEpP", at[-1])))
            break;
    return at;
}

/* Without the space at its end; a backslash there goes on, as compilers have it. */
static const char *hash_end(const char *at, const char *end)
{
    const char *from = at, *last;

    do {
        at   = memchr(at, '\n', (size_t)(end - at));
        last = at ? at : end;
        while (last > from && is_space(last[-1]))
            last--;
        if (!at || last == from || last[-1] != '\\')
            return last;
    } while (++at < end);
    return last;
}

static bool is_mark(char c)
{
    return c && strchr("!%&()*+,-./:;<=>?[]^{|}~'", c);
}

static const char *string_end(struct lexer *lexer, struct token *token, const char *end)
{
    const char *after = quoted_end(lexer->at, end);

    if (after)
        return after;
    token->broken = true;
    complain(lexer, lexer->at, 1, "this string does not end on its line");
    after = memchr(lexer->at, '\n', (size_t)(end - lexer->at));
    return after ? after : end;
}

/* Bytes that begin nothing, as many as there are; one complaint for all. */
static void skip_wrong(struct lexer *lexer, const char *end, bool first)
{
    const char *at = lexer->at;

    while (lexer->at < end && !is_space(*lexer->at) && !is_letter(*lexer->at) &&
           !is_digit(*lexer->at) && !is_mark(*lexer->at) && *lexer->at != '"' &&
           (*lexer->at != '#' || !first || lexer->at == at))
        lexer->at++;
    complain(lexer, at, (size_t)(lexer->at - at),
             *at == '#' ? "a # line begins with the `#'" : "this character cannot stand here");
}

/* The kind of the token at lexer->at, and where it ends; false: there is none. */
static bool find_end(struct lexer *lexer, struct token *token, const char **after)
{
    const char *end = text_end(lexer->source->text);
    char        c   = *lexer->at;

    if (is_letter(c)) {
        token->kind = TOKEN_WORD;
        *after      = word_end(lexer->at, end);
    } else if (is_digit(c)) {
        token->kind = TOKEN_NUMBER;
        *after      = number_end(lexer->at, end);
    } else if (c == '"') {
        token->kind = TOKEN_STRING;
        *after      = string_end(lexer, token, end);
    } else if (c == '#' && token->first) {
        token->kind = TOKEN_HASH;
        *after      = hash_end(lexer->at, end);
    } else {
        token->kind = TOKEN_MARK;
        *after      = lexer->at + 1;
        return is_mark(c);
    }
    return true;
}

struct token lexer_next(struct lexer *lexer)
{
    const char *end = text_end(lexer->source->text), *after;

    for (;;) {
        struct between between = skip_between(lexer);
        struct token   token   = {.comment = between.comment, .first = between.first};

        if (lexer->at == end) {
            token.text = text_between(end, end);
            return token;
        }
        if (find_end(lexer, &token, &after)) {
            token.text = text_between(lexer->at, after);
            lexer->at  = after;
            return token;
        }
        skip_wrong(lexer, end, token.first);
    }
}
