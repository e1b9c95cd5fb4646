/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - declarations that the files of the checker share.
 *
 *     checker.c        the order of the passes; modules
 *     check_symbols.c  the symbol table
 *     check_names.c    valid names, and clashes between generated names
 *     check_types.c    types, as far as they are known without a C compiler
 *     check_headers.c  types that must come from a header
 *     check_fields.c   messages, structs, states, readonly variables
 *     check_entries.c  parameters and attributes
 *     check_classes.c  classes and inheritance
 *     check_flow.c     bodies
 *
 * An empty name means that the parser has reported an error there; the checker skips it.
 */
#ifndef CHECK_H
#define CHECK_H

#include "ast/ast.h"
#include "support/strmap.h"

/** The kinds of symbols. */
enum check_symbol_kind { SYMBOL_CLASS, SYMBOL_MESSAGE, SYMBOL_RECORD, SYMBOL_READONLY };

/** The progress of the check of a symbol; PROGRESS_BEGUN detects recursion. */
enum check_progress { PROGRESS_NONE, PROGRESS_BEGUN, PROGRESS_DONE };

/** A symbol: the entity that a name declared in an interface file denotes. */
struct check_symbol {
    struct check_symbol   *next; /* next symbol in declaration order */
    enum check_symbol_kind kind;
    struct source_name     name;
    union {
        struct ast_class *class;
        struct ast_message *message;
        struct ast_record  *record;
        struct ast_field   *readonly;
    } is;
    /* Progress for a class: of its inheritance; else of the whole check. */
    enum check_progress progress;
    bool                broken; /* an interface with an error in a body: copies are skipped */
};

/** The headers that the interface files include. */
enum check_headers {
    HEADERS_NONE,
    HEADERS_STANDARD, /* only headers whose types are known */
    HEADERS_ANY       /* headers that may declare any type  */
};

/** The state of the checker. */
struct checker {
    struct ast_tree         *tree;
    const struct ast_module *main;
    bool                     has_c; /* the file contains C that may declare a struct */
    enum check_headers       headers;
    const void              *unit;         /* being checked: see struct ast_assumed_type */
    struct check_symbol     *first, *last; /* all symbols                                */
    struct strmap            symbols;      /* name -> struct check_symbol                */
    struct strmap            modules;      /* name -> struct ast_module                  */
    struct strmap            deep; /* struct -> its first deep field: check_note_deep_field() */
    struct strmap            readonlys; /* name -> struct ast_field, of those checked so far */
    struct strmap            unknown;   /* unknown types that have been reported             */
    struct strmap            generated; /* generated name -> struct check_name_origin        */
};

/* ---- check_symbols.c ----------------------------------------------------------------------- */

/** Adds @p symbol to the symbol table.  Of two symbols with one name the first is found. */
void check_add_symbol(struct checker *checker, struct check_symbol symbol);

/** Returns the symbol @p name if it is of kind @p kind, else NULL. */
struct check_symbol *check_find_symbol(const struct checker *checker, struct text name,
                                       enum check_symbol_kind kind);

/** Returns the noun for a symbol's kind in error texts: "class", "message", ... */
const char *check_symbol_noun(const struct check_symbol *symbol);

/** Returns the symbol name of kind @p kind that is closest to @p word, or NULL if none is close. */
const char *check_nearest_symbol(const struct checker *checker, struct text word,
                                 enum check_symbol_kind kind);

/** Returns the name of a type that is closest to @p word, or NULL if none is close. */
const char *check_nearest_type(const struct checker *checker, struct text word);

/** Returns the name of an entry of @p class that is closest to @p word, or NULL if none is close.
 */
const char *check_nearest_entry(const struct ast_class *class, struct text word);

/* ---- check_names.c ------------------------------------------------------------------------- */

/** Rejects a name that is a C keyword or reserved.  Returns whether the name is valid and not
 *  empty. */
bool check_name(struct source_name name);

/** Rejects a name at file scope that check_name() rejects, or that is a function of the C library
 * that generated code includes.  Returns whether check_name() accepts it. */
bool check_global_name(struct source_name name);

/** Rejects the name of a class, a message or a struct.  Returns whether @p name is one. */
bool check_reject_type_name(const struct checker *checker, struct source_name name);

/** Rejects the name `self`.  Returns whether @p name is that. */
bool check_reject_self(struct source_name name);

/** Rejects a name that is invalid for a C variable in the scope of `self`, or hides a type.
 *  Returns whether the name is valid and not empty. */
bool check_variable_name(const struct checker *checker, struct source_name name);

