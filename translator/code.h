/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - C that is not understood, only delimited.
 *
 * Strings, character constants, comments and brackets are; nothing else.  Brackets that do
 * not match are reported here, where they were opened, because nobody else sees them.
 */
#ifndef CODE_H
#define CODE_H

#include "parsing.h"

/* What ends an expression, outside of all brackets, beside a bracket that closes. */
enum { STOP_COMMA = 1, STOP_SEMICOLON = 2, STOP_COLON = 4 };

/**
 * Take an expression, from behind the last token on.  What ended it is the next token.  An
 * expression that ends with its statement (STOP_SEMICOLON) also ends where the next statement
 * seems to begin: somebody has forgotten the semicolon.  Without space and comments around
 * it; nothing is left: at NULL.  False: something is wrong, and has been reported.
 */
bool take_code(struct parser *parser, unsigned stops, struct code *code);

/** Take C to the brace that closes, and that brace; the opening one was the last token. */
bool take_block(struct parser *parser, struct code *code);

/** Remember a stretch of C, for who lays the file out. */
void add_piece(struct parser *parser, struct text text, bool block);

/** Skip to behind the bracket that closes, reporting nothing; not beyond a `}' that does. */
void skip_closed(struct parser *parser, char closer);

/** The same for the bracket that was the last token. */
void skip_brackets(struct parser *parser);

#endif
