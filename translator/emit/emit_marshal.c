/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_marshal.c - marshalling of the arguments of entries.
 *
 * For an entry `ghost` of a class `Block` the following are generated as needed:
 *
 *   struct Block__ghost          the arguments of fixed size, as transferred
 *   Block__ghost__length_x()     computes the length of the array `x`
 *   Block__ghost_bytes()         computes the size of all arguments
 *   Block__ghost_fill()          writes them to memory
 *   Block__ghost_pack()          writes them to a new message
 *   struct Block__ghost__view    all arguments
 *   Block__ghost_open()          validates the data that arrived and returns a view
 */
#include "emit/emit_parts.h"

#include <assert.h>
#include <string.h>

#include "support/bump.h"
#include "syntax/ident.h"

/* ---- formats ------------------------------------------------------------------------------ */

static bool emit_marshal_is_raw(const struct ast_entry *entry)
{
    const struct ast_parameter *first = entry->parameters;

    return entry->attributes & ATTRIBUTE_REDUCTIONTARGET && first && first->next &&
           first->next->passing == PASS_ARRAY;
}

bool emit_is_batch(const struct ast_entry *entry)
{
    return entry->attributes & ATTRIBUTE_AGGREGATE && entry->parameters &&
           entry->parameters->next && entry->parameters->next->passing == PASS_ARRAY;
}

enum emit_marshal_format emit_marshal_format_of(const struct ast_entry *entry)
{
    if (!entry->parameters)
        return MARSHAL_NONE;
    if (entry->parameters->passing == PASS_MESSAGE)
        return MARSHAL_MESSAGE;
    if (emit_marshal_is_raw(entry) || emit_is_batch(entry))
        return MARSHAL_RAW;
    if (emit_has_inplace(entry))
        return MARSHAL_INPLACE;
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->passing != PASS_VALUE)
            return MARSHAL_VARIABLE;
    return MARSHAL_FIXED;
}

unsigned emit_count_nocopy(const struct ast_entry *entry)
{
    unsigned parts = 0;

    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        parts += p->nocopy;
    return parts;
}

bool emit_has_post(const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->post)
            return true;
    return false;
}

bool emit_takes_message(const struct ast_entry *entry)
{
    enum emit_marshal_format format = emit_marshal_format_of(entry);
    bool in_flow                    = entry->awaited || entry->body || emit_count_nocopy(entry) > 0;

    if (entry->kind != ENTRY_METHOD)
        return false;
    if (format == MARSHAL_INPLACE)
        return true;
    if (format == MARSHAL_MESSAGE)
        return in_flow || !(entry->attributes & (ATTRIBUTE_NOKEEP | ATTRIBUTE_SYNC));
    return in_flow && (format == MARSHAL_VARIABLE || format == MARSHAL_RAW);
}

bool emit_copies_message(const struct ast_entry *entry)
{
    return emit_marshal_format_of(entry) == MARSHAL_MESSAGE && !emit_takes_message(entry) &&
           !(entry->attributes & ATTRIBUTE_NOKEEP);
}

/* Returns whether there is a struct of arguments of fixed size. */
static bool emit_marshal_has_struct(const struct ast_entry *entry)
{
    enum emit_marshal_format format = emit_marshal_format_of(entry);

    if (format == MARSHAL_FIXED)
        return true;
    if (format != MARSHAL_VARIABLE)
        return false;
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->passing != PASS_ARRAY)
            return true;
    return false;
}

const char *emit_member_operator(const struct ast_entry *entry)
{
    return emit_marshal_format_of(entry) == MARSHAL_FIXED ? "->" : ".";
}

bool emit_is_collection(const struct ast_class *class)
{
    return class->kind == CLASS_GROUP || class->kind == CLASS_NODEGROUP ||
           class->kind == CLASS_ARRAY;
}

const char *emit_element_type(const struct ast_class *class)
{
    bool one = class->kind == CLASS_CHARE || class->kind == CLASS_MAINCHARE;

    return bump_printf("%.*s_%s", NAME_ARGS(class), one ? "proxy" : "element");
}

struct ast_entry *emit_special_of(const struct ast_class *class, enum ast_entry_kind kind)
{
    for (struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == kind)
            return entry;
    return NULL;
}

