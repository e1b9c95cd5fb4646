/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ident.c - see ident.h.
 *
 * A scanner that recognises just enough of C to find identifiers.  Its state is two flags: whether
 * the line has only had white space so far, because a # begins a directive only then, and whether
 * the last element was a `.` or a `->`.  Comments and white space keep both flags; everything else
 * sets them.
 */
#include "syntax/ident.h"

#include "syntax/lexer.h"

struct ident_scan {
    const char *at, *end;
    bool        line_begins;
    bool        member; /* the last element was a `.` or `->` */
};

/* Bytes of non-ASCII characters count as letters. */
static bool ident_is_letter(char c)
{
    return text_is_letter(c) || (unsigned char)c >= 128;
}

static char ident_peek(const struct ident_scan *scan, size_t ahead)
{
    return (size_t)(scan->end - scan->at) > ahead ? scan->at[ahead] : '\0';
}

/* Skips to the end of the line, including continuation lines. */
static void ident_skip_line(struct ident_scan *scan)
{
    while (scan->at < scan->end && *scan->at != '\n')
        scan->at += *scan->at == '\\' && ident_peek(scan, 1) ? 2 : 1;
}

static void ident_skip_comment(struct ident_scan *scan)
{
    for (scan->at += 2; scan->at < scan->end; scan->at++)
        if (*scan->at == '*' && ident_peek(scan, 1) == '/') {
            scan->at += 2;
            return;
        }
}

/* Skips a string or character constant; an unterminated one ends with its line. */
static void ident_skip_quoted(struct ident_scan *scan)
{
    char quote = *scan->at++;

    while (scan->at < scan->end && *scan->at != quote && *scan->at != '\n')
        scan->at += *scan->at == '\\' && ident_peek(scan, 1) ? 2 : 1;
    if (ident_peek(scan, 0) == quote)
        scan->at++;
}

/* Skips a preprocessing number: 1e+3, 0x1.8p-2L and, in C++, 1'000 are one each. */
static void ident_skip_number(struct ident_scan *scan)
{
    while (text_is_digit(ident_peek(scan, 0)) || ident_is_letter(ident_peek(scan, 0)) ||
           ident_peek(scan, 0) == '.' ||
           (ident_peek(scan, 0) == '\'' &&
            (text_is_digit(ident_peek(scan, 1)) || ident_is_letter(ident_peek(scan, 1))))) {
        bool exponent = memchr("eEpP", *scan->at, 4);

        scan->at++;
        if (exponent && (ident_peek(scan, 0) == '+' || ident_peek(scan, 0) == '-'))
            scan->at++;
    }
}

static struct text ident_take(struct ident_scan *scan)
{
    struct text word = {scan->at, 0};

    while (ident_is_letter(ident_peek(scan, 0)) || text_is_digit(ident_peek(scan, 0)))
        scan->at++;
    word.length = (size_t)(scan->at - word.at);
    return word;
}

static void ident_take_punctuator(struct ident_scan *scan)
{
    size_t length = 1;

    scan->member = false;
    if (*scan->at == '-' && ident_peek(scan, 1) == '>') {
        length       = 2;
        scan->member = true;
    } else if (*scan->at == '.') {
        while (ident_peek(scan, length) == '.')
            length++;
        scan->member = length == 1; /* `...` selects no member */
    }
    scan->at += length;
}

/* Skips a white-space character, a comment or a directive.  Returns whether there was one. */
static bool ident_skip_blank(struct ident_scan *scan)
{
    char c = *scan->at;

    if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        scan->line_begins |= c == '\n';
        scan->at++;
    } else if (c == '/' && ident_peek(scan, 1) == '*') {
        ident_skip_comment(scan);
    } else if ((c == '/' && ident_peek(scan, 1) == '/') || (c == '#' && scan->line_begins)) {
        ident_skip_line(scan);
    } else {
        return false;
    }
    return true;
}

static bool ident_is_string_prefix(struct text word, char next)
{
    return (next == '"' || next == '\'') &&
           (text_is(word, "L") || text_is(word, "u") || text_is(word, "U") || text_is(word, "u8"));
}

/* Skips a raw string of C++.  Returns whether there was one. */
static bool ident_skip_raw_string(struct ident_scan *scan)
{
    const char *from = scan->at;

    scan->at = lexer_raw_string_end(from, scan->end);
    return scan->at > from;
}

/* Returns the next identifier, or a text with a NULL `at` at the end. */
static struct text ident_next(struct ident_scan *scan)
{
    while (scan->at < scan->end) {
        if (ident_skip_blank(scan))
            continue;
        char c            = *scan->at;
        scan->line_begins = false;
        if (ident_skip_raw_string(scan)) {
            scan->member = false;
        } else if (ident_is_letter(c)) {
            bool        member = scan->member;
            struct text word   = ident_take(scan);

            scan->member = false;
            if (!member && !ident_is_string_prefix(word, ident_peek(scan, 0)))
                return word;
        } else if (text_is_digit(c) || (c == '.' && text_is_digit(ident_peek(scan, 1)))) {
            ident_skip_number(scan);
            scan->member = false;
        } else if (c == '"' || c == '\'') {
            ident_skip_quoted(scan);
            scan->member = false;
        } else {
            ident_take_punctuator(scan);
        }
    }
    return (struct text){0};
}

