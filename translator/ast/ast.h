/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ast.h - the abstract syntax tree of an interface file.
 *
 * The parser builds the AST; the checker resolves names, fills in the members marked "checker" and
 * rejects invalid programs; the emitter generates C from it.  Nodes come from the bump allocator;
 * texts point into the source.  Lists are singly linked by `next`, in source order.  C code, types
 * and expressions are kept verbatim as struct source_code.
 */
#ifndef AST_H
#define AST_H

#include <stdbool.h>
#include <stddef.h>

#include "support/source.h"

/* ---- declarations ---------------------------------------------------------------------- */

/** How an argument is passed.  The parser derives VALUE, ARRAY, STRING or INPLACE from the syntax;
 *  the checker turns pointers to messages into MESSAGE, and structs that a pup function packs, or
 *  arrays of them, into PACKED. */
enum ast_passing { PASS_VALUE, PASS_ARRAY, PASS_STRING, PASS_MESSAGE, PASS_INPLACE, PASS_PACKED };

/** A parameter: `double x[n]`, `inplace double x[n]`, `struct point p`, `string name`, `Tile *t`.
 */
struct ast_parameter {
    struct ast_parameter     *next;
    struct source_code        type; /* element type of an array; excludes the stars */
    unsigned                  stars;
    struct source_name        name; /* text.at NULL: unnamed */
    enum ast_passing          passing;
    struct source_code        length;  /* length of an array; text.at NULL: no array */
    bool                      nocopy;  /* `nocopy` or `nocopypost`                   */
    bool                      post;    /* `nocopypost`: the receiver provides memory */
    const struct ast_message *message; /* checker: the type of a PASS_MESSAGE        */
    const struct ast_record  *record;  /* checker: the type of a PASS_PACKED         */
    bool                      assumed; /* checker: a header declares the type        */
};

/** A member of a message, struct or state; a readonly variable; a local variable of a body. */
struct ast_field {
    struct ast_field        *next;
    struct text              comment; /* the comment directly before it */
    struct source_code       type;
    unsigned                 stars;
    struct source_name       name;
    struct ast_dimension    *dimensions;
    struct source_code       value;     /* initial value                                   */
    bool                     transient; /* excluded from packing                           */
    bool                     variable;  /* checker: an array whose length is another field */
    const struct ast_record *record;    /* checker: the type, if an interface file has it  */
};

/** An array dimension: `[n]`, or `[]` if length.text.at is NULL. */
struct ast_dimension {
    struct ast_dimension  *next;
    struct source_code     length;
    struct source_location location;
};

/** A struct: `struct point { int n; double x[n]; };`, or `struct graph;` for one that the program
 *  defines and packs. */
struct ast_record {
    struct text        comment;
    struct source_name name;
    struct ast_field  *fields;
    bool               external; /* without fields: the program defines it */
    bool               deep;     /* checker: it cannot be copied bytewise  */
};

/** A message type: `message Tile { int row; double x[]; };` */
struct ast_message {
    struct text        comment;
    struct source_name name;
    struct ast_field  *fields;
};

/** Attributes of an entry, as a bit set. */
enum ast_attribute {
    ATTRIBUTE_THREADED        = 1 << 0,
    ATTRIBUTE_SYNC            = 1 << 1,
    ATTRIBUTE_EXPEDITED       = 1 << 2,
    ATTRIBUTE_IMMEDIATE       = 1 << 3,
    ATTRIBUTE_INLINE          = 1 << 4,
    ATTRIBUTE_LOCAL           = 1 << 5,
    ATTRIBUTE_REDUCTIONTARGET = 1 << 6,
    ATTRIBUTE_CREATEHERE      = 1 << 7,
    ATTRIBUTE_CREATEHOME      = 1 << 8,
    ATTRIBUTE_NOKEEP          = 1 << 9,
    ATTRIBUTE_NOTRACE         = 1 << 10,
    ATTRIBUTE_AGGREGATE       = 1 << 11,
    ATTRIBUTE_RESUME          = 1 << 12,
    ATTRIBUTE_POSITION        = 1 << 13,
    ATTRIBUTE_LOAD            = 1 << 14,
};