const char *emit_stem_of(const struct ast_class *class, const struct ast_entry *entry)
{
    if (entry->kind == ENTRY_CONSTRUCTOR)
        return bump_printf("%.*s__create", NAME_ARGS(class));
    return bump_printf("%.*s__%.*s", NAME_ARGS(class), NAME_ARGS(entry));
}

const char *emit_title_of(const struct ast_class *class, const struct ast_entry *entry)
{
    return bump_printf("%.*s.%.*s", NAME_ARGS(class), NAME_ARGS(entry));
}

/* Returns the words of skua_at that an argument takes: its offset, and the size of a packed one. */
static unsigned emit_marshal_variable_slots(const struct ast_parameter *p)
{
    if (p->passing == PASS_PACKED)
        return 2;
    return (p->passing == PASS_ARRAY && !p->nocopy) || p->passing == PASS_STRING;
}

unsigned emit_count_variable(const struct ast_entry *entry)
{
    unsigned variable = 0;

    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        variable += emit_marshal_variable_slots(p);
    return variable;
}

/* ---- structs ------------------------------------------------------------------------------ */

static void emit_marshal_struct(struct writer *to, const char *stem, const struct ast_entry *entry)
{
    writer_put(to, "struct %s {\n", stem);
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_VALUE) {
            writer_put(to, "    ");
            emit_parameter(to, p);
            writer_put(to, ";\n");
        } else if (p->passing == PASS_STRING || p->passing == PASS_PACKED) {
            writer_put(to, "    uint64_t %.*s__bytes;\n", NAME_ARGS(p));
        }
    }
    writer_put(to, "};\n\n");
}

/* The size of a packed struct follows its offset in skua_at: see emit_count_variable(). */
void emit_initializer(struct writer *to, const struct ast_entry *entry)
{
    const char *comma = "";
    unsigned    index = 0;

    writer_put(to, "{");
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_VALUE)
            writer_put(to, "%s%.*s", comma, NAME_ARGS(p));
        else if (p->passing == PASS_STRING)
            writer_put(to, "%sskuac_string_bytes(%.*s)", comma, NAME_ARGS(p));
        else if (p->passing == PASS_PACKED)
            writer_put(to, "%sskua_at[%u]", comma, index + 1);
        if (p->passing == PASS_VALUE || p->passing == PASS_STRING || p->passing == PASS_PACKED)
            comma = ", ";
        index += emit_marshal_variable_slots(p);
    }
    writer_put(to, "}");
}

/* ---- lengths ------------------------------------------------------------------------------ */

/* Emits the parameters that the length of @p array mentions: declared, or each after @p before. */
static void emit_marshal_length_parameters(struct writer *to, const struct ast_entry *entry,
                                           const struct ast_parameter *array, const char *before,
                                           bool declare)
{
    const char *comma = "";

    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing != PASS_VALUE || !ident_is_mentioned(array->length, p->name.text))
            continue;
        writer_put(to, "%s", comma);
        if (declare)
            emit_parameter(to, p);
        else
            writer_put(to, "%s%.*s", before, NAME_ARGS(p));
        comma = ", ";
    }
    if (declare && !*comma)
        writer_put(to, "void");
}

void emit_length_function(struct writer *to, const char *stem, const struct ast_entry *entry,
                          const struct ast_parameter *array)
{
    writer_put(to, "static inline long long %s__length_%.*s(", stem, NAME_ARGS(array));
    emit_marshal_length_parameters(to, entry, array, "", true);
    writer_put(to, ")\n{\n    return (long long)(\n");
    writer_put_code(to, array->length);
    writer_put(to, "    );\n}\n\n");
}

void emit_length_call(struct writer *to, const char *stem, const struct ast_entry *entry,
                      const struct ast_parameter *array, const char *before)
{
    writer_put(to, "%s__length_%.*s(", stem, NAME_ARGS(array));
    emit_marshal_length_parameters(to, entry, array, before, false);
    writer_put(to, ")");
}

/* ---- packing ------------------------------------------------------------------------------ */

