/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_parts.h - declarations that the files of the emitter share.
 *
 *     emit.c           files, modules, main()
 *     emit_lines.c     #line directives in the header
 *     emit_data.c      structs, messages, states, readonly variables
 *     emit_class.c     classes: types, references, functions for the runtime, registration
 *     emit_creation.c  functions that create objects
 *     emit_interface.c interfaces and their tables
 *     emit_parameter.c parameters of entries as C declares them
 *     emit_marshal.c   arguments of entries
 *     emit_packed.c    arguments that a pup function packs
 *     emit_send.c      functions that users call to reach an entry
 *     emit_call.c      functions that the runtime calls when a message arrives
 *     emit_inplace.c   entries with an `inplace` argument
 *     emit_flow.c      bodies of entries; emit_fragment.c: the C code in them
 */
#ifndef EMIT_PARTS_H
#define EMIT_PARTS_H

#include "ast/ast.h"
#include "emit/writer.h"

/** The two arguments that a "%.*s" conversion needs to print the name of an AST node. */
#define NAME_ARGS(it) TEXT_ARGS((it)->name.text)

/** The two files being generated. */
struct emit_files {
    struct writer     *header, *source;
    struct emit_lines *lines;
    bool              *linked; /* whether the header is inside SKUA_BEGIN_DECLS */
};

/** Line numbers of the interface file that the header uses by macros (emit_lines.c). */
struct emit_lines {
    const struct ast_tree *tree;
    const char            *stem; /* prefix of the macro names                        */
    /* Macro definitions for the source, before it includes the header. */
    struct writer defines;
    unsigned      count;
};

/** A cast to the type of an expression.  C++ needs it, C does not; both have __typeof__. */
#define CAST_LIKE(expression) "(__typeof__(" expression "))"

/* ---- lines (emit_lines.c) ----------------------------------------------------------------- */

/** Emits an #include of the user's.  If the file is missing, the compiler names the line of the
 *  interface file. */
void emit_include(struct emit_files to, const struct ast_item *item);

/** Emits a check of each type that @p unit uses and no interface file declares: the compiler
 * reports an unknown type at its location in the interface file. */
void emit_type_checks(struct emit_files to, const void *unit, struct text name);

/** Emits a check of each constant length of an array among @p fields of @p name: the compiler
 * reports an error in it at its location in the interface file. */
void emit_length_checks(struct emit_files to, const struct ast_field *fields, struct text name);

/* ---- arguments of entries (emit_marshal.c) ------------------------------------------------ */

/** The format of the marshalled arguments of an entry. */
enum emit_marshal_format {
    MARSHAL_NONE,     /* no arguments                                    */
    MARSHAL_FIXED,    /* a struct                                        */
    MARSHAL_VARIABLE, /* a struct, unless it were empty, and then arrays */
    MARSHAL_RAW,      /* a single array: the result of a reduction       */
    MARSHAL_MESSAGE,  /* a message that the user allocates               */
    MARSHAL_INPLACE   /* a message of the runtime: skua/inplace.h        */
};

/** Returns the format of the marshalled arguments of @p entry. */
enum emit_marshal_format emit_marshal_format_of(const struct ast_entry *entry);

/** Returns whether @p entry receives the message itself, not only its data. */
bool emit_takes_message(const struct ast_entry *entry);

/** Returns whether @p entry owns its message but the runtime provides only data, so that a copy is
 *  needed: constructors, which may share the data with others, and [sync] entries. */
bool emit_copies_message(const struct ast_entry *entry);

/** Emits the declaration of `skua_args`, the validated user message that arrived. */
void emit_message_open(struct writer          *to, const struct ast_class *class,
                       const struct ast_entry *entry);

/** Returns the operator, `->` or `.`, that selects a parameter from the unmarshalled arguments. */
const char *emit_member_operator(const struct ast_entry *entry);

/** Emits the argument struct of an entry and the functions that marshal and validate it. */
void emit_marshalling(struct emit_files       to, const struct ast_class *class,
                      const struct ast_entry *entry);

/** Emits the parameters `, int n, const double *x`; with @p first no comma precedes them. */
void emit_parameters(struct writer *to, const struct ast_entry *entry, bool first);

/** Emits the parameters `, int n, graph *g` of a function that gets received arguments. */
void emit_received_parameters(struct writer *to, const struct ast_entry *entry);

/** Emits the arguments `, n, x`; with @p first no comma precedes them. */
void emit_arguments(struct writer *to, const struct ast_entry *entry, bool first);

/** Emits the parameters of a send function: `, skua_completion x_done` follows a nocopy argument.
 */
void emit_send_parameters(struct writer *to, const struct ast_entry *entry, bool first);

/** Emits the arguments of a send function: `, x_done` follows a nocopy argument. */
void emit_send_arguments(struct writer *to, const struct ast_entry *entry, bool first);

/** Returns the number of nocopy arguments. */
unsigned emit_count_nocopy(const struct ast_entry *entry);

