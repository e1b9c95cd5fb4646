/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexer.h - splits an interface file into tokens.
 *
 * White space and comments separate tokens; a token records the comment directly before it, which
 * documents it.  The lexer does not tokenize C code: c_code.h delimits that.
 *
 * The lexer reports and skips bytes that begin no token.  Unterminated strings and comments are
 * reported where they begin.  A quiet lexer, a copy used for lookahead, reports nothing.
 */
#ifndef LEXER_H
#define LEXER_H

#include "support/source.h"

/** The kinds of tokens. */
enum lexer_token_kind {
    TOKEN_END,
    TOKEN_IDENTIFIER, /* keywords included: they are keywords only in certain places    */
    TOKEN_NUMBER,     /* a preprocessing number: 3, 0x1p-3, 2D                          */
    TOKEN_STRING,     /* with its quotes                                                */
    TOKEN_PUNCTUATOR, /* a single character                                             */
    TOKEN_DIRECTIVE,  /* a # line with its continuation lines, without the last newline */
};

/** A token. */
struct lexer_token {
    enum lexer_token_kind kind;
    struct text           text;
    struct text           comment; /* the group of comments directly before it                 */
    bool                  first;   /* the first token of its line                              */
    bool                  broken;  /* an unterminated string: the text after it is not checked */
};

/** A position in a source.  A copy of a lexer can look ahead. */
struct lexer {
    const struct source *source;
    const char          *at;
    const char          *last_error; /* location of the last error: one error per location */
    bool                 quiet;
    bool in_comment; /* an unterminated comment was met: the rest of the file is in it */
};

/** Returns a lexer at the beginning of @p source. */
struct lexer lexer_start(const struct source *source);

/** Returns the next token; at the end of the source TOKEN_END, any number of times. */
struct lexer_token lexer_next(struct lexer *lexer);

/** Returns the end of the comment that begins at @p at; @p at itself if none does; NULL if the
 *  comment is unterminated. */
const char *lexer_comment_end(const char *at, const char *end);

/** Returns the end of the string or character constant that begins at @p at, or NULL if it is not
 *  closed on its line. */
const char *lexer_quoted_end(const char *at, const char *end);

/** Returns the end of the raw string of C++ whose prefix begins at @p at, such as R"(text)"; @p at
 *  itself if none does. */
const char *lexer_raw_string_end(const char *at, const char *end);

/** Returns the end of the word or the number that begins at @p at.  A number of C++ may have
 *  separators between its digits: 1'000. */
const char *lexer_word_end(const char *at, const char *end);

#endif