static struct ident_scan ident_scan_of(struct source_code code)
{
    return (struct ident_scan){.at          = code.text.at,
                               .end         = code.text.at ? code.text.at + code.text.length : NULL,
                               .line_begins = true};
}

void ident_for_each(struct source_code code, void (*fn)(struct text word, void *arg), void *arg)
{
    struct ident_scan scan = ident_scan_of(code);

    for (struct text word = ident_next(&scan); word.at; word = ident_next(&scan))
        fn(word, arg);
}

bool ident_is_mentioned(struct source_code code, struct text name)
{
    struct ident_scan scan = ident_scan_of(code);

    for (struct text word = ident_next(&scan); word.at; word = ident_next(&scan))
        if (text_equal(word, name))
            return true;
    return false;
}

/* ---- lambdas of C++ ----------------------------------------------------------------------- */

#define BRACKETS_MAX 256 /* more than c_code.h accepts */

/* How much of `[captures] (parameters)' is before the current position. */
enum ident_lambda { LAMBDA_NONE, LAMBDA_CAPTURES, LAMBDA_PARAMETERS };

struct ident_bracket {
    enum ident_lambda before; /* of a parenthesis: what precedes it      */
    bool              lambda; /* the code after it is that of a lambda,  */
                              /* or, of a `[', the list of its captures  */
};

struct ident_lambda_scan {
    struct ident_bracket open[BRACKETS_MAX];
    unsigned             depth;
    enum ident_lambda    state;
    bool operand; /* the last element was an operand: a `[' after it is a subscript */
    char last;    /* the last punctuator, if it was the last element */
};

static void ident_lambda_open(struct ident_lambda_scan *lambda, char c, char next)
{
    struct ident_bracket *open = &lambda->open[lambda->depth++];

    open->before = lambda->state;
    if (c == '{')
        open->lambda = lambda->state != LAMBDA_NONE;
    else /* [[ begins an attribute */
        open->lambda = c == '[' && !lambda->operand && lambda->last != '[' && next != '[';
    lambda->state   = LAMBDA_NONE;
    lambda->operand = false;
}

static void ident_lambda_close(struct ident_lambda_scan *lambda, char c)
{
    struct ident_bracket closed = lambda->open[--lambda->depth];

    lambda->state = LAMBDA_NONE;
    if (c == ']' && closed.lambda)
        lambda->state = LAMBDA_CAPTURES;
    else if (c == ')' && closed.before != LAMBDA_NONE)
        lambda->state = LAMBDA_PARAMETERS;
    lambda->operand = c != '}';
}

static void ident_lambda_punctuator(struct ident_lambda_scan *lambda, char c, char next)
{
    if ((c == '(' || c == '[' || c == '{') && lambda->depth < BRACKETS_MAX) {
        ident_lambda_open(lambda, c, next);
    } else if ((c == ')' || c == ']' || c == '}') && lambda->depth > 0) {
        ident_lambda_close(lambda, c);
    } else {
        if (lambda->state == LAMBDA_CAPTURES || c == ';' || c == '=')
            lambda->state = LAMBDA_NONE; /* otherwise part of a result type, `-> a::b<c, d> &' */
        lambda->operand = false;
    }
    lambda->last = c;
}

/* Takes an operand or a keyword. */
static void ident_lambda_word(struct ident_lambda_scan *lambda, struct text word)
{
    static const char *const before[] = {"return", "else", "do", "case", "throw", NULL};

    if (lambda->state == LAMBDA_CAPTURES)
        lambda->state = LAMBDA_NONE;
    lambda->operand = text_index_in(word, before) < 0;
    lambda->last    = '\0';
}

bool ident_is_in_lambda(struct source_code code, struct text word)
{
    struct ident_scan        scan   = ident_scan_of(code);
    struct ident_lambda_scan lambda = {.depth = 0};

    while (scan.at < word.at) {
        const char *from = scan.at;

        if (ident_skip_blank(&scan))
            continue;
        scan.line_begins = false;
        if (!ident_skip_raw_string(&scan)) {
            if (*from == '"' || *from == '\'')
                ident_skip_quoted(&scan);
            else if (text_is_digit(*from))
                ident_skip_number(&scan);
            else if (ident_is_letter(*from))
                ident_take(&scan);
        }
        if (scan.at > from) {
            ident_lambda_word(&lambda, text_between(from, scan.at));
        } else {
            ident_lambda_punctuator(&lambda, *from, ident_peek(&scan, 1));
            scan.at++;
        }
    }
    for (unsigned i = 0; i < lambda.depth; i++)
        if (lambda.open[i].lambda && lambda.open[i].before != LAMBDA_NONE)
            return true;
    return false;
}

/* ---- types -------------------------------------------------------------------------------- */

static const char *const type_keywords[] = {
    "void",    "char",     "short",   "int",      "long",     "float",    "double",
    "signed",  "const",    "struct",  "union",    "enum",     "volatile", "unsigned",
    "_Bool",   "_Complex", "string",  "bool",     "size_t",   "int8_t",   "int16_t",
    "int32_t", "int64_t",  "uint8_t", "uint16_t", "uint32_t", "uint64_t", NULL,
};

bool ident_is_type_keyword(struct text text)
{
    return text_index_in(text, type_keywords) >= 0;
}