static void emit_marshal_bytes_function(struct writer *to, const char *stem, const char *title,
                                        const struct ast_entry *entry)
{
    unsigned index = 0;

    writer_put(to, "/* Returns the size of the arguments; skua_at: the offset of each of variable "
                   "length. */\n");
    writer_put(to, "static size_t %s_bytes(size_t *skua_at", stem);
    emit_parameters(to, entry, false);
    writer_put(to, ")\n{\n    size_t skua_end = ");
    writer_put(to, emit_marshal_has_struct(entry) ? "sizeof(struct %s);\n\n" : "0;\n\n", stem);
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_STRING) {
            writer_put(to,
                       "    skua_at[%u] = skuac_reserve(&skua_end, (long "
                       "long)skuac_string_bytes(%.*s), 1, 1, "
                       "\"%s\", \"%.*s\");\n",
                       index++, NAME_ARGS(p), title, NAME_ARGS(p));
        } else if (p->passing == PASS_PACKED) {
            emit_packed_reserve(to, stem, title, entry, p, index);
            index += 2;
        } else if (p->passing == PASS_ARRAY && !p->nocopy) {
            writer_put(to, "    skua_at[%u] = skuac_reserve(&skua_end, ", index++);
            emit_length_call(to, stem, entry, p, "");
            writer_put(to, ", sizeof *%.*s,\n                           SKUA_ALIGNOF(",
                       NAME_ARGS(p));
            emit_bare_type(to, p->type, p->stars);
            writer_put(to, "), \"%s\", \"%.*s\");\n", title, NAME_ARGS(p));
        }
    }
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        writer_put(to, "    (void)%.*s;\n", NAME_ARGS(p));
    if (index == 0)
        writer_put(to, "    (void)skua_at;\n");
    writer_put(to, "    return skua_end;\n}\n\n");
}

static void emit_marshal_fill_function(struct writer *to, const char *stem,
                                       const struct ast_entry *entry)
{
    unsigned index = 0;

    writer_put(to, "static void %s_fill(char *skua_data, const size_t *skua_at", stem);
    emit_parameters(to, entry, false);
    writer_put(to, ")\n{\n");
    if (emit_marshal_has_struct(entry)) {
        writer_put(to, "    const struct %s skua_args = ", stem);
        emit_initializer(to, entry);
        writer_put(to, ";\n\n    memcpy(skua_data, &skua_args, sizeof skua_args);\n");
    }
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_STRING) {
            writer_put(to,
                       "    skuac_copy(skua_data + skua_at[%u], %.*s, skuac_string_bytes(%.*s));\n",
                       index++, NAME_ARGS(p), NAME_ARGS(p));
        } else if (p->passing == PASS_PACKED) {
            emit_packed_fill(to, stem, entry, p, index);
            index += 2;
        } else if (p->passing == PASS_ARRAY && !p->nocopy) {
            writer_put(to, "    skuac_copy(skua_data + skua_at[%u], %.*s, (size_t)", index++,
                       NAME_ARGS(p));
            emit_length_call(to, stem, entry, p, "");
            writer_put(to, " * sizeof *%.*s);\n", NAME_ARGS(p));
        }
    }
    if (emit_marshal_format_of(entry) == MARSHAL_RAW)
        writer_put(to, "    (void)%.*s;\n", NAME_ARGS(entry->parameters));
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->nocopy)
            writer_put(to, "    (void)%.*s;\n", NAME_ARGS(p));
    if (index == 0)
        writer_put(to, "    (void)skua_data, (void)skua_at;\n");
    writer_put(to, "}\n\n");
}

/* Emits the list of nocopy arguments for the runtime. */
static void emit_marshal_nocopy_parts(struct writer *to, const char *stem, const char *title,
                                      const struct ast_entry *entry)
{
    unsigned part = 0;

    writer_put(to, "    const skua_nocopy_argument skuac_parts[] = {\n");
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (!p->nocopy)
            continue;
        writer_put(to, "        {%.*s, skuac_span(", NAME_ARGS(p));
        emit_length_call(to, stem, entry, p, "");
        writer_put(to, ", sizeof *%.*s, \"%s\", \"%.*s\"), %.*s_done, %u},\n", NAME_ARGS(p), title,
                   NAME_ARGS(p), NAME_ARGS(p), part++);
    }
    writer_put(to, "    };\n");
}

