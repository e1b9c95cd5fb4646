/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_creation.c - the functions that create objects of a class: arrays and their elements,
 * chares, groups.
 */
#include "emit/emit_parts.h"

#include "support/bump.h"

static const char *const creation_axis[] = {"i", "j", "k", "l", "m", "n"};

void emit_axes(struct writer *to, unsigned dims, const char *before, const char *prefix)
{
    for (unsigned d = 0; d < dims; d++)
        writer_put(to, "%s%s%s%s", d > 0 ? ", " : "", before, prefix, creation_axis[d]);
}

/* A function that creates objects. */
struct emit_creation {
    const char *result, *name, *before, *call;
    const char *first;   /* statements in front of the call, or NULL */
    const char *comment; /* comment in the header */
};

static void emit_creation_head(struct writer              *to, const struct ast_class *class,
                               const struct ast_entry     *constructor,
                               const struct emit_creation *creation)
{
    bool none = !constructor || !constructor->parameters;

    writer_put(to, "%s%.*s_%s(%s", creation->result, NAME_ARGS(class), creation->name,
               creation->before);
    if (!none)
        emit_parameters(to, constructor, !*creation->before);
    writer_put(to, none && !*creation->before ? "void)" : ")");
}

static void emit_creation_body(struct writer              *to, const struct ast_class *class,
                               const struct ast_entry     *constructor,
                               const struct emit_creation *creation)
{
    enum emit_marshal_format format =
        constructor ? emit_marshal_format_of(constructor) : MARSHAL_NONE;
    bool        value = *creation->result != 'v';
    const char *type  = value ? bump_printf("%.*s_proxy", NAME_ARGS(class)) : "";
    const char *give  = value ? bump_printf("%s skua_made = {", type) : "";
    const char *end   = value ? "}" : "";

    writer_put(to, "%s", creation->first ? creation->first : "");
    if (format == MARSHAL_NONE) {
        writer_put(to, "    %s%sNULL, 0)%s;\n", give, creation->call, end);
    } else if (format == MARSHAL_FIXED) {
        writer_put(to, "    const struct %s skua_args = ", emit_stem_of(class, constructor));
        emit_initializer(to, constructor);
        writer_put(to, ";\n\n    %s%s&skua_args, sizeof skua_args)%s;\n", give, creation->call,
                   end);
    } else {
        writer_put(to, "    skua_msg *skua_packed = ");
        if (format == MARSHAL_MESSAGE) {
            writer_put(to, "%.*s__message(%.*s);\n", NAME_ARGS(constructor->parameters->message),
                       NAME_ARGS(constructor->parameters));
        } else {
            writer_put(to, "%s_pack(", emit_stem_of(class, constructor));
            emit_arguments(to, constructor, true);
            writer_put(to, ");\n");
        }
        writer_put(to, "%s    %s%sskua_msg_data(skua_packed), skua_msg_size(skua_packed))%s;\n",
                   value ? "" : "\n", give, creation->call, end);
        writer_put(to, "%s    skua_msg_free(skua_packed);\n", value ? "\n" : "");
    }
    if (value)
        writer_put(to, "    return skua_made;\n");
}

static void emit_creation_function(struct emit_files           to, const struct ast_class *class,
                                   const struct emit_creation *creation)
{
    const struct ast_entry *constructor = emit_special_of(class, ENTRY_CONSTRUCTOR);

    writer_put(to.header, "/** %s */\n", creation->comment);
    emit_creation_head(to.header, class, constructor, creation);
    writer_put(to.header, ";\n");
    emit_creation_head(to.source, class, constructor, creation);
    writer_put(to.source, "\n{\n");
    emit_creation_body(to.source, class, constructor, creation);
    writer_put(to.source, "}\n\n");
}

