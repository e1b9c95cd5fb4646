/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - what an interface file says, as a tree.
 *
 * The parser builds it, the checker completes and refuses, the emitter writes C from it.
 * Everything lies in an arena (arena.h) that lives as long as the program; texts point
 * into the source.  Lists are singly linked by `next`, in the order of the file.  C code,
 * types and expressions are kept as they were written: a struct code.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>

struct source;

/* Where something stands.  Lines and columns count from 1; a column is a byte. */
struct place {
    const struct source *source;
    unsigned             line, column;
};

/* A piece of a source, not terminated. */
struct text {
    const char *at;
    size_t      length;
};

struct name {
    struct text  text;
    struct place place;
};

/* C as it was written, without the braces or brackets around it; at NULL: none. */
struct code {
    struct text  text;
    struct place place;
};

/* ---- declarations ---------------------------------------------------------------------- */

/* How a parameter travels.  The parser says VALUE, ARRAY, LANDING or STRING, as it looks; the
 * checker finds out which pointers are messages. */
enum passing { PASS_VALUE, PASS_ARRAY, PASS_STRING, PASS_MESSAGE, PASS_LANDING };

/* `double x[n]`, `landing double x[n]`, `struct point p`, `string name`, `Tile *tile`. */
struct parameter {
    struct parameter *next;
    struct code       type; /* of an array: of its elements; without the stars below */
    unsigned          stars;
    struct name       name; /* text.at NULL: not named */
    enum passing      passing;
    struct code       length;        /* of an array                                       */
    bool              nocopy, post;  /* `nocopy`, `nocopypost`, which is both             */
    const struct message *message;   /* the checker's: PASS_MESSAGE                       */
};

/* A member of a message, a struct or a state; a readonly variable; a local. */
struct field {
    struct field     *next;
    struct text       comment; /* directly before it */
    struct code       type;
    unsigned          stars;
    struct name       name;
    struct dimension *dimensions;
    struct code       value;     /* at first */
    bool              transient; /* not packed */
    bool              variable;  /* the checker's: an array with a length that is another field */
    const struct record *record; /* the checker's: the type is a struct of an interface file     */
};

struct dimension { /* `[n]`; `[]`: length.text.at NULL */
    struct dimension *next;
    struct code       length;
    struct place      place;
};

/* `struct point { int n; double x[n]; };` */
struct record {
    struct text   comment;
    struct name   name;
    struct field *fields;
};

/* `message Tile { int row; double x[]; };` */
struct message {
    struct text   comment;
    struct name   name;
    struct field *fields;
};

enum attribute {
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
};

enum entry_kind { ENTRY_METHOD, ENTRY_CONSTRUCTOR, ENTRY_DESTRUCTOR };

struct entry {
    struct entry     *next;
    struct text       comment;
    struct place      place; /* of the word `entry` */
    enum entry_kind   kind;
    unsigned          attributes;
    struct code       aggregate; /* `aggregate(512)`: the number */
    struct code       result;    /* type of the answer; at NULL: void */
    unsigned          result_stars;
    struct name       name;
    struct parameter *parameters;
    struct statement *body; /* NULL: a function of the user's, or a trigger */

    /* The checker's. */
    const struct class *of;        /* where it was declared: the class or an interface    */
    bool                trigger;   /* some `when` waits for it                            */
    unsigned            number;    /* of a trigger: its place among those of the class    */
};

enum class_kind {
    CLASS_MAINCHARE,
    CLASS_CHARE,
    CLASS_GROUP,
    CLASS_NODEGROUP,
    CLASS_ARRAY,
    CLASS_INTERFACE
};

/* What a class inherits: the name of an interface. */
struct base {
    struct base        *next;
    struct name         name;
    const struct class *class; /* the checker's */
};

struct class {
    struct text     comment;
    struct place    place;
    enum class_kind kind;
    bool            migratable; /* `[migratable]` before the kind */
    unsigned        dims;       /* of an array: 1 to 6, or 0: ...       */
    struct code     index;      /* ... this type                         */
    struct name     name;
    struct base    *bases;
    struct entry   *entries; /* the checker adds copies of what it inherits at the end */
    bool            has_state;
    struct place    state_place;
    struct field   *state;