static void emit_marshal_pack_function(struct writer *to, const char *stem, const char *title,
                                       const struct ast_entry *entry)
{
    unsigned parts = emit_count_nocopy(entry), variable = emit_count_variable(entry);

    writer_put(to,
               parts ? "static skua_msg *%s_pack(int skua_pe_there" : "static skua_msg *%s_pack(",
               stem);
    emit_send_parameters(to, entry, parts == 0);
    writer_put(to, ")\n{\n    size_t    skua_at[%u], skua_bytes = %s_bytes(skua_at",
               variable ? variable : 1, stem);
    emit_arguments(to, entry, false);
    writer_put(to, ");\n");
    if (parts)
        emit_marshal_nocopy_parts(to, stem, title, entry);
    if (parts)
        writer_put(
            to,
            "    skua_msg *skua_packed = skua_nocopy_alloc(skua_pe_there, skua_bytes, skuac_parts, "
            "%u);\n\n",
            parts);
    else
        writer_put(to, "    skua_msg *skua_packed = skua_msg_alloc(skua_bytes);\n\n");
    writer_put(to, "    %s_fill((char *)skua_msg_data(skua_packed), skua_at", stem);
    emit_arguments(to, entry, false);
    writer_put(to, ");\n    return skua_packed;\n}\n\n");
}

/* ---- unmarshalling ------------------------------------------------------------------------ */

void emit_view_struct(struct writer *to, const char *stem, const struct ast_entry *entry)
{
    writer_put(to, "struct %s__view {\n", stem);
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_PACKED) {
            writer_put(to, "    skuac_packed %.*s;\n", NAME_ARGS(p));
            continue;
        }
        writer_put(to, "    ");
        emit_parameter(to, p);
        writer_put(to, ";\n");
    }
    writer_put(to, "};\n\n");
}

/* Emits the call for data of the wrong size: for a reduction, contributions and target differ. */
static void emit_marshal_rejection(struct writer *to, const char *title,
                                   const struct ast_entry *entry, const char *wanted, bool list)
{
    if (!(entry->attributes & ATTRIBUTE_REDUCTIONTARGET)) {
        writer_put(to, "        skuac_malformed(\"%s\", skua_bytes);\n", title);
        return;
    }
    writer_put(to, "        skuac_result_differs(\"%s\", \"", title);
    emit_parameters(to, entry, true);
    writer_put(to, "\", %s, %s, skua_bytes);\n", wanted, list ? "true" : "false");
}

static void emit_marshal_open_fixed(struct writer *to, const char *stem, const char *title,
                                    const struct ast_entry *entry)
{
    const char *wanted = bump_printf("sizeof(struct %s)", stem);

    writer_put(
        to,
        "static inline const struct %s *%s_open(const void *skua_data, size_t skua_bytes)\n{\n"
        "    if (skua_bytes != %s)\n",
        stem, stem, wanted);
    emit_marshal_rejection(to, title, entry, wanted, false);
    writer_put(to, "    return (const struct %s *)skua_data;\n}\n\n", stem);
}

static void emit_marshal_open_raw(struct writer *to, const char *title,
                                  const struct ast_entry *entry)
{
    const struct ast_parameter *count = entry->parameters, *array = count->next;

    writer_put(to, "    if (skua_bytes %% sizeof *skua_view.%.*s)\n", NAME_ARGS(array));
    emit_marshal_rejection(to, title, entry,
                           bump_printf("sizeof *skua_view.%.*s", NAME_ARGS(array)), true);
    writer_put(to, "    skua_view.%.*s = (", NAME_ARGS(count));
    emit_bare_type(to, count->type, count->stars);
    writer_put(to, ")(skua_bytes / sizeof *skua_view.%.*s);\n", NAME_ARGS(array));
    writer_put(to, "    skua_view.%.*s = " CAST_LIKE("skua_view.%.*s") "skua_data;\n",
               NAME_ARGS(array), NAME_ARGS(array));
}

