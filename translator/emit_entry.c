/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_entry.c - how the arguments of entries travel.
 *
 * Of an entry `ghost` of a class `Block` there are, as far as needed:
 *
 *   struct Block__ghost          the arguments of fixed size, as they travel
 *   Block__ghost_length_x()      how long the array `x` is
 *   Block__ghost_bytes(), _fill(), _pack()   measure, write, and both into a new message
 *   struct Block__ghost_view, Block__ghost_open()   all arguments, checked, of what arrived
 */
#include "emit_parts.h"

#include <string.h>

#include "arena.h"

/* ---- what kind ---------------------------------------------------------------------------- */

static bool is_raw(const struct entry *entry)
{
    const struct parameter *first = entry->parameters;

    return entry->attributes & ATTRIBUTE_REDUCTIONTARGET && first && first->next &&
           first->next->passing == PASS_ARRAY;
}

bool is_batch(const struct entry *entry)
{
    return entry->attributes & ATTRIBUTE_AGGREGATE && entry->parameters &&
           entry->parameters->next && entry->parameters->next->passing == PASS_ARRAY;
}

enum wire wire_of(const struct entry *entry)
{
    if (!entry->parameters)
        return WIRE_NONE;
    if (entry->parameters->passing == PASS_MESSAGE)
        return WIRE_MESSAGE;
    if (is_raw(entry) || is_batch(entry))
        return WIRE_RAW;
    if (has_landing(entry))
        return WIRE_LANDING;
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->passing != PASS_VALUE)
            return WIRE_VARIABLE;
    return WIRE_FIXED;
}

unsigned count_parts(const struct entry *entry)
{
    unsigned parts = 0;

    for (const struct parameter *p = entry->parameters; p; p = p->next)
        parts += p->nocopy;
    return parts;
}

bool has_post(const struct entry *entry)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->post)
            return true;
    return false;
}

bool takes_message(const struct entry *entry)
{
    enum wire wire    = wire_of(entry);
    bool      in_flow = entry->trigger || entry->body || count_parts(entry) > 0;

    if (entry->kind != ENTRY_METHOD)
        return false;
    if (wire == WIRE_LANDING)
        return true;
    if (wire == WIRE_MESSAGE)
        return in_flow || !(entry->attributes & (ATTRIBUTE_NOKEEP | ATTRIBUTE_SYNC));
    return in_flow && (wire == WIRE_VARIABLE || wire == WIRE_RAW);
}

bool copies_message(const struct entry *entry)
{
    return wire_of(entry) == WIRE_MESSAGE && !takes_message(entry) &&
           !(entry->attributes & ATTRIBUTE_NOKEEP);
}

/* Whether there is a struct of arguments of fixed size. */
static bool has_struct(const struct entry *entry)
{
    enum wire wire = wire_of(entry);

    if (wire == WIRE_FIXED)
        return true;
    if (wire != WIRE_VARIABLE)
        return false;
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->passing != PASS_ARRAY)
            return true;
    return false;
}

const char *reach_of(const struct entry *entry)
{
    return wire_of(entry) == WIRE_FIXED ? "->" : ".";
}

bool is_collection(const struct class *class)
{
    return class->kind == CLASS_GROUP || class->kind == CLASS_NODEGROUP ||
           class->kind == CLASS_ARRAY;
}

const char *element_type(const struct class *class)
{
    bool one = class->kind == CLASS_CHARE || class->kind == CLASS_MAINCHARE;

    return arena_print("%.*s_%s", NAME(class), one ? "proxy" : "element");
}

struct entry *constructor_of(const struct class *class)
{
    for (struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_CONSTRUCTOR)
            return entry;
    return NULL;
}

const char *stem_of(const struct class *class, const struct entry *entry)
{
    if (entry->kind == ENTRY_CONSTRUCTOR)
        return arena_print("%.*s__create", NAME(class));
    return arena_print("%.*s__%.*s", NAME(class), NAME(entry));
}

const char *title_of(const struct class *class, const struct entry *entry)
{
    return arena_print("%.*s.%.*s", NAME(class), NAME(entry));
}

/* ---- parameters --------------------------------------------------------------------------- */

void put_type(struct writer *to, struct code type, unsigned stars)
{
    put_bare_type(to, type, stars);
    if (stars == 0)
        put(to, " ");
}

void put_bare_type(struct writer *to, struct code type, unsigned stars)
{
    put_flat(to, type.text);
    if (stars > 0)
        put(to, " ");
    for (; stars > 0; stars--)
        put(to, "*");
}

