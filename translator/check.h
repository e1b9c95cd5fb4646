/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what the parts of the checker share.
 *
 *     checker.c        the order of things: symbols, modules
 *     check_names.c    which names may be, and which would be written twice
 *     check_types.c    types, as far as they can be known without a C compiler
 *     check_fields.c   messages, structs, states, readonly variables
 *     check_entries.c  parameters and attributes
 *     check_classes.c  classes and what they inherit
 *     check_flow.c     bodies
 *
 * A name that is empty has been complained about by the parser, and is passed over.
 */
#ifndef CHECK_H
#define CHECK_H

#include "map.h"
#include "tree.h"

/* For "%.*s". */
#define TEXT(text) (int)(text).length, (text).at

enum symbol_kind { SYMBOL_CLASS, SYMBOL_MESSAGE, SYMBOL_RECORD, SYMBOL_READONLY };

enum progress { PROGRESS_NONE, PROGRESS_BEGUN, PROGRESS_DONE };

/* What a name of a file stands for. */
struct symbol {
    struct symbol   *next; /* in the order of the files */
    enum symbol_kind kind;
    struct name      name;
    union {
        struct class   *class;
        struct message *message;
        struct record  *record;
        struct field   *readonly;
    } is;
    enum progress progress; /* of a class: its inheritance; else whether it has been checked */
    bool          broken;   /* of an interface: a body of it is wrong; copies are not looked at */
};

struct checker {
    struct tree         *tree;
    const struct module *main;
    bool                 has_c; /* the file has something that may declare a struct in C */
    enum {
        HEADERS_NONE,     /* the files include nothing                          */
        HEADERS_STANDARD, /* ... only headers whose types are known             */
        HEADERS_ANY       /* ... headers that may declare any type              */
    } headers;
    const void *unit; /* what is checked: see struct believed */
    struct symbol       *first, *last;
    struct map           symbols;   /* name -> struct symbol            */
    struct map           modules;   /* name -> struct module            */
    struct map           deep;      /* name of a struct -> struct field: see note_deep_field() */
    struct map           readonlys; /* name -> struct field, so far     */
    struct map           unknown; /* names of types that were said to be unknown */
    struct map           written; /* name -> struct origin: all names that will be written */
};

struct symbol *find_symbol(const struct checker *checker, struct text name, enum symbol_kind kind);

/* ---- check_names.c ------------------------------------------------------------------------- */

/** Refuse what cannot be a name in C or is reserved; false: refused, or empty. */
bool check_name(struct name name);

/** The same for names that stand beside `self` in C, and may not hide a type. */
bool check_variable_name(const struct checker *checker, struct name name);

/** The name of a module, or of a symbol with all that is written for it. */
void write_module(struct checker *checker, const struct module *module);
void write_symbol(struct checker *checker, const struct symbol *symbol);

/** "class", "message", ... */
const char *symbol_noun(const struct symbol *symbol);

/** The nearest of the names of this kind, or of the entries of a class; or NULL. */
const char *nearest_symbol(const struct checker *checker, struct text word, enum symbol_kind kind);
const char *nearest_type(const struct checker *checker, struct text word);
const char *nearest_entry(const struct class *class, struct text word);

/* ---- check_types.c ------------------------------------------------------------------------- */

/** The words of a type with single spaces between them, without `const`. */
char *type_spelling(struct code type);
bool  same_type(struct code a, unsigned a_stars, struct code b, unsigned b_stars);

/** If it is a name alone, perhaps after `struct`: that; else a text with at NULL. */
struct text type_name(struct code type);

bool type_is(struct code type, const char *spelling);

/** Refuse a type with a name that is declared nowhere: false.  One that an included header may
 *  declare is noted, so that the compiler can be shown where it stands. */
bool check_type_names(struct checker *checker, struct code type, unsigned stars);

/** Look which headers are included, for the function above. */
void note_headers(struct checker *checker);

/** False only if it certainly is not: an unknown name may be a typedef. */
bool may_be_integer(const struct checker *checker, struct code type, unsigned stars);

const struct record  *record_of(const struct checker *checker, struct code type);
const struct message *message_of(const struct checker *checker, struct code type);

/** Note in checker->deep the first field, at any depth, that lies outside of the struct: a
 *  string, an array of variable length, a pointer.  None: a copy of its bytes is a copy of it. */
void note_deep_field(struct checker *checker, const struct record *record);

/** Refuse a struct, as the type of @p name, that is more than its bytes; @p record may be NULL. */
void refuse_deep(const struct checker *checker, const struct record *record, struct name name,
                 const char *where);

/* ---- the others ---------------------------------------------------------------------------- */

void check_message(struct checker *checker, struct message *message);
void check_record(struct checker *checker, struct record *record);
void check_state(struct checker *checker, struct class *class);
void check_readonly(struct checker *checker, struct field *fields);
void check_local(struct checker *checker, struct field *local);

/** An entry by itself, where it is declared; then of a class, which may inherit it. */
void check_entry(struct checker *checker, struct class *class, struct entry *entry);
void check_entry_kind(const struct class *class, const struct entry *entry);
bool same_parameters(const struct parameter *a, const struct parameter *b);

void check_class(struct checker *checker, struct symbol *symbol);
void check_flow(struct checker *checker, struct symbol *symbol);

#endif