/** Returns whether the receiver provides the memory for some nocopy argument. */
bool emit_has_post(const struct ast_entry *entry);

/** Emits `void Block_post_ghost(Block *self, int n, double **x)`. */
void emit_post_head(struct writer          *to, const struct ast_class *class,
                    const struct ast_entry *entry);

/** Emits a function that computes the length of @p array from the other arguments. */
void emit_length_function(struct writer *to, const char *stem, const struct ast_entry *entry,
                          const struct ast_parameter *array);

/** Emits a call of the length function, with @p before in front of each argument. */
void emit_length_call(struct writer *to, const char *stem, const struct ast_entry *entry,
                      const struct ast_parameter *array, const char *before);

/** Emits `struct Block__ghost__view`, which has all arguments as members. */
void emit_view_struct(struct writer *to, const char *stem, const struct ast_entry *entry);

/** Emits `const struct Block__ghost *WORD = Block__ghost_open(DATA, BYTES);`. */
void emit_open_call(struct writer *to, const struct ast_class *class, const struct ast_entry *entry,
                    const char *word, const char *data, const char *bytes);

/** Emits a type without comments, such that a name can follow: `int `, `struct point *`. */
void emit_type(struct writer *to, struct source_code type, unsigned stars);

/** Emits a type without comments and without a blank after it. */
void emit_bare_type(struct writer *to, struct source_code type, unsigned stars);

/** Emits the declaration of a parameter. */
void emit_parameter(struct writer *to, const struct ast_parameter *parameter);

/** Emits the type of an array argument: `const double *` for `double x[n]`. */
void emit_array_type(struct writer *to, const struct ast_parameter *array);

/** Emits the declaration of a parameter that is not modified. */
void emit_const_parameter(struct writer *to, const struct ast_parameter *parameter);

/** Returns whether @p class is a group, a nodegroup or an array. */
bool emit_is_collection(const struct ast_class *class);

/** Returns the type that refers to one object of @p class: "Block_element". */
const char *emit_element_type(const struct ast_class *class);

/** Returns the constructor or the destructor of @p class, as @p kind says, or NULL. */
struct ast_entry *emit_special_of(const struct ast_class *class, enum ast_entry_kind kind);

/** Returns the prefix of the private names of an entry: "Block__ghost". */
const char *emit_stem_of(const struct ast_class *class, const struct ast_entry *entry);

/** Returns the name of an entry in error texts: "Block.ghost". */
const char *emit_title_of(const struct ast_class *class, const struct ast_entry *entry);

/** Returns whether an [aggregate] entry receives its items in batches, as an array. */
bool emit_is_batch(const struct ast_entry *entry);

/** Returns the number of words that the offsets of arguments of variable length take: one each, and
 *  one more for the size of a packed one. */
unsigned emit_count_variable(const struct ast_entry *entry);

/** Emits an initialiser of the argument struct: `{iter, face, skuac_string_bytes(name)}`. */
void emit_initializer(struct writer *to, const struct ast_entry *entry);

/** Emits the result type of an entry, or void. */
void emit_result_type(struct writer *to, const struct ast_entry *entry);

/* ---- sending and receiving (emit_send.c, emit_call.c) -------------------------------------- */

/** Emits the functions that users call: sends, broadcasts, completions. */
void emit_sends(struct emit_files to, const struct ast_class *class, const struct ast_entry *entry);

/** Returns an expression for the runtime's handle of an entry, valid in a function with a
 *  `skua_to`. */
const char *emit_entry_id(const struct ast_class *class, const struct ast_entry *entry);

/** Emits the function that the runtime calls when a message to an entry arrives. */
void emit_dispatch(struct emit_files       to, const struct ast_class *class,
                   const struct ast_entry *entry);

/** Emits the registration of an entry. */
void emit_entry_registration(struct writer          *to, const struct ast_class *class,
                             const struct ast_entry *entry);

/* ---- packed arguments (emit_packed.c) ------------------------------------------------------ */

/** Emits the description of a packed parameter: `Block__ghost__packed_g`. */
void emit_packed_parameter(struct writer *to, const char *stem, const char *title,
                           const struct ast_parameter *p);

/** Emits statements that compute the size of a packed argument, skua_at[@p index + 1], and its
 *  offset, skua_at[@p index]. */
void emit_packed_reserve(struct writer *to, const char *stem, const char *title,
                         const struct ast_entry *entry, const struct ast_parameter *p,
                         unsigned index);

/** Emits the statement that packs an argument. */
void emit_packed_fill(struct writer *to, const char *stem, const struct ast_entry *entry,
                      const struct ast_parameter *p, unsigned index);

/** Emits the declaration of @p held, which unpacks an argument of the view @p args and frees it at
 *  the end of its scope. */
void emit_packed_hold(struct writer          *to, const struct ast_class *class,
                      const struct ast_entry *entry, const struct ast_parameter *p,
                      const char *args, const char *held);

/** Emits the declarations of `skua_got_g` for each packed argument `g` of `skua_args`. */
void emit_packed_hold_all(struct writer          *to, const struct ast_class *class,
                          const struct ast_entry *entry);

