/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser.h - the state of the parser: tokens, errors, and expectations.
 *
 * Tokens are read on demand, so that C code can be scanned from the end of the last token taken. A
 * rule that fails has reported an error and returns false or NULL; the enclosing list (items,
 * members, fields, statements) resynchronises (recovery.h) and continues.  At most one error is
 * reported per location.
 */
#ifndef PARSER_H
#define PARSER_H

#include "ast/ast.h"
#include "syntax/lexer.h"

#define PARSER_NESTING_MAX 200 /* nested brackets, or nested statements */

/** The state of the parser. */
struct parser {
    struct source     *source;
    struct ast_tree   *tree;
    struct lexer       lexer;
    struct lexer_token token; /* the lookahead token, if `peeked` */
    bool               peeked;
    const char        *last_end; /* the end of the last token taken                     */
    bool               broken;   /* the last token taken hides what follows it          */
    const char        *suspect;  /* a brace whose closer is indented less than its line */
    /* Parsing was abandoned: the rest of the file reads as its end. */
    bool                   gave_up;
    unsigned               depth;      /* depth of nested statements   */
    struct ast_code_span **code_spans; /* where the next one is linked */
    struct source_name class;          /* the class being parsed       */
};

/* ---- tokens -------------------------------------------------------------------------------- */

/** Returns the next token without taking it. */
const struct lexer_token *parser_peek(struct parser *parser);

/** Returns the token @p tokens positions after the next one.  Reports nothing about it. */
struct lexer_token parser_peek_ahead(struct parser *parser, unsigned tokens);

/** Takes and returns the next token. */
struct lexer_token parser_next(struct parser *parser);

/** Continues at the byte @p at: the next token is read from there. */
void parser_resume_at(struct parser *parser, const char *at);

/** Returns whether the next token is the punctuator @p mark. */
bool parser_at_punctuator(struct parser *parser, char mark);

/** Returns whether the next token is the keyword @p word. */
bool parser_at_keyword(struct parser *parser, const char *word);

/** Returns whether the next token is the end of the file. */
bool parser_at_end(struct parser *parser);

/** Takes the punctuator @p mark if it is next; returns whether it was. */
bool parser_accept_punctuator(struct parser *parser, char mark);

/** Takes the keyword @p word if it is next; returns whether it was. */
bool parser_accept_keyword(struct parser *parser, const char *word);

/** Takes any number of `*` and returns how many. */
unsigned parser_accept_stars(struct parser *parser);

/** Takes the punctuator @p mark, or reports that it is missing after @p after, which may be NULL.
 */
bool parser_expect_punctuator(struct parser *parser, char mark, const char *after);

/** Takes a semicolon, or reports that it is missing after @p after.  Returns true also if nothing
 *  else seems to be missing, because the line ends here. */
bool parser_expect_semicolon(struct parser *parser, const char *after);

/** Takes the bracket that closes the one at @p open, or reports that @p open is not closed. */
bool parser_expect_closer(struct parser *parser, const char *open);

/** Takes an identifier into @p name, or reports that @p what was expected. */
bool parser_expect_name(struct parser *parser, struct source_name *name, const char *what);

/** Notes that the brace at @p open was closed at @p close.  Indentation that contradicts this
 *  indicates a missing inner brace. */
void parser_note_closer(struct parser *parser, const char *open, const char *close);

/** Returns the bracket that closes @p open. */
char parser_closer_of(char open);

/** Returns whether @p token is the punctuator @p mark. */
bool parser_is_punctuator(const struct lexer_token *token, char mark);

/** Returns whether @p token is the keyword @p word. */
bool parser_is_keyword(const struct lexer_token *token, const char *word);

/** Returns the location of the byte @p at. */
struct source_location parser_locate(const struct parser *parser, const char *at);

/** Returns the text and location of @p token. */
struct source_name parser_name_of(const struct parser *parser, const struct lexer_token *token);

/* ---- errors -------------------------------------------------------------------------------- */

/** Reports an error at @p at.  Returns false if it was suppressed, because an error was reported at
 *  that location before: hints must then be omitted as well. */
bool parser_error_at(struct parser *parser, const char *at, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Reports an error at the next token.  Returns false if it was suppressed. */
bool parser_error(struct parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Returns the next token as error texts quote it: `word', a string, the end of the file. */
const char *parser_describe_next(struct parser *parser);

/** Gives up: reports nothing more, and the next token is the end of the file. */
void parser_give_up(struct parser *parser);

/** Returns the keyword in the NULL-terminated list @p words that the next token resembles, or NULL.
 */
const char *parser_nearest_keyword(struct parser *parser, const char *const *words);

/** A keyword of another language, with an error and a hint for it. */
struct parser_foreign_keyword {
    const char *word, *error, *hint;
};

/** Reports an error if the next token is in @p list of @p count keywords.  Returns whether it was.
 */
bool parser_reject_foreign(struct parser *parser, const struct parser_foreign_keyword *list,
                           size_t count);

/** Reports an error if C++ syntax follows: a reference, a template or a namespace.  Returns whether
 *  it does. */
bool parser_reject_cxx(struct parser *parser);

#endif