/** The names of the attributes in bit order, ended by NULL. */
extern const char *const ast_attribute_names[];

/** The kind of an entry: a method, or one of the two special members of a class. */
enum ast_entry_kind { ENTRY_METHOD, ENTRY_CONSTRUCTOR, ENTRY_DESTRUCTOR };

/** An entry method, constructor or destructor. */
struct ast_entry {
    struct ast_entry      *next;
    struct text            comment;
    struct source_location location; /* location of the keyword `entry` */
    enum ast_entry_kind    kind;
    unsigned               attributes;
    struct source_code     aggregate; /* the number in `aggregate(512)`       */
    struct source_code     result;    /* result type; text.at NULL means void */
    unsigned               result_stars;
    struct source_name     name;
    struct ast_parameter  *parameters;
    struct ast_statement  *body; /* NULL: a user function, or awaited by a `when` */

    const struct ast_class *of;      /* checker: the class or interface that declares it */
    bool                    awaited; /* checker: some `when` waits for it                */
    unsigned                number;  /* checker: index among the awaited entries         */
};

/** The kinds of classes. */
enum ast_class_kind {
    CLASS_MAINCHARE,
    CLASS_CHARE,
    CLASS_GROUP,
    CLASS_NODEGROUP,
    CLASS_ARRAY,
    CLASS_INTERFACE
};

/** The keywords of the class kinds, in the order of enum ast_class_kind, ended by NULL. */
extern const char *const ast_class_kind_names[];

/** The attributes of classes, combined by |. */
enum { CLASS_MIGRATABLE = 1, CLASS_BY_POINTER = 2, CLASS_MOVED = 4 };

/** The words of the class attributes: bit i of ast_class.attributes is word i; ended by NULL. */
extern const char *const ast_class_attribute_names[];

/** A reference from a class to an interface that it inherits. */
struct ast_base {
    struct ast_base   *next;
    struct source_name name;
    const struct ast_class *class; /* checker */
};

/** A chare class, group, array or interface. */
struct ast_class {
    struct text            comment;
    struct source_location location;
    enum ast_class_kind    kind;
    unsigned               attributes; /* CLASS_MIGRATABLE ..., before the kind              */
    unsigned               dims;       /* dimensions of an array: 1 to 6, or 0 if indexed by */
    struct source_code     index;      /* this index type                                    */
    struct source_name     name;
    struct ast_base       *bases;
    struct ast_entry      *entries; /* the checker appends copies of inherited entries */
    bool                   has_state;
    struct source_location state_location;
    struct ast_field      *state;

    unsigned awaited_entries; /* checker: number of entries that some `when` waits for */
    const struct ast_record *index_record; /* checker: the struct that is the index type, or NULL */
};

/* ---- structured control flow ----------------------------------------------------------- */

/** The kinds of statements in the body of an entry. */
enum ast_statement_kind {
    STATEMENT_BLOCK,   /* { body ... }                            */
    STATEMENT_SERIAL,  /* serial "label" { code }                 */
    STATEMENT_WHEN,    /* when when_entries body                  */
    STATEMENT_IF,      /* if (condition) body else otherwise      */
    STATEMENT_FOR,     /* for (first; condition; step) body       */
    STATEMENT_WHILE,   /* while (condition) body                  */
    STATEMENT_FORALL,  /* forall [name] (first : last, step) body */
    STATEMENT_OVERLAP, /* overlap { body ... }                    */
    STATEMENT_CASE,    /* case { when ... when ... }              */
    STATEMENT_CALL,    /* name(arguments);                        */
    STATEMENT_LOCAL,   /* a declaration: int i = 0;               */
};

/** One entry that a `when` waits for: `ghost[self->step](int step, int n, double x[n])`. */
struct ast_when_entry {
    struct ast_when_entry *next;
    struct source_name     name;
    struct source_code     reference; /* reference number; text.at NULL: any */
    struct source_location location;
    struct ast_parameter  *parameters;
    bool                   bare;  /* no parentheses: parameters are named as in the entry */
    struct ast_entry      *entry; /* set by the checker */
};