/** Emits an argument of `skua_args` as it is passed to the user's function, after
 *  emit_packed_hold_all(). */
void emit_received_value(struct writer *to, const struct ast_entry *entry,
                         const struct ast_parameter *p);

/** Emits `, ` and emit_received_value() for each argument. */
void emit_received_values(struct writer *to, const struct ast_entry *entry);

/* ---- inplace arguments (emit_inplace.c) ---------------------------------------------------- */

/** Returns whether @p entry has an `inplace` argument. */
bool emit_has_inplace(const struct ast_entry *entry);

/** Emits the marshalling functions of an entry with an `inplace` argument. */
void emit_inplace_marshalling(struct emit_files       to, const struct ast_class *class,
                              const struct ast_entry *entry);

/** Emits the send function of an entry with an `inplace` argument. */
void emit_inplace_send(struct emit_files       to, const struct ast_class *class,
                       const struct ast_entry *entry);

/** Emits the head of the user's function that provides the memory: Block_land_ghost(). */
void emit_land_head(struct writer          *to, const struct ast_class *class,
                    const struct ast_entry *entry);

/** Emits the function by which the runtime obtains the memory. */
void emit_land_callback(struct writer          *to, const struct ast_class *class,
                        const struct ast_entry *entry);

/* ---- data: structs, messages, states (emit_data.c) ---------------------------------------- */

/** Emits a struct and the functions that pack and free it. */
void emit_record(struct emit_files to, const struct ast_record *record);

/** Emits a message type and the functions that allocate and validate it. */
void emit_message(struct emit_files to, const struct ast_message *message);

/** Emits a readonly variable. */
void emit_readonly(struct emit_files to, const struct ast_field *field);

/** Emits the registration of a readonly variable. */
void emit_readonly_registration(struct writer *to, const struct ast_module *module,
                                const struct ast_field *field);

/** Emits statements that compute the size of a readonly variable of variable length. */
void emit_readonly_lengths(struct writer *to, const struct ast_field *field);

/** Emits the struct of a class that has a state, and the length functions of its arrays. */
void emit_state(struct emit_files to, const struct ast_class *class);

/** Emits statements that give the fields of a state their initial values. */
void emit_state_defaults(struct writer *to, const struct ast_class *class);

/** Emits statements that assign the initial value of @p field to @p target; a string is copied by
 *  the function @p copy. */
void emit_assignment(struct writer *to, const char *target, const struct ast_field *field,
                     const char *copy);

/** Returns whether the initial value of some field of the state uses the constructor's @p
 * parameter. */
bool emit_default_mentions(const struct ast_class *class, const struct ast_parameter *parameter);

/** Emits statements that free the memory of a state. */
void emit_state_free(struct writer *to, const struct ast_class *class);

/** Emits statements that pack or unpack a state. */
void emit_state_pup(struct writer *to, const struct ast_class *class);

/* ---- classes (emit_class.c) ---------------------------------------------------------------- */

/** Emits the types of the object, the proxy, the element and the section of a class. */
void emit_class_types(struct emit_files to, const struct ast_class *class);

/** Emits the functions of a class. */
void emit_class(struct emit_files to, const struct ast_class *class);

/** Emits the registration of a class and its entries. */
void emit_class_registration(struct writer *to, const struct ast_class *class);

/* ---- creation (emit_creation.c) ------------------------------------------------------------ */

/** Emits the functions that create objects of a class: Block_new() and others. */
void emit_creation(struct emit_files to, const struct ast_class *class);

/** Emits the coordinates of an index, `int i, int j`, with @p before and @p prefix in front of each
 *  name. */
void emit_axes(struct writer *to, unsigned dims, const char *before, const char *prefix);

/* ---- interfaces (emit_interface.c) --------------------------------------------------------- */

/** Emits the types of an interface: a reference to an object, and the table of its entries. */
void emit_interface_types(struct writer *to, const struct ast_class *class);

/** Emits the tables of the classes that implement an interface, and the functions on them. */
void emit_interface(struct writer *to, const struct ast_class *class);

/** Emits the conversions of a reference to an object of @p class to its interfaces:
 *  Circle_as_Shape(). */
void emit_interface_casts(struct emit_files to, const struct ast_class *class);

/** Emits the registration of @p class as one that implements the interface @p base. */
void emit_interface_registration(struct writer         *to, const struct ast_class *class,
                                 const struct ast_base *base);

/* ---- structured control flow (emit_flow.c) ------------------------------------------------- */

/** Returns whether the objects of @p class have a flow. */
bool emit_has_flow(const struct ast_class *class);

/** Returns the first `when` of @p class that waits for a reference number of @p entry, or NULL. */
const struct ast_when_entry *emit_reference_to(const struct ast_class *class,
                                               const struct ast_entry *entry);

/** Emits the frames and functions of all entries with a body, and the table of them. */
void emit_class_flow(struct emit_files to, const struct ast_class *class);

#endif
