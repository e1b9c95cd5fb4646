/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_inplace.c - entries with an `inplace` argument (skua/inplace.h).
 *
 * The first argument is the reference number of the message, which the runtime can predict.  The
 * other values form the head, a struct that the runtime compares bytewise: its padding is zeroed,
 * and that of nested structs too if the compiler supports it.  The user's Block_land_ghost()
 * provides the memory for the array.
 */
#include "emit/emit_parts.h"

#include <assert.h>

static const struct ast_parameter *emit_inplace_parameter(const struct ast_entry *entry)
{
    const struct ast_parameter *p = entry->parameters;

    while (p && p->passing != PASS_INPLACE)
        p = p->next;
    return p;
}

bool emit_has_inplace(const struct ast_entry *entry)
{
    return emit_inplace_parameter(entry) != NULL;
}

/* Returns the next value parameter after @p p, or NULL. */
static const struct ast_parameter *emit_inplace_next_value(const struct ast_parameter *p)
{
    do
        p = p->next;
    while (p && p->passing != PASS_VALUE);
    return p;
}

static bool emit_inplace_has_head(const struct ast_entry *entry)
{
    return emit_inplace_next_value(entry->parameters) != NULL;
}

static void emit_inplace_head_struct(struct writer *to, const char *stem,
                                     const struct ast_entry *entry)
{
    writer_put(to, "struct %s {\n", stem);
    for (const struct ast_parameter *p = emit_inplace_next_value(entry->parameters); p;
         p                             = emit_inplace_next_value(p)) {
        writer_put(to, "    ");
        emit_parameter(to, p);
        writer_put(to, ";\n");
    }
    writer_put(
        to, "};\n\nSKUA_STATIC_ASSERT(SKUA_ALIGNOF(struct %s) <= 8, \"see skua/inplace.h\");\n\n",
        stem);
}

/* ---- receiving ---------------------------------------------------------------------------- */

static void emit_inplace_open_function(struct writer *to, const char *stem, const char *title,
                                       const struct ast_entry *entry)
{
    const struct ast_parameter *array = emit_inplace_parameter(entry);

    assert(array);
    writer_put(
        to,
        "static inline struct %s__view %s_open(const void *skua_data, size_t skua_bytes)\n{\n"
        "    struct %s__view skua_view;\n    int64_t skua_reference;\n",
        stem, stem, stem);
    if (emit_inplace_has_head(entry))
        writer_put(to, "    const struct %s *skua_args = (const struct %s *)", stem, stem);
    else
        writer_put(to, "\n    ");
    writer_put(to, "skuac_found_head(skua_data, skua_bytes, ");
    writer_put(to, emit_inplace_has_head(entry) ? "sizeof *skua_args" : "0");
    writer_put(to, ", &skua_reference, \"%s\");\n\n    skua_view.%.*s = (", title,
               NAME_ARGS(entry->parameters));
    emit_bare_type(to, entry->parameters->type, 0);
    writer_put(to, ")skua_reference;\n");
    for (const struct ast_parameter *p = emit_inplace_next_value(entry->parameters); p;
         p                             = emit_inplace_next_value(p))
        writer_put(to, "    skua_view.%.*s = skua_args->%.*s;\n", NAME_ARGS(p), NAME_ARGS(p));
    writer_put(to, "    skua_view.%.*s = skuac_found_inplace(skua_data, skua_bytes, ",
               NAME_ARGS(array));
    emit_length_call(to, stem, entry, array, "skua_view.");
    writer_put(to, ", sizeof(");
    emit_bare_type(to, array->type, array->stars);
    writer_put(to, "), \"%s\");\n    return skua_view;\n}\n\n", title);
}

void emit_inplace_marshalling(struct emit_files       to, const struct ast_class *class,
                              const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(to.source, "SKUA_STATIC_ASSERT((");
    emit_bare_type(to.source, entry->parameters->type, 0);
    writer_put(to.source, ")0.5 == 0, \"%s: `%.*s' must be an integer\");\n\n",
               emit_title_of(class, entry), NAME_ARGS(entry->parameters));
    if (emit_inplace_has_head(entry))
        emit_inplace_head_struct(to.source, stem, entry);
    emit_length_function(to.source, stem, entry, emit_inplace_parameter(entry));
    if (class->kind == CLASS_INTERFACE)
        return;
    emit_view_struct(to.source, stem, entry);
    emit_inplace_open_function(to.source, stem, emit_title_of(class, entry), entry);
}

