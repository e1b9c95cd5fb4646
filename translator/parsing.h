/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parsing.h - what the rules of the grammar have in common: looking at tokens, taking them,
 * complaining, and finding a place to go on from.
 *
 * Tokens are read when they are looked at, so that C code can be taken from behind the last
 * token that was.  A rule that fails has complained, and returns false or NULL; the list that
 * it stood in (items, members, fields, statements) finds the next beginning and goes on.
 * There is never more than one complaint at one place.
 */
#ifndef PARSING_H
#define PARSING_H

#include "lexer.h"
#include "tree.h"

#define NESTING 200 /* brackets and statements in each other: more is no program */

struct parser {
    struct source *source;
    struct tree   *tree;
    struct lexer   lexer;
    struct token   token; /* the next, if it has been looked at */
    bool           looked;
    const char    *behind; /* the last that was taken */
    bool           broken;  /* what was taken last: it has what is missing behind it */
    const char    *suspect; /* a brace that was closed, but further to the left */
    bool           lost;   /* nothing can be understood any more: it looks like the end */
    unsigned       depth;  /* of statements */
    struct piece **pieces; /* where the next goes */
    struct name class;     /* in which we are */
};

/* ---- tokens -------------------------------------------------------------------------------- */

/** The next token, and the one after it, and so on; nothing is reported about those. */
const struct token *look(struct parser *parser);
struct token        look_further(struct parser *parser, unsigned tokens);

struct token take(struct parser *parser);

bool at_mark(struct parser *parser, char mark);
bool at_word(struct parser *parser, const char *word);
bool at_end(struct parser *parser);

/** Take it, if it is there. */
bool take_mark(struct parser *parser, char mark);
bool take_word(struct parser *parser, const char *word);

/** Take it, or complain: "expected `;' behind WHAT".  @p after may be NULL. */
bool expect_mark(struct parser *parser, char mark, const char *after);

/** Take a semicolon, or complain.  True also where it seems to be the only thing missing. */
bool expect_semicolon(struct parser *parser, const char *after);

/** Take the bracket that closes @p open, or complain about that. */
bool expect_closed(struct parser *parser, const char *open);

/** A brace was closed: if it does not look so, its loss may show later. */
void note_closed(struct parser *parser, const char *open, const char *close);

/** Take a name: "expected the name of a class". */
bool expect_name(struct parser *parser, struct name *name, const char *what);

/** Whether a token is that mark, that word. */
bool token_is_mark(const struct token *token, char mark);
bool token_is_word(const struct token *token, const char *word);

struct place place_of(const struct parser *parser, const char *at);
struct name  name_of(const struct parser *parser, const struct token *token);

/* ---- complaints ---------------------------------------------------------------------------- */

/** False if it was not said, because something was said about that place already: then hints
 *  must not be given either. */
bool complain_at(struct parser *parser, const char *at, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Of the next token. */
bool complain(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The next token as messages name it: `word', the end of the file. */
const char *seen(struct parser *parser);

/** Say nothing more, and look at nothing more. */
void give_up(struct parser *parser);

/** Skip what was not understood, which began at @p from: to behind the next `;' or `{ ... }',
 *  to a closing brace, or to one of @p words or a # line at the beginning of a line. */
void skip_to_next(struct parser *parser, const char *from, const char *const *words);

/** The word that was meant, of those in a list; NULL: none. */
const char *meant(struct parser *parser, const char *const *words);

/* ---- rules --------------------------------------------------------------------------------- */

/** field, with all its declarators; of a local no arrays.  NULL: not understood. */
struct field *parse_field(struct parser *parser, bool local);

/** fields to the closing brace, which is taken: of what began at @p open. */
struct field *parse_fields(struct parser *parser, const char *open, bool state);

/** "(" [ parameters ] ")".  @p names: a parameter may be a name alone. */
bool parse_parameters(struct parser *parser, struct parameter **parameters, bool names);

/** Words of a type, or of a type and a name behind it. */
struct words {
    struct token first, before_last, last;
    unsigned     count;
};
struct words take_words(struct parser *parser);
struct code  type_of(const struct parser *parser, const struct words *words, bool named);

/** Whether a word is part of C's own types, and so no name. */
bool is_type_word(struct text text);

/** C++ that people are used to: complains and returns true. */
bool parse_reference(struct parser *parser);

/** @p as: the kind, whatever the next token is; NULL: that token. */
struct class     *parse_class(struct parser *parser, const char *as);
bool              at_class(struct parser *parser);
struct entry     *parse_entry(struct parser *parser);
struct statement *parse_block(struct parser *parser);

extern const char *const class_words[];
extern const char *const statement_words[];

#endif
