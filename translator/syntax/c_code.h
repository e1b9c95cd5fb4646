/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c_code.h - finds the end of embedded C code without parsing it.
 *
 * Only strings, character constants, comments and brackets are recognised.  Unbalanced brackets are
 * reported here, at the opening bracket, because no later pass sees them.
 */
#ifndef C_CODE_H
#define C_CODE_H

#include "syntax/parser.h"

/** Punctuators that end an expression outside of all brackets; an unmatched closing bracket always
 *  does. */
enum { C_CODE_STOP_COMMA = 1, C_CODE_STOP_SEMICOLON = 2, C_CODE_STOP_COLON = 4 };

/**
 * Takes an expression that begins after the last token; the token that ended it is next.  With
 * C_CODE_STOP_SEMICOLON the expression also ends where the next line seems to begin a statement,
 * that is, where a semicolon is missing.  *code excludes surrounding white space and comments; its
 * text.at is NULL if nothing is left.  Returns false after an error, which has been reported.
 */
bool c_code_expression(struct parser *parser, unsigned stops, struct source_code *code);

/** Takes C up to and including the closing brace; the opening brace was the last token. */
bool c_code_block(struct parser *parser, struct source_code *code);

/** Records the extent of a piece of C in the AST, for `skuac --format`. */
void c_code_add_span(struct parser *parser, struct text text, bool block);

/** Skips past the bracket @p closer, but not past an unmatched `}'.  Reports nothing. */
void c_code_skip_to_closer(struct parser *parser, char closer);

/** Skips past the bracket that closes the last token.  Reports nothing. */
void c_code_skip_brackets(struct parser *parser);

#endif