/* A type without a `const` in front, which an array has from us. */
static struct code without_const(struct code type)
{
    if (text_begins(type.text, "const ") || text_begins(type.text, "const\t")) {
        type.text.at += 6;
        type.text.length -= 6;
    }
    return type;
}

void put_array_type(struct writer *to, const struct parameter *p)
{
    put(to, "const ");
    put_type(to, without_const(p->type), p->stars);
    put(to, "*");
}

void put_parameter(struct writer *to, const struct parameter *p)
{
    switch (p->passing) {
    case PASS_STRING: put(to, "const char *"); break;
    case PASS_LANDING: put(to, "const skua_layout *"); break;
    case PASS_ARRAY: put_array_type(to, p); break;
    case PASS_MESSAGE:
    case PASS_VALUE: put_type(to, p->type, p->stars); break;
    }
    put(to, "%.*s", NAME(p));
}

void put_constant(struct writer *to, const struct parameter *p)
{
    if (p->passing == PASS_VALUE) {
        put_type(to, p->type, p->stars);
        put(to, "const %.*s", NAME(p));
    } else {
        put_parameter(to, p);
    }
}

void put_parameters(struct writer *to, const struct entry *entry, bool first)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p != entry->parameters || !first)
            put(to, ", ");
        put_parameter(to, p);
    }
}

void put_arguments(struct writer *to, const struct entry *entry, bool first)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        put(to, "%s%.*s", p == entry->parameters && first ? "" : ", ", NAME(p));
}

void put_sent_parameters(struct writer *to, const struct entry *entry, bool first)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p != entry->parameters || !first)
            put(to, ", ");
        put_parameter(to, p);
        if (p->nocopy)
            put(to, ", skua_completion %.*s_done", NAME(p));
    }
}

void put_sent_arguments(struct writer *to, const struct entry *entry, bool first)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        put(to, "%s%.*s", p == entry->parameters && first ? "" : ", ", NAME(p));
        if (p->nocopy)
            put(to, ", %.*s_done", NAME(p));
    }
}

void put_post_head(struct writer *to, const struct class *class, const struct entry *entry)
{
    put(to, "void %.*s_post_%.*s(%.*s *self", NAME(class), NAME(entry), NAME(class));
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_VALUE) {
            put(to, ", ");
            put_parameter(to, p);
        } else if (p->post) {
            put(to, ", ");
            put_type(to, without_const(p->type), p->stars);
            put(to, "**%.*s", NAME(p));
        }
    }
    put(to, ")");
}

/* ---- structs ------------------------------------------------------------------------------ */

static void put_struct(struct writer *to, const char *stem, const struct entry *entry)
{
    put(to, "struct %s {\n", stem);
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_VALUE) {
            put(to, "    ");
            put_parameter(to, p);
            put(to, ";\n");
        } else if (p->passing == PASS_STRING) {
            put(to, "    uint64_t %.*s__bytes;\n", NAME(p));
        }
    }
    put(to, "};\n\n");
}

void put_initializer(struct writer *to, const struct entry *entry)
{
    const char *comma = "";

    put(to, "{");
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_VALUE)
            put(to, "%s%.*s", comma, NAME(p));
        else if (p->passing == PASS_STRING)
            put(to, "%sskua_string_bytes(%.*s)", comma, NAME(p));
        else
            continue;
        comma = ", ";
    }
    put(to, "}");
}

/* ---- lengths ------------------------------------------------------------------------------ */

/* The parameters that the length of @p array is made of, each after @p before. */
static void put_length_parameters(struct writer *to, const struct entry *entry,
                                  const struct parameter *array, const char *before, bool declare)
{
    const char *comma = "";

    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing != PASS_VALUE || !mentions(array->length, p->name.text))
            continue;
        put(to, "%s", comma);
        if (declare)
            put_parameter(to, p);
        else
            put(to, "%s%.*s", before, NAME(p));
        comma = ", ";
    }
    if (declare && !*comma)
        put(to, "void");
}

void put_length_function(struct writer *to, const char *stem, const struct entry *entry,
                         const struct parameter *array)
{
    put(to, "static inline long long %s_length_%.*s(", stem, NAME(array));
    put_length_parameters(to, entry, array, "", true);
    put(to, ")\n{\n    return (long long)(\n");
    put_code(to, array->length);
    put(to, "    );\n}\n\n");
}