/* Emits the unmarshalling of an array or a string. */
static void emit_marshal_open_variable(struct writer *to, const char *stem, const char *title,
                                       const struct ast_entry *entry, const struct ast_parameter *p)
{
    if (p->passing == PASS_STRING) {
        writer_put(to,
                   "    skua_view.%.*s = skuac_found_string(skua_data, skua_bytes, &skua_end, "
                   "skua_args->%.*s__bytes, \"%s\");\n",
                   NAME_ARGS(p), NAME_ARGS(p), title);
    } else if (p->passing == PASS_PACKED) {
        writer_put(to,
                   "    skua_view.%.*s = skuac_found_packed(skua_data, skua_bytes, &skua_end, "
                   "skua_args->%.*s__bytes, \"%s\");\n",
                   NAME_ARGS(p), NAME_ARGS(p), title);
    } else if (p->passing == PASS_ARRAY && !p->nocopy) {
        writer_put(to,
                   "    skua_view.%.*s = " CAST_LIKE(
                       "skua_view.%.*s") "skuac_found(skua_data, skua_bytes,\n"
                                         "        skuac_align(&skua_end, SKUA_ALIGNOF(",
                   NAME_ARGS(p), NAME_ARGS(p));
        emit_bare_type(to, p->type, p->stars);
        writer_put(to, ")), ");
        emit_length_call(to, stem, entry, p, "skua_view.");
        writer_put(to, ", sizeof *skua_view.%.*s, \"%s\");\n", NAME_ARGS(p), title);
    }
}

/* Emits the unmarshalling of nocopy arguments, which follow all others. */
static void emit_marshal_open_nocopy(struct writer *to, const char *stem, const char *title,
                                     const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (!p->nocopy)
            continue;
        writer_put(
            to,
            "    skua_view.%.*s = " CAST_LIKE("skua_view.%.*s") "skuac_found_nocopy(skua_data, "
                                                                "skua_bytes, &skua_end, ",
            NAME_ARGS(p), NAME_ARGS(p));
        emit_length_call(to, stem, entry, p, "skua_view.");
        writer_put(to, ",\n        sizeof *skua_view.%.*s, \"%s\");\n", NAME_ARGS(p), title);
    }
    if (emit_count_nocopy(entry) > 0)
        writer_put(to, "    skuac_found_nocopy_end(skua_data, skua_bytes, &skua_end, \"%s\");\n",
                   title);
}

static void emit_marshal_open_members(struct writer *to, const char *stem, const char *title,
                                      const struct ast_entry *entry)
{
    if (emit_marshal_has_struct(entry)) {
        writer_put(to, "    if (skua_bytes < sizeof *skua_args)\n");
        writer_put(to, "        skuac_malformed(\"%s\", skua_bytes);\n", title);
        for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
            if (p->passing == PASS_VALUE)
                writer_put(to, "    skua_view.%.*s = skua_args->%.*s;\n", NAME_ARGS(p),
                           NAME_ARGS(p));
    }
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        emit_marshal_open_variable(to, stem, title, entry, p);
    emit_marshal_open_nocopy(to, stem, title, entry);
    writer_put(to,
               "    if (skua_end != skua_bytes)\n        skuac_malformed(\"%s\", skua_bytes);\n",
               title);
}

static void emit_marshal_open_view(struct writer *to, const char *stem, const char *title,
                                   const struct ast_entry *entry)
{
    bool raw = emit_marshal_format_of(entry) == MARSHAL_RAW;

    writer_put(
        to, "static inline struct %s__view %s_open(const void *skua_data, size_t skua_bytes)\n{\n",
        stem, stem);
    if (emit_marshal_has_struct(entry))
        writer_put(to, "    const struct %s *skua_args = (const struct %s *)skua_data;\n", stem,
                   stem);
    writer_put(to, "    struct %s__view skua_view;\n", stem);
    if (raw)
        writer_put(to, "\n");
    else if (emit_marshal_has_struct(entry))
        writer_put(to, "    size_t skua_end = sizeof *skua_args;\n\n");
    else
        writer_put(to, "    size_t skua_end = 0;\n\n");
    if (raw)
        emit_marshal_open_raw(to, title, entry);
    else
        emit_marshal_open_members(to, stem, title, entry);
    writer_put(to, "    return skua_view;\n}\n\n");
}