    unsigned triggers; /* the checker's: how many entries are triggers */
};

/* ---- structured control flow ----------------------------------------------------------- */

enum statement_kind {
    STATEMENT_BLOCK,   /* { body ... }                           */
    STATEMENT_SERIAL,  /* serial "label" { code }                */
    STATEMENT_WHEN,    /* when triggers body                     */
    STATEMENT_IF,      /* if (condition) body else otherwise     */
    STATEMENT_FOR,     /* for (first; condition; step) body      */
    STATEMENT_WHILE,   /* while (condition) body                 */
    STATEMENT_FORALL,  /* forall [name] (first : last, step) body */
    STATEMENT_OVERLAP, /* overlap { body ... }                   */
    STATEMENT_CASE,    /* case { when ... when ... }             */
    STATEMENT_CALL,    /* name(arguments);                       */
    STATEMENT_LOCAL,   /* a declaration: int i = 0;              */
};

/* `ghost[self->step](int step, int n, double x[n])` */
struct trigger {
    struct trigger   *next;
    struct name       name;
    struct code       reference; /* at NULL: any */
    struct place      place;
    struct parameter *parameters;
    bool              bare; /* no parentheses: the parameters have the names of the entry */
    struct entry     *entry; /* the checker's */
};

struct argument {
    struct argument *next;
    struct code      value;
};

struct statement {
    struct statement   *next; /* in its block */
    enum statement_kind kind;
    struct place        place;
    struct name         name;  /* CALL: what; FORALL: its variable */
    struct text         label; /* SERIAL, without quotes; at NULL: none */
    struct code         code;  /* SERIAL */
    struct code         first, condition, step, last; /* FOR, WHILE, IF, FORALL */
    struct field       *local;    /* LOCAL; FOR (int i = 0; ...): the variable */
    struct trigger     *triggers; /* WHEN */
    struct argument    *arguments; /* CALL */
    struct statement   *body;      /* the first; one alone but for BLOCK, OVERLAP, CASE */
    struct statement   *otherwise; /* IF */

    struct entry *called; /* the checker's: CALL */
};

/* ---- modules ---------------------------------------------------------------------------- */

enum item_kind {
    ITEM_EXTERN,   /* extern module M;                 */
    ITEM_INCLUDE,  /* include "x.h"; or include <x.h>; */
    ITEM_HASH,     /* # line                           */
    ITEM_READONLY, /* readonly int n = 3;              */
    ITEM_MESSAGE,
    ITEM_RECORD,
    ITEM_CLASS,
    ITEM_CODE, /* code { C }: for the C file       */
    ITEM_INIT, /* initnode f();                    */
};

struct item {
    struct item   *next;
    enum item_kind kind;
    struct place   place;
    struct text    comment;
    union {
        struct name     module;  /* EXTERN                                   */
        struct name     function; /* INIT                                    */
        struct code     code;    /* INCLUDE: with quotes or brackets; HASH: the line; CODE */
        struct field   *readonly;
        struct message *message;
        struct record  *record;
        struct class   *class;
    } is;
};

struct module {
    struct module *next;
    struct text    comment;
    struct place   place;
    struct name    name;
    bool           main;     /* `mainmodule`                                             */
    bool           foreign;  /* of another file, which an `extern module` brought in     */
    struct item   *items;
};

/* A stretch of C, wherever it stands: who lays a file out leaves it as it is. */
struct piece {
    struct piece *next;
    struct text   text;
    bool          block; /* between braces, not an expression */
};

/* A type that the file uses but does not declare: a header that it includes should. */
struct believed {
    struct believed *next;
    struct code      type;
    bool             whole; /* its size must be known, not only its name */
    const void      *unit;  /* the class, message, struct or variable that uses it */
};

/* A file: modules, with # lines and includes between them in modules without a name. */
struct tree {
    struct source *source;
    struct module *modules; /* those of other files first */
    struct piece  *pieces;  /* all C of this file, in its order */
    struct believed *believed; /* the checker's: of this file, in no order */
};

#endif
