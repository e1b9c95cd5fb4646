/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grammar.h - the rules of the grammar that call each other across files.
 *
 *     parse_file.c   files, modules and the declarations in them
 *     parse_class.c  chares, groups, arrays, interfaces, and their entries
 *     parse_decl.c   types, fields, parameters
 *     parse_flow.c   statements of structured control flow
 *
 * docs/internals/translator.md has the grammar.  A rule takes the tokens it matches.  One that
 * fails has reported an error and returns false or NULL.
 */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include "syntax/parser.h"

/** Parses a field declaration with all its declarators; a local variable cannot be an array. */
struct ast_field *parse_field(struct parser *parser, bool local);

/** Parses field declarations up to and including the brace that closes the one at @p open.  Fields
 *  of a state may be `transient`. */
struct ast_field *parse_fields(struct parser *parser, const char *open, bool state);

/** Parses the value of @p field, behind "=". */
bool parse_field_value(struct parser *parser, struct ast_field *field);

/** Parses a parameter list in parentheses.  With @p names a parameter may be a name alone. */
bool parse_parameters(struct parser *parser, struct ast_parameter **parameters, bool names);

/** Identifiers that spell a type, or a type and the name it declares. */
struct parse_specifiers {
    struct lexer_token first, before_last, last;
    unsigned           count;
};

/** Takes identifiers as long as they can belong to a type and a name. */
struct parse_specifiers parse_take_specifiers(struct parser *parser);

/** Returns the type that @p words spell; with @p named the last of them is the declared name. */
struct source_code parse_type_of(const struct parser *parser, const struct parse_specifiers *words,
                                 bool named);

/** Parses a class.  @p as is its kind, whatever keyword comes next; NULL: the keyword determines
 *  it. */
struct ast_class *parse_class(struct parser *parser, const char *as);

/** Returns whether a class seems to begin at the next token. */
bool parse_at_class(struct parser *parser);

/** Parses an entry of a class. */
struct ast_entry *parse_entry(struct parser *parser);

/** Parses statements up to and including the closing brace; the opening one was the last token. */
struct ast_statement *parse_block(struct parser *parser);

/** The keywords that begin a statement, ended by NULL. */
extern const char *const parse_statement_keywords[];

#endif
