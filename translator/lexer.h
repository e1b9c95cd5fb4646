/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexer.h - words, numbers, strings, marks and # lines of an interface file.
 *
 * A mark is one character of punctuation.  Space and comments lie between tokens; a token
 * knows the comment directly before it, which is its documentation.  What C code consists of
 * the lexer does not know: code.h skips it.
 *
 * Bytes that do not belong into a file are reported and skipped, strings and comments that do
 * not end are reported where they begin, unless the lexer is quiet: a copy that looks ahead.
 */
#ifndef LEXER_H
#define LEXER_H

#include "tree.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NUMBER, /* as preprocessors see it: 3, 0x1p-3, 2D */
    TOKEN_STRING, /* with its quotes */
    TOKEN_MARK,
    TOKEN_HASH, /* a # line, with those that `\` continues, without the last line's end */
};

struct token {
    enum token_kind kind;
    struct text     text;
    struct text     comment; /* directly before it, with all that it consists of */
    bool            first;   /* of its line */
    bool            broken;  /* a string that does not end: nobody knows what follows it */
};

struct lexer {
    const struct source *source;
    const char          *at;
    const char          *complained; /* where, last: never twice about the same */
    bool                 quiet;
    bool                 cut; /* a comment does not end: what is missing is in it */
};

/** From the beginning of a source. */
struct lexer lexer_at_start(const struct source *source);

/** The next token; at the end of the source TOKEN_END, again and again. */
struct token lexer_next(struct lexer *lexer);

/** Behind a comment that begins at @p at, or @p at if none does.  NULL: it does not end. */
const char *comment_end(const char *at, const char *end);

/** Behind a string or a character constant that begins at @p at.  NULL: not on its line. */
const char *quoted_end(const char *at, const char *end);

#endif