/* Emits the declaration of `skua_def`: an array of the given sizes, or an empty one. */
static void emit_creation_array_def(struct writer *to, const struct ast_class *class)
{
    writer_put(to,
               "    skua_array_def skua_def;\n\n    memset(&skua_def, 0, sizeof skua_def);\n"
               "    skua_def.size = sizeof skua_def;\n    skua_def.dims = %u;\n",
               class->dims);
    if (class->dims == 0)
        writer_put(to, "    skua_def.flags = SKUA_ARRAY_OPEN;\n");
    else
        writer_put(to, "    skua_def.range.dims = %u;\n", class->dims);
    for (unsigned d = 0; d < class->dims; d++)
        writer_put(to, "    skua_def.range.upper[%u] = skua_%s;\n", d, creation_axis[d]);
    writer_put(to, "\n");
}

static void emit_creation_of_array(struct emit_files to, const struct ast_class *class)
{
    const char          *proxy = bump_printf("%.*s_proxy ", NAME_ARGS(class));
    struct writer        sizes = {NULL, 0, 0}, first = {NULL, 0, 0};
    struct emit_creation plain = {
        .result  = proxy,
        .name    = "new",
        .call    = bump_printf("skua_array_create(%.*s__class, &skua_def, ", NAME_ARGS(class)),
        .comment = class->dims > 0 ? "Creates an array of the given sizes with all its elements."
                                   : "Creates an array without elements, to be inserted later."};
    struct emit_creation with = {
        .result  = proxy,
        .name    = "new_with",
        .before  = "const skua_array_def *skua_def",
        .call    = bump_printf("skua_array_create(%.*s__class, skua_def, ", NAME_ARGS(class)),
        .comment = "Creates an array with bounds, a map and flags chosen by the caller."};
    struct emit_creation insert = {
        .result  = "void ",
        .name    = "insert",
        .before  = bump_printf("%.*s_element skua_to, int skua_on", NAME_ARGS(class)),
        .call    = "skua_array_insert(skua_to.ref, skua_on, ",
        .comment = "Creates an element of an open array on a PE; SKUA_ANY_PE: on its home PE."};

    emit_axes(&sizes, class->dims, "int ", "skua_");
    writer_put(&sizes, "%c", 0);
    emit_creation_array_def(&first, class);
    writer_put(&first, "%c", 0);
    plain.before = sizes.at;
    plain.first  = first.at;
    emit_creation_function(to, class, &plain);
    emit_creation_function(to, class, &with);
    emit_creation_function(to, class, &insert);
    writer_free(&sizes);
    writer_free(&first);
}

static void emit_creation_of_chare(struct emit_files to, const struct ast_class *class)
{
    const char          *proxy = bump_printf("%.*s_proxy ", NAME_ARGS(class));
    struct emit_creation any   = {
          .result  = proxy,
          .name    = "new",
          .before  = "",
          .call    = bump_printf("skua_chare_create(%.*s__class, SKUA_ANY_PE, ", NAME_ARGS(class)),
          .comment = "Creates a chare on a PE that the runtime chooses."};
    struct emit_creation on = {
        .result  = proxy,
        .name    = "new_on",
        .before  = "int skua_on",
        .call    = bump_printf("skua_chare_create(%.*s__class, skua_on, ", NAME_ARGS(class)),
        .comment = "Creates a chare on the given PE."};

    emit_creation_function(to, class, &any);
    emit_creation_function(to, class, &on);
}

static void emit_creation_of_group(struct emit_files to, const struct ast_class *class)
{
    bool                 processes = class->kind == CLASS_NODEGROUP;
    struct emit_creation group     = {
            .result  = bump_printf("%.*s_proxy ", NAME_ARGS(class)),
            .name    = "new",
            .before  = "",
            .call    = bump_printf("skua_%sgroup_create(%.*s__class, ", processes ? "process_" : "",
                                   NAME_ARGS(class)),
            .comment = processes ? "Creates a group with a member in each process."
                                 : "Creates a group with a member on each PE."};

    emit_creation_function(to, class, &group);
}

void emit_creation(struct emit_files to, const struct ast_class *class)
{
    if (class->kind == CLASS_ARRAY)
        emit_creation_of_array(to, class);
    else if (class->kind == CLASS_CHARE)
        emit_creation_of_chare(to, class);
    else if (class->kind != CLASS_MAINCHARE)
        emit_creation_of_group(to, class);
    writer_put(to.header, "\n");
}