void put_length(struct writer *to, const char *stem, const struct entry *entry,
                const struct parameter *array, const char *before)
{
    put(to, "%s_length_%.*s(", stem, NAME(array));
    put_length_parameters(to, entry, array, before, false);
    put(to, ")");
}

/* ---- packing ------------------------------------------------------------------------------ */

unsigned count_pieces(const struct entry *entry)
{
    unsigned pieces = 0;

    for (const struct parameter *p = entry->parameters; p; p = p->next)
        pieces += (p->passing == PASS_ARRAY && !p->nocopy) || p->passing == PASS_STRING;
    return pieces;
}

static void put_bytes_function(struct writer *to, const char *stem, const char *title,
                               const struct entry *entry)
{
    unsigned piece = 0;

    put(to, "/* Bytes of the arguments, and where each piece of variable length begins. */\n");
    put(to, "static size_t %s_bytes(size_t *skua_at", stem);
    put_parameters(to, entry, false);
    put(to, ")\n{\n    size_t skua_end = ");
    put(to, has_struct(entry) ? "sizeof(struct %s);\n\n" : "0;\n\n", stem);
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_STRING) {
            put(to,
                "    skua_at[%u] = skua_room(&skua_end, (long long)skua_string_bytes(%.*s), 1, 1, "
                "\"%s\", \"%.*s\");\n",
                piece++, NAME(p), title, NAME(p));
        } else if (p->passing == PASS_ARRAY && !p->nocopy) {
            put(to, "    skua_at[%u] = skua_room(&skua_end, ", piece++);
            put_length(to, stem, entry, p, "");
            put(to, ", sizeof *%.*s,\n                           SKUA_ALIGNOF(", NAME(p));
            put_bare_type(to, without_const(p->type), p->stars);
            put(to, "), \"%s\", \"%.*s\");\n", title, NAME(p));
        }
    }
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        put(to, "    (void)%.*s;\n", NAME(p));
    if (piece == 0)
        put(to, "    (void)skua_at;\n");
    put(to, "    return skua_end;\n}\n\n");
}

static void put_fill_function(struct writer *to, const char *stem, const struct entry *entry)
{
    unsigned piece = 0;

    put(to, "static void %s_fill(char *skua_data, const size_t *skua_at", stem);
    put_parameters(to, entry, false);
    put(to, ")\n{\n");
    if (has_struct(entry)) {
        put(to, "    const struct %s skua_args = ", stem);
        put_initializer(to, entry);
        put(to, ";\n\n    memcpy(skua_data, &skua_args, sizeof skua_args);\n");
    }
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->passing == PASS_STRING) {
            put(to, "    skua_copy(skua_data + skua_at[%u], %.*s, skua_string_bytes(%.*s));\n",
                piece++, NAME(p), NAME(p));
        } else if (p->passing == PASS_ARRAY && !p->nocopy) {
            put(to, "    skua_copy(skua_data + skua_at[%u], %.*s, (size_t)", piece++, NAME(p));
            put_length(to, stem, entry, p, "");
            put(to, " * sizeof *%.*s);\n", NAME(p));
        }
    }
    if (wire_of(entry) == WIRE_RAW)
        put(to, "    (void)%.*s;\n", NAME(entry->parameters));
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->nocopy)
            put(to, "    (void)%.*s;\n", NAME(p));
    if (piece == 0)
        put(to, "    (void)skua_data, (void)skua_at;\n");
    put(to, "}\n\n");
}

/* The arguments that are not copied, as the runtime wants them. */
static void put_parts(struct writer *to, const char *stem, const char *title,
                      const struct entry *entry)
{
    unsigned part = 0;

    put(to, "    const skua_part skua_parts[] = {\n");
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (!p->nocopy)
            continue;
        put(to, "        {%.*s, skua_span(", NAME(p));
        put_length(to, stem, entry, p, "");
        put(to, ", sizeof *%.*s, \"%s\", \"%.*s\"), %.*s_done, %u},\n", NAME(p), title, NAME(p),
            NAME(p), part++);
    }
    put(to, "    };\n");
}

