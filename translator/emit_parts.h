/* SPDX-License-Identifier: Apache-2.0 */
/* emit_parts.h - what the files of the emitter share. */
#ifndef EMIT_PARTS_H
#define EMIT_PARTS_H

#include "tree.h"
#include "words.h"
#include "writer.h"

/* For "%.*s". */
#define TEXT(text) (int)(text).length, (text).at
#define NAME(it)   TEXT((it)->name.text)

/* Where text goes. */
struct files {
    struct writer *header, *source;
    struct lines  *lines;
    bool          *linked; /* whether the header is inside of SKUA_BEGIN_DECLS */
};

/* Lines of the interface file that the header names, by macros that the source defines: so the
 * header does not change whenever a line is added (emit_lines.c). */
struct lines {
    const struct tree *tree;
    const char        *stem;    /* what the names of the macros begin with */
    struct writer      defines; /* for the source, before the header       */
    unsigned           count;
};

/* A cast to the type of an expression, which C needs not but C++ does; __typeof__ is in both. */
#define CAST_LIKE(expression) "(__typeof__(" expression "))"

/* ---- lines (emit_lines.c) ----------------------------------------------------------------- */

/** An #include of the user's: if the file is missing, the interface file is named. */
void emit_include(struct files to, const struct item *item);

/** The types that @p unit uses and the file does not declare, for the compiler to look at: one
 *  that is unknown is reported where it stands in the interface file. */
void emit_type_checks(struct files to, const void *unit, struct text name);

/* ---- entries: how arguments travel (emit_entry.c) ---------------------------------------- */

enum wire {
    WIRE_NONE,     /* nothing                                             */
    WIRE_FIXED,    /* a struct                                            */
    WIRE_VARIABLE, /* a struct, if there is anything in it, then arrays   */
    WIRE_RAW,      /* an array alone: what a reduction gives              */
    WIRE_MESSAGE,  /* a message of the user's                             */
    WIRE_LANDING   /* a message of the runtime's: skua/landing.h          */
};

enum wire wire_of(const struct entry *entry);

/** Whether the entry gets its message, not only the data of it. */
bool takes_message(const struct entry *entry);

/** Whether the entry is given the data of a message that it shall own: it gets a copy then.  So
 *  are constructors, of which many may be given the same, and [sync] entries. */
bool copies_message(const struct entry *entry);

/** Declares `skua_args`, the message of the user's in what arrived, checked. */
void put_message_open(struct writer *to, const struct class *class, const struct entry *entry);

/** What stands between the result of an entry's open function and a parameter. */
const char *reach_of(const struct entry *entry);

/** The struct, the functions that pack and check: of an entry of a class. */
void emit_wire(struct files to, const struct class *class, const struct entry *entry);

/** What others call: sends, broadcasts, completions (emit_send.c). */
void emit_sends(struct files to, const struct class *class, const struct entry *entry);

/** What the runtime calls when a message has come; its registration (emit_call.c). */
void emit_call(struct files to, const struct class *class, const struct entry *entry);
void put_entry_registration(struct writer      *to, const struct class *class,
                            const struct entry *entry);

/** `, int n, const double *x`, and `, n, x`; @p first: without the comma in front. */
void put_parameters(struct writer *to, const struct entry *entry, bool first);
void put_arguments(struct writer *to, const struct entry *entry, bool first);

/** The same for who sends: `, skua_completion x_done` follows an argument that is not copied. */
void put_sent_parameters(struct writer *to, const struct entry *entry, bool first);
void put_sent_arguments(struct writer *to, const struct entry *entry, bool first);

/** Arguments that are not copied: how many; whether some land where the receiver says. */
unsigned count_parts(const struct entry *entry);
bool     has_post(const struct entry *entry);

/** `void Block_post_ghost(Block *self, int n, double **x)` */
void put_post_head(struct writer *to, const struct class *class, const struct entry *entry);

/** How long an array is: a function of the other arguments; a call of it, with @p before in front
 *  of each. */