/** An argument of a STATEMENT_CALL. */
struct ast_argument {
    struct ast_argument *next;
    struct source_code   value;
};

/** A statement of a body.  A comment names the kinds that use a member. */
struct ast_statement {
    struct ast_statement   *next;
    enum ast_statement_kind kind;
    struct source_location  location;
    struct source_name      name;  /* CALL: the entry; FORALL: the variable     */
    struct text             label; /* SERIAL: without quotes; at NULL: no label */
    struct source_code      code;  /* SERIAL                                    */
    struct source_code      first, condition, step, last; /* FOR, WHILE, IF, FORALL */
    struct ast_field       *local;        /* LOCAL; FOR: the variable it declares, or NULL       */
    struct ast_when_entry  *when_entries; /* WHEN                                                */
    bool                    at_sync;      /* WHEN: `at_sync;`, the checker names the entry       */
    struct ast_argument    *arguments;    /* CALL                                                */
    struct ast_statement   *body;         /* BLOCK, OVERLAP, CASE: a list; others: one statement */
    struct ast_statement   *otherwise;    /* IF: the else branch                                 */

    struct ast_entry *called; /* checker: the called entry */
};

/* ---- modules ---------------------------------------------------------------------------- */

/** The kinds of declarations in a module. */
enum ast_item_kind {
    ITEM_EXTERN,    /* extern module M;                       */
    ITEM_INCLUDE,   /* include "x.h"; or include <x.h>;       */
    ITEM_DIRECTIVE, /* a preprocessor line: # ...             */
    ITEM_READONLY,  /* readonly int n = 3;                    */
    ITEM_MESSAGE,   /* message Tile { ... };                  */
    ITEM_RECORD,    /* struct point { ... };                  */
    ITEM_CLASS,     /* chare, group, array, interface         */
    ITEM_CODE,      /* code { ... }: C for the generated file */
    ITEM_INIT,      /* initnode f();                          */
};

/** A declaration in a module; `kind` selects the member of `is`. */
struct ast_item {
    struct ast_item       *next;
    enum ast_item_kind     kind;
    struct source_location location;
    struct text            comment;
    union {
        struct source_name  module;   /* EXTERN                                            */
        struct source_name  function; /* INIT                                              */
        struct source_code  code;     /* INCLUDE: with quotes or brackets; DIRECTIVE; CODE */
        struct ast_field   *readonly;
        struct ast_message *message;
        struct ast_record  *record;
        struct ast_class *class;
    } is;
};

/** A module.  Directives and includes outside of modules form modules without a name. */
struct ast_module {
    struct ast_module     *next;
    struct text            comment;
    struct source_location location;
    struct source_name     name;
    bool                   main;     /* `mainmodule`                                  */
    bool                   imported; /* imported from another file by `extern module` */
    struct ast_item       *items;
};

/** The extent of a piece of C anywhere in the file: `skuac --format` copies it verbatim. */
struct ast_code_span {
    struct ast_code_span *next;
    struct text           text;
    bool                  block; /* between braces, not an expression */
};

/** A type that the file uses without declaring it: an included header is assumed to do so. */
struct ast_assumed_type {
    struct ast_assumed_type *next;
    struct source_code       type;
    bool                     whole;  /* the size must be known, not only the name           */
    const void              *unit;   /* the class, message, struct or variable that uses it */
    struct text              stored; /* what has the type, if it is not only a pointer: "`v'"   */
    bool                     copied; /* it is copied bytewise                                  */
    bool                     placed; /* it is in an object, a message or a frame               */
};

/** The AST of one interface file. */
struct ast_tree {
    struct source           *source;
    struct ast_module       *modules;       /* imported modules first */
    struct ast_code_span    *code_spans;    /* in source order        */
    struct ast_assumed_type *assumed_types; /* checker: latest first  */
};

#endif