/** Reserves the names that are generated for @p module; reports clashes. */
void check_reserve_module_names(struct checker *checker, const struct ast_module *module);

/** Reserves the names that are generated for @p symbol; reports clashes. */
void check_reserve_symbol_names(struct checker *checker, const struct check_symbol *symbol);

/* ---- check_types.c ------------------------------------------------------------------------- */

/** Returns the words of @p type with single spaces between them, without qualifiers. */
char *check_type_spelling_of(struct source_code type);

/** Returns whether two types with the given numbers of stars have the same spelling. */
bool check_same_type(struct source_code a, unsigned a_stars, struct source_code b,
                     unsigned b_stars);

/** Returns the name of a type that is a single name, perhaps after `struct`; else a text with a
 * NULL `at`. */
struct text check_type_name(struct source_code type);

/** Returns whether check_type_spelling_of(@p type) is @p spelling. */
bool check_type_is(struct source_code type, const char *spelling);

/** Returns whether @p type has the qualifier const. */
bool check_type_is_const(struct source_code type);

/** Returns false only if @p type is certainly not an integer; an unknown name may be a typedef. */
bool check_may_be_integer(const struct checker *checker, struct source_code type, unsigned stars);

/** Returns the struct of an interface file that @p type names, or NULL. */
const struct ast_record *check_record_of(const struct checker *checker, struct source_code type);

/** Returns the message that @p type names, or NULL. */
const struct ast_message *check_message_of(const struct checker *checker, struct source_code type);

/** Rejects a class as the type of @p name.  Returns whether @p type is one. */
bool check_reject_class(const struct checker *checker, struct source_code type,
                        struct source_name name);

/** Rejects a const variable or field @p name. */
void check_reject_const(struct source_name name);

/** Records in checker->deep the first field of @p record, at any depth, whose data are outside of
 *  the struct: a string, an array of variable length, a pointer, a struct that the program packs. A
 *  struct without such a field can be copied bytewise, and is not `deep`. */
void check_note_deep_field(struct checker *checker, struct ast_record *record);

/** Rejects a struct with a deep field as the type of @p name; @p record may be NULL. */
void check_reject_deep(const struct checker *checker, const struct ast_record *record,
                       struct source_name name, const char *where);

/* ---- check_headers.c ----------------------------------------------------------------------- */

/** Sets checker->headers from the includes of all modules. */
void check_note_headers(struct checker *checker);

/** Lets the C compiler report an external struct that no included header defines. */
void check_external_record(struct checker *checker, const struct ast_record *record);

/** Rejects a type that is declared nowhere and returns false.  A type that an included header may
 *  declare is recorded in the AST, so that the C compiler can report it at its location. */
bool check_type_names(struct checker *checker, struct source_code type, unsigned stars);

/** Does the same for the type of @p what, such as "`v'", which is @p copied bytewise, or @p placed
 *  in objects, messages or frames: the compiler rejects types with which that is not possible. */
bool check_stored_type(struct checker *checker, struct source_code type, unsigned stars,
                       const char *what, bool copied, bool placed);

/* ---- check_fields.c ------------------------------------------------------------------------ */

/** Checks the fields of a message. */
void check_message(struct checker *checker, struct ast_message *message);

/** Checks the fields of a struct. */
void check_record(struct checker *checker, struct ast_record *record);

/** Checks the state of a class. */
void check_state(struct checker *checker, struct ast_class *class);

/** Checks the readonly variables of one declaration. */
void check_readonly(struct checker *checker, struct ast_field *fields);

/** Checks a local variable of a body. */
void check_local(struct checker *checker, struct ast_field *local);

/* ---- check_entries.c ----------------------------------------------------------------------- */

/** Checks an entry by itself, in the class or interface that declares it. */
void check_entry(struct checker *checker, struct ast_class *class, struct ast_entry *entry);

/** Checks an entry, perhaps an inherited one, against the kind of its class. */
void check_entry_kind(const struct ast_class *class, const struct ast_entry *entry);

/** Returns whether two parameter lists have the same types. */
bool check_same_parameters(const struct ast_parameter *a, const struct ast_parameter *b);

/* ---- check_classes.c ----------------------------------------------------------------------- */

/** Checks a class except for its bodies, after the interfaces that it inherits. */
void check_class(struct checker *checker, struct check_symbol *symbol);

/* ---- check_flow.c -------------------------------------------------------------------------- */

/** Checks the bodies of the entries of a class. */
void check_flow(struct checker *checker, struct check_symbol *symbol);

#endif