void put_length_function(struct writer *to, const char *stem, const struct entry *entry,
                         const struct parameter *array);
void put_length(struct writer *to, const char *stem, const struct entry *entry,
                const struct parameter *array, const char *before);

/** `struct Block__ghost_view`, all arguments. */
void put_view_struct(struct writer *to, const char *stem, const struct entry *entry);

/** Of entries with an argument that lands (emit_landing.c): how it travels, what sends it, and who
 *  says where it shall land. */
bool has_landing(const struct entry *entry);
void emit_landing_wire(struct files to, const struct class *class, const struct entry *entry);
void emit_landing_send(struct files to, const struct class *class, const struct entry *entry);
void put_land_head(struct writer *to, const struct class *class, const struct entry *entry);
void put_land(struct writer *to, const struct class *class, const struct entry *entry);

/** `const struct Block__ghost *WORD = Block__ghost_open(DATA, BYTES);` */
void put_open(struct writer *to, const struct class *class, const struct entry *entry,
              const char *word, const char *data, const char *bytes);

/** `int `, `struct point *`, without comments, for a name to follow; one alone; and one with the
 *  name it declares. */
void put_type(struct writer *to, struct code type, unsigned stars);
void put_bare_type(struct writer *to, struct code type, unsigned stars);
void put_parameter(struct writer *to, const struct parameter *parameter);

/** `const double *`, of an array `double x[n]`. */
void put_array_type(struct writer *to, const struct parameter *array);
void put_constant(struct writer *to, const struct parameter *parameter); /* one that stays */

bool          is_collection(const struct class *class);
const char   *element_type(const struct class *class); /* "Block_element" */
struct entry *constructor_of(const struct class *class);

/** "Block__ghost", what private names begin with; "Block.ghost", as errors name it. */
const char *stem_of(const struct class *class, const struct entry *entry);
const char *title_of(const struct class *class, const struct entry *entry);

/** The entry as the runtime knows it: an expression, in a function with a `skua_to`. */
const char *entry_id(const struct class *class, const struct entry *entry);

/** Of [aggregate] entries: whether items come several at a time, as an array. */
bool is_batch(const struct entry *entry);

/** Pieces of variable length among the arguments. */
unsigned count_pieces(const struct entry *entry);

/** `{iter, face, skua_string_bytes(name)}`, the struct of arguments. */
void put_initializer(struct writer *to, const struct entry *entry);

/** The type of an answer, or void. */
void put_result(struct writer *to, const struct entry *entry);

/* ---- data: structs, messages, states (emit_data.c) ---------------------------------------- */

void emit_record(struct files to, const struct record *record);
void emit_message(struct files to, const struct message *message);
void emit_readonly(struct files to, const struct field *field);
void put_readonly_registration(struct writer *to, const struct module *module,
                               const struct field *field);
void put_readonly_lengths(struct writer *to, const struct field *field);

/** The struct of a class that has a state; and what makes, frees and packs it. */
void emit_state(struct files to, const struct class *class);
void put_state_defaults(struct writer *to, const struct class *class);

/** Statements that assign to @p target the value that @p field has at first. */
void put_assignment(struct writer *to, const char *target, const struct field *field);
bool default_mentions(const struct class *class, const struct parameter *parameter);
void put_state_free(struct writer *to, const struct class *class);
void put_state_pup(struct writer *to, const struct class *class);

/* ---- classes (emit_class.c) ---------------------------------------------------------------- */

void emit_class_types(struct files to, const struct class *class);
void emit_class(struct files to, const struct class *class);
void put_class_registration(struct writer *to, const struct class *class);

/* ---- structured control flow (emit_flow.c) ------------------------------------------------- */

/** Whether objects of a class have a flow. */
bool has_flow(const struct class *class);

/** Whether some `when` of the class asks for a reference number of @p entry. */
bool is_referenced(const struct class *class, const struct entry *entry);

/** The strands of all entries with a body, and the table of them. */
void emit_flow(struct files to, const struct class *class);

#endif
