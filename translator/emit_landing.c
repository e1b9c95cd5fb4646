/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_landing.c - entries with a `landing` argument (skua/landing.h).
 *
 * The first argument is the reference of the message, which the runtime can foretell.  The other
 * values are the head, a struct that the runtime compares: its padding is zero, and, where the
 * compiler helps, that of structs in it.  The user says where the array shall land:
 * Block_land_ghost().
 */
#include "emit_parts.h"

#include "arena.h"

static const struct parameter *landing_of(const struct entry *entry)
{
    const struct parameter *p = entry->parameters;

    while (p && p->passing != PASS_LANDING)
        p = p->next;
    return p;
}

bool has_landing(const struct entry *entry)
{
    return landing_of(entry) != NULL;
}

/* The values behind the first, one after the other; NULL: that was all. */
static const struct parameter *next_value(const struct parameter *p)
{
    do
        p = p->next;
    while (p && p->passing != PASS_VALUE);
    return p;
}

static bool has_head(const struct entry *entry)
{
    return next_value(entry->parameters) != NULL;
}

static void put_head_struct(struct writer *to, const char *stem, const struct entry *entry)
{
    put(to, "struct %s {\n", stem);
    for (const struct parameter *p = next_value(entry->parameters); p; p = next_value(p)) {
        put(to, "    ");
        put_parameter(to, p);
        put(to, ";\n");
    }
    put(to, "};\n\nSKUA_STATIC_ASSERT(SKUA_ALIGNOF(struct %s) <= 8, \"see skua/landing.h\");\n\n",
        stem);
}

/* ---- what arrived -------------------------------------------------------------------------- */

static void put_open_function(struct writer *to, const char *stem, const char *title,
                              const struct entry *entry)
{
    const struct parameter *array = landing_of(entry);

    put(to,
        "static inline struct %s_view %s_open(const void *skua_data, size_t skua_bytes)\n{\n"
        "    struct %s_view skua_view;\n    int64_t skua_reference;\n",
        stem, stem, stem);
    if (has_head(entry))
        put(to, "    const struct %s *skua_args = (const struct %s *)", stem, stem);
    else
        put(to, "\n    ");
    put(to, "skua_found_head(skua_data, skua_bytes, ");
    put(to, has_head(entry) ? "sizeof *skua_args" : "0");
    put(to, ", &skua_reference, \"%s\");\n\n    skua_view.%.*s = (", title,
        NAME(entry->parameters));
    put_bare_type(to, entry->parameters->type, 0);
    put(to, ")skua_reference;\n");
    for (const struct parameter *p = next_value(entry->parameters); p; p = next_value(p))
        put(to, "    skua_view.%.*s = skua_args->%.*s;\n", NAME(p), NAME(p));
    put(to, "    skua_view.%.*s = skua_found_landing(skua_data, skua_bytes, ", NAME(array));
    put_length(to, stem, entry, array, "skua_view.");
    put(to, ", sizeof(");
    put_bare_type(to, array->type, array->stars);
    put(to, "), \"%s\");\n    return skua_view;\n}\n\n", title);
}

void emit_landing_wire(struct files to, const struct class *class, const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to.source, "SKUA_STATIC_ASSERT((");
    put_bare_type(to.source, entry->parameters->type, 0);
    put(to.source, ")0.5 == 0, \"%s: `%.*s' must be an integer\");\n\n", title_of(class, entry),
        NAME(entry->parameters));
    if (has_head(entry))
        put_head_struct(to.source, stem, entry);
    put_length_function(to.source, stem, entry, landing_of(entry));
    if (class->kind == CLASS_INTERFACE)
        return;
    put_view_struct(to.source, stem, entry);
    put_open_function(to.source, stem, title_of(class, entry), entry);
}

/* ---- sending -------------------------------------------------------------------------------- */

static void put_send_head(struct writer *to, const struct class *class, const struct entry *entry)
{
    put(to, "void %.*s_%.*s(%s skua_to", NAME(class), NAME(entry), element_type(class));
    put_parameters(to, entry, false);
    put(to, ")");
}

void emit_landing_send(struct files to, const struct class *class, const struct entry *entry)
{
    const struct parameter *array = landing_of(entry);
    const char             *stem  = stem_of(class, entry);

    put_send_head(to.header, class, entry);
    put(to.header, ";\n");
    put_send_head(to.source, class, entry);
    put(to.source, "\n{\n");
    if (has_head(entry))
        put(to.source, "    struct %s skua_args;\n\n    memset(&skua_args, 0, sizeof skua_args);\n",
            stem);
    for (const struct parameter *p = next_value(entry->parameters); p; p = next_value(p))
        put(to.source, "    skua_args.%.*s = %.*s;\n", NAME(p), NAME(p));
    if (has_head(entry))
        put(to.source, "    SKUA_CLEAR_PADDING(&skua_args);\n");
    put(to.source, "    skua_check_landing(%.*s, ", NAME(array));
    put_length(to.source, stem, entry, array, "");
    put(to.source, ", sizeof(");
    put_bare_type(to.source, array->type, array->stars);
    put(to.source, "), \"%s\", \"%.*s\");\n", title_of(class, entry), NAME(array));
    put(to.source, "    skua_invoke_landing(skua_to.ref, %s, (int64_t)%.*s, %s, %.*s);\n}\n\n",
        entry_id(class, entry), NAME(entry->parameters),
        has_head(entry) ? "&skua_args, sizeof skua_args" : "NULL, 0", NAME(array));
}

/* ---- where it shall land ----------------------------------------------------------------------
 */

void put_land_head(struct writer *to, const struct class *class, const struct entry *entry)
{
    put(to, "bool %.*s_land_%.*s(%.*s *self", NAME(class), NAME(entry), NAME(class));
    for (const struct parameter *p = entry->parameters; p; p = next_value(p)) {
        put(to, ", ");
        put_parameter(to, p);
    }
    put(to, ", skua_layout *%.*s)", NAME(landing_of(entry)));
}

/* The runtime asks: the user's function is asked. */
void put_land(struct writer *to, const struct class *class, const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to,
        "static bool %s_land(void *skua_object, int64_t skua_reference, const void *skua_head,\n"
        "    skua_layout *skua_to)\n{\n",
        stem);
    if (has_head(entry))
        put(to, "    const struct %s *skua_args = (const struct %s *)skua_head;\n\n", stem, stem);
    put(to, "    (void)skua_head;\n    return %.*s_land_%.*s((%.*s *)skua_object, (", NAME(class),
        NAME(entry), NAME(class));
    put_bare_type(to, entry->parameters->type, 0);
    put(to, ")skua_reference");
    for (const struct parameter *p = next_value(entry->parameters); p; p = next_value(p))
        put(to, ", skua_args->%.*s", NAME(p));
    put(to, ", skua_to);\n}\n\n");
}