/* ---- sending ------------------------------------------------------------------------------ */

static void emit_inplace_send_head(struct writer          *to, const struct ast_class *class,
                                   const struct ast_entry *entry)
{
    writer_put(to, "void %.*s_%.*s(%s skua_to", NAME_ARGS(class), NAME_ARGS(entry),
               emit_element_type(class));
    emit_parameters(to, entry, false);
    writer_put(to, ")");
}

void emit_inplace_send(struct emit_files       to, const struct ast_class *class,
                       const struct ast_entry *entry)
{
    const struct ast_parameter *array = emit_inplace_parameter(entry);
    const char                 *stem  = emit_stem_of(class, entry);

    assert(array);
    emit_inplace_send_head(to.header, class, entry);
    writer_put(to.header, ";\n");
    emit_inplace_send_head(to.source, class, entry);
    writer_put(to.source, "\n{\n");
    if (emit_inplace_has_head(entry))
        writer_put(to.source,
                   "    struct %s skua_args;\n\n    memset(&skua_args, 0, sizeof skua_args);\n",
                   stem);
    for (const struct ast_parameter *p = emit_inplace_next_value(entry->parameters); p;
         p                             = emit_inplace_next_value(p))
        writer_put(to.source, "    skua_args.%.*s = %.*s;\n", NAME_ARGS(p), NAME_ARGS(p));
    if (emit_inplace_has_head(entry))
        writer_put(to.source, "    SKUAC_CLEAR_PADDING(&skua_args);\n");
    writer_put(to.source, "    skuac_check_inplace(%.*s, ", NAME_ARGS(array));
    emit_length_call(to.source, stem, entry, array, "");
    writer_put(to.source, ", sizeof(");
    emit_bare_type(to.source, array->type, array->stars);
    writer_put(to.source, "), \"%s\", \"%.*s\");\n", emit_title_of(class, entry), NAME_ARGS(array));
    writer_put(to.source,
               "    skua_invoke_inplace(skua_to.ref, %s, (int64_t)%.*s, %s, %.*s);\n}\n\n",
               emit_entry_id(class, entry), NAME_ARGS(entry->parameters),
               emit_inplace_has_head(entry) ? "&skua_args, sizeof skua_args" : "NULL, 0",
               NAME_ARGS(array));
}

/* ---- memory for the array ----------------------------------------------------------------- */

void emit_land_head(struct writer *to, const struct ast_class *class, const struct ast_entry *entry)
{
    writer_put(to, "bool %.*s_land_%.*s(%.*s *self", NAME_ARGS(class), NAME_ARGS(entry),
               NAME_ARGS(class));
    for (const struct ast_parameter *p = entry->parameters; p; p = emit_inplace_next_value(p)) {
        writer_put(to, ", ");
        emit_parameter(to, p);
    }
    writer_put(to, ", skua_layout *%.*s)", NAME_ARGS(emit_inplace_parameter(entry)));
}

/* Emits the function by which the runtime calls the user's function. */
void emit_land_callback(struct writer          *to, const struct ast_class *class,
                        const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(
        to,
        "static bool %s_land(void *skua_object, int64_t skua_reference, const void *skua_head,\n"
        "    skua_layout *skua_to)\n{\n",
        stem);
    if (emit_inplace_has_head(entry))
        writer_put(to, "    const struct %s *skua_args = (const struct %s *)skua_head;\n\n", stem,
                   stem);
    writer_put(to, "    (void)skua_head;\n    return %.*s_land_%.*s((%.*s *)skua_object, (",
               NAME_ARGS(class), NAME_ARGS(entry), NAME_ARGS(class));
    emit_bare_type(to, entry->parameters->type, 0);
    writer_put(to, ")skua_reference");
    for (const struct ast_parameter *p = emit_inplace_next_value(entry->parameters); p;
         p                             = emit_inplace_next_value(p))
        writer_put(to, ", skua_args->%.*s", NAME_ARGS(p));
    writer_put(to, ", skua_to);\n}\n\n");
}