static void put_pack_function(struct writer *to, const char *stem, const char *title,
                              const struct entry *entry)
{
    unsigned parts = count_parts(entry), pieces = count_pieces(entry);

    put(to, parts ? "static skua_msg *%s_pack(int skua_pe_there" : "static skua_msg *%s_pack(",
        stem);
    put_sent_parameters(to, entry, parts == 0);
    put(to, ")\n{\n    size_t    skua_at[%u], skua_bytes = %s_bytes(skua_at", pieces ? pieces : 1,
        stem);
    put_arguments(to, entry, false);
    put(to, ");\n");
    if (parts)
        put_parts(to, stem, title, entry);
    if (parts)
        put(to,
            "    skua_msg *skua_packed = skua_parts_alloc(skua_pe_there, skua_bytes, skua_parts, "
            "%u);\n\n",
            parts);
    else
        put(to, "    skua_msg *skua_packed = skua_msg_alloc(skua_bytes);\n\n");
    put(to, "    %s_fill((char *)skua_msg_data(skua_packed), skua_at", stem);
    put_arguments(to, entry, false);
    put(to, ");\n    return skua_packed;\n}\n\n");
}

/* ---- opening ------------------------------------------------------------------------------- */

void put_view_struct(struct writer *to, const char *stem, const struct entry *entry)
{
    put(to, "struct %s_view {\n", stem);
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        put(to, "    ");
        put_parameter(to, p);
        put(to, ";\n");
    }
    put(to, "};\n\n");
}

/* What arrived is not what the entry takes: of a reduction, that both sides differ. */
static void put_refusal(struct writer *to, const char *title, const struct entry *entry,
                        const char *wanted, bool list)
{
    if (!(entry->attributes & ATTRIBUTE_REDUCTIONTARGET)) {
        put(to, "        skua_malformed(\"%s\", skua_bytes);\n", title);
        return;
    }
    put(to, "        skua_result_differs(\"%s\", \"", title);
    put_parameters(to, entry, true);
    put(to, "\", %s, %s, skua_bytes);\n", wanted, list ? "true" : "false");
}

static void put_open_fixed(struct writer *to, const char *stem, const char *title,
                           const struct entry *entry)
{
    const char *wanted = arena_print("sizeof(struct %s)", stem);

    put(to,
        "static inline const struct %s *%s_open(const void *skua_data, size_t skua_bytes)\n{\n"
        "    if (skua_bytes != %s)\n",
        stem, stem, wanted);
    put_refusal(to, title, entry, wanted, false);
    put(to, "    return (const struct %s *)skua_data;\n}\n\n", stem);
}

static void put_open_raw(struct writer *to, const char *title, const struct entry *entry)
{
    const struct parameter *count = entry->parameters, *array = count->next;

    put(to, "    if (skua_bytes %% sizeof *skua_view.%.*s)\n", NAME(array));
    put_refusal(to, title, entry, arena_print("sizeof *skua_view.%.*s", NAME(array)), true);
    put(to, "    skua_view.%.*s = (", NAME(count));
    put_bare_type(to, count->type, count->stars);
    put(to, ")(skua_bytes / sizeof *skua_view.%.*s);\n", NAME(array));
    put(to, "    skua_view.%.*s = " CAST_LIKE("skua_view.%.*s") "skua_data;\n", NAME(array),
        NAME(array));
}

/* Arrays and strings, in the order of the parameters. */
static void put_open_piece(struct writer *to, const char *stem, const char *title,
                           const struct entry *entry, const struct parameter *p)
{
    if (p->passing == PASS_STRING) {
        put(to,
            "    skua_view.%.*s = skua_found_string(skua_data, skua_bytes, &skua_end, "
            "skua_args->%.*s__bytes, \"%s\");\n",
            NAME(p), NAME(p), title);
    } else if (p->passing == PASS_ARRAY && !p->nocopy) {
        put(to,
            "    skua_view.%.*s = " CAST_LIKE("skua_view.%.*s") "skua_found(skua_data, skua_bytes, "
                                                                "&skua_end, ",
            NAME(p), NAME(p));
        put_length(to, stem, entry, p, "skua_view.");
        put(to, ",\n        sizeof *skua_view.%.*s, SKUA_ALIGNOF(", NAME(p));
        put_bare_type(to, without_const(p->type), p->stars);
        put(to, "), \"%s\");\n", title);
    }
}

/* What was not copied lies behind all else. */
static void put_open_parts(struct writer *to, const char *stem, const char *title,
                           const struct entry *entry)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (!p->nocopy)
            continue;
        put(to,
            "    skua_view.%.*s = " CAST_LIKE("skua_view.%.*s") "skua_found_part(skua_data, "
                                                                "skua_bytes, &skua_end, ",
            NAME(p), NAME(p));
        put_length(to, stem, entry, p, "skua_view.");
        put(to, ",\n        sizeof *skua_view.%.*s, \"%s\");\n", NAME(p), title);
    }
    if (count_parts(entry) > 0)
        put(to, "    skua_found_parts_end(skua_data, skua_bytes, &skua_end, \"%s\");\n", title);
}