void emit_open_call(struct writer *to, const struct ast_class *class, const struct ast_entry *entry,
                    const char *word, const char *data, const char *bytes)
{
    const char *name = emit_stem_of(class, entry);

    if (emit_marshal_format_of(entry) == MARSHAL_FIXED)
        writer_put(to, "    const struct %s *%s = %s_open(%s, %s);\n", name, word, name, data,
                   bytes);
    else
        writer_put(to, "    const struct %s__view %s = %s_open(%s, %s);\n", name, word, name, data,
                   bytes);
}

void emit_message_open(struct writer          *to, const struct ast_class *class,
                       const struct ast_entry *entry)
{
    const struct ast_message *message = entry->parameters->message;
    bool                      packed  = emit_takes_message(entry) || emit_copies_message(entry);

    assert(message);
    if (emit_copies_message(entry))
        writer_put(to, "    skua_msg *skua_packed = skuac_msg_copy_of(skua_data, skua_bytes);\n");
    writer_put(to, "    %.*s *skua_args = %.*s__open(%s, \"%s\");\n", NAME_ARGS(message),
               NAME_ARGS(message),
               packed ? "skua_msg_data(skua_packed), skua_msg_size(skua_packed)"
                      : "skua_data, skua_bytes",
               emit_title_of(class, entry));
}

/* Emits the description of arguments of variable length. */
static void emit_marshal_lengths(struct writer *to, const char *stem, const char *title,
                                 const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_PACKED)
            emit_packed_parameter(to, stem, title, p);
        if (p->passing == PASS_ARRAY || (p->passing == PASS_PACKED && p->length.text.at))
            emit_length_function(to, stem, entry, p);
    }
}

/* Lets the compiler reject types that messages cannot contain. */
static void emit_marshal_type_checks(struct writer *to, const char *title,
                                     const struct ast_entry *entry)
{
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->assumed && p->passing != PASS_PACKED && p->passing != PASS_MESSAGE) {
            writer_put(to, "SKUAC_BYTEWISE(");
            emit_bare_type(to, p->type, p->stars);
            writer_put(to, ", \"%s\", \"%.*s\");\nSKUA_STATIC_ASSERT(SKUA_ALIGNOF(", title,
                       NAME_ARGS(p));
            emit_bare_type(to, p->type, p->stars);
            writer_put(
                to,
                ") <= 16, \"%s: argument `%.*s' has an alignment of more than 16 bytes, which "
                "messages do not have\");\n\n",
                title, NAME_ARGS(p));
        }
}

void emit_marshalling(struct emit_files       to, const struct ast_class *class,
                      const struct ast_entry *entry)
{
    const char *name = emit_stem_of(class, entry), *title = emit_title_of(class, entry);
    enum emit_marshal_format format = emit_marshal_format_of(entry);
    bool                     local  = entry->attributes & ATTRIBUTE_LOCAL;
    bool items  = entry->attributes & ATTRIBUTE_AGGREGATE && class->kind == CLASS_GROUP;
    bool opened = class->kind != CLASS_INTERFACE && !items;
    bool main   = class->kind == CLASS_MAINCHARE && entry->kind == ENTRY_CONSTRUCTOR;

    if (local || format == MARSHAL_NONE || format == MARSHAL_MESSAGE || emit_is_batch(entry))
        return;
    emit_marshal_type_checks(to.source, title, entry);
    if (format == MARSHAL_INPLACE) {
        emit_inplace_marshalling(to, class, entry);
        return;
    }
    if (format == MARSHAL_FIXED) {
        emit_marshal_struct(to.header, name, entry);
        if (opened)
            emit_marshal_open_fixed(to.source, name, title, entry);
        return;
    }
    if (emit_marshal_has_struct(entry))
        emit_marshal_struct(to.source, name, entry);
    emit_marshal_lengths(to.source, name, title, entry);
    if (opened) {
        emit_view_struct(to.source, name, entry);
        emit_marshal_open_view(to.source, name, title, entry);
    }
    if (!main) {
        emit_marshal_bytes_function(to.source, name, title, entry);
        emit_marshal_fill_function(to.source, name, entry);
        emit_marshal_pack_function(to.source, name, title, entry);
    }
}