static void put_open_pieces(struct writer *to, const char *stem, const char *title,
                            const struct entry *entry)
{
    if (has_struct(entry)) {
        put(to, "    if (skua_bytes < sizeof *skua_args)\n");
        put(to, "        skua_malformed(\"%s\", skua_bytes);\n", title);
        for (const struct parameter *p = entry->parameters; p; p = p->next)
            if (p->passing == PASS_VALUE)
                put(to, "    skua_view.%.*s = skua_args->%.*s;\n", NAME(p), NAME(p));
    }
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        put_open_piece(to, stem, title, entry, p);
    put_open_parts(to, stem, title, entry);
    put(to, "    if (skua_end != skua_bytes)\n        skua_malformed(\"%s\", skua_bytes);\n",
        title);
}

static void put_open_view(struct writer *to, const char *stem, const char *title,
                          const struct entry *entry)
{
    bool raw = wire_of(entry) == WIRE_RAW;

    put(to, "static inline struct %s_view %s_open(const void *skua_data, size_t skua_bytes)\n{\n",
        stem, stem);
    if (has_struct(entry))
        put(to, "    const struct %s *skua_args = (const struct %s *)skua_data;\n", stem, stem);
    put(to, "    struct %s_view skua_view;\n", stem);
    if (raw)
        put(to, "\n");
    else if (has_struct(entry))
        put(to, "    size_t skua_end = sizeof *skua_args;\n\n");
    else
        put(to, "    size_t skua_end = 0;\n\n");
    if (raw)
        put_open_raw(to, title, entry);
    else
        put_open_pieces(to, stem, title, entry);
    put(to, "    return skua_view;\n}\n\n");
}

void put_open(struct writer *to, const struct class *class, const struct entry *entry,
              const char *word, const char *data, const char *bytes)
{
    const char *name = stem_of(class, entry);

    if (wire_of(entry) == WIRE_FIXED)
        put(to, "    const struct %s *%s = %s_open(%s, %s);\n", name, word, name, data, bytes);
    else
        put(to, "    const struct %s_view %s = %s_open(%s, %s);\n", name, word, name, data, bytes);
}

void put_message_open(struct writer *to, const struct class *class, const struct entry *entry)
{
    const struct message *message = entry->parameters->message;
    bool                  packed  = takes_message(entry) || copies_message(entry);

    if (copies_message(entry))
        put(to, "    skua_msg *skua_packed = skua_msg_copy_of(skua_data, skua_bytes);\n");
    put(to, "    %.*s *skua_args = %.*s__open(%s, \"%s\");\n", NAME(message), NAME(message),
        packed ? "skua_msg_data(skua_packed), skua_msg_size(skua_packed)" : "skua_data, skua_bytes",
        title_of(class, entry));
}

static void put_lengths(struct writer *to, const char *stem, const struct entry *entry)
{
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->passing == PASS_ARRAY)
            put_length_function(to, stem, entry, p);
}

void emit_wire(struct files to, const struct class *class, const struct entry *entry)
{
    const char *name = stem_of(class, entry), *full = title_of(class, entry);
    enum wire   wire   = wire_of(entry);
    bool        local  = entry->attributes & ATTRIBUTE_LOCAL;
    bool        items  = entry->attributes & ATTRIBUTE_AGGREGATE && class->kind == CLASS_GROUP;
    bool        opened = class->kind != CLASS_INTERFACE && !items;
    bool        main   = class->kind == CLASS_MAINCHARE && entry->kind == ENTRY_CONSTRUCTOR;

    if (local || wire == WIRE_NONE || wire == WIRE_MESSAGE || is_batch(entry))
        return;
    if (wire == WIRE_LANDING) {
        emit_landing_wire(to, class, entry);
        return;
    }
    if (wire == WIRE_FIXED) {
        put_struct(to.header, name, entry);
        if (opened)
            put_open_fixed(to.source, name, full, entry);
        return;
    }
    if (has_struct(entry))
        put_struct(to.source, name, entry);
    put_lengths(to.source, name, entry);
    if (opened) {
        put_view_struct(to.source, name, entry);
        put_open_view(to.source, name, full, entry);
    }
    if (!main) {
        put_bytes_function(to.source, name, full, entry);
        put_fill_function(to.source, name, entry);
        put_pack_function(to.source, name, full, entry);
    }
}
