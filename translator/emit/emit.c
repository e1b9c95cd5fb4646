/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - see emit.h.
 *
 * The order of the header satisfies all dependencies: the types of proxies, which depend on
 * nothing; includes and declarations of the file, in source order; the structs of objects, which
 * may contain any of these; the functions.
 */
#include "emit/emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emit/emit_parts.h"
#include "support/bump.h"
#include "support/source.h"

/* Returns the name of a file as a prefix of identifiers: `jacobi_ci` for `jacobi.ci`. */
static const char *emit_file_stem(const char *name)
{
    bool  digit = *name >= '0' && *name <= '9';
    char *stem  = bump_printf(digit ? "_%s" : "%s", name);

    for (char *c = stem; *c; c++)
        if (!(*c >= '0' && *c <= '9') && !(*c >= 'A' && *c <= 'Z') && !(*c >= 'a' && *c <= 'z'))
            *c = '_';
    return stem;
}

/* ---- declarations ------------------------------------------------------------------------- */

static void emit_extern(struct writer *to, const struct ast_tree *tree, const struct ast_item *item)
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        if (module->imported && text_equal(module->name.text, item->is.module.text))
            writer_put(to, "#include \"%s.h\"\n", source_base_name(module->location.source->path));
}

/* Emits types that depend on no others. */
static void emit_types(struct emit_files to, const struct ast_item *item)
{
    if (item->kind == ITEM_CLASS)
        emit_class_types(to, item->is.class);
    else if (item->kind == ITEM_MESSAGE)
        writer_put(to.header, "typedef struct %.*s %.*s;\n\n", NAME_ARGS(item->is.message),
                   NAME_ARGS(item->is.message));
    else if (item->kind == ITEM_RECORD)
        writer_put(to.header, "typedef struct %.*s %.*s;\n\n", NAME_ARGS(item->is.record),
                   NAME_ARGS(item->is.record));
}

/* Begins or ends a section of the header with C linkage. */
static void emit_header_linkage(struct emit_files to, bool wanted)
{
    if (*to.linked != wanted)
        writer_put(to.header, wanted ? "SKUA_BEGIN_DECLS\n\n" : "SKUA_END_DECLS\n\n");
    *to.linked = wanted;
}

/* Emits the declarations in source order.  Included headers choose their linkage themselves. */
static void emit_declaration(struct emit_files to, const struct ast_item *item)
{
    emit_header_linkage(to, item->kind != ITEM_INCLUDE && item->kind != ITEM_DIRECTIVE);
    switch (item->kind) {
    case ITEM_INCLUDE: emit_include(to, item); break;
    case ITEM_DIRECTIVE: writer_put(to.header, "%.*s\n", TEXT_ARGS(item->is.code.text)); break;
    case ITEM_READONLY:
        emit_type_checks(to, item->is.readonly, item->is.readonly->name.text);
        emit_length_checks(to, item->is.readonly, item->is.readonly->name.text);
        for (const struct ast_field *field = item->is.readonly; field; field = field->next)
            emit_readonly(to, field);
        break;
    case ITEM_RECORD:
        if (!item->is.record->external)
            emit_type_checks(to, item->is.record, item->is.record->name.text);
        emit_length_checks(to, item->is.record->fields, item->is.record->name.text);
        emit_record(to, item->is.record);
        break;
    case ITEM_INIT:
        writer_put(to.header, "void %.*s(void);\n", TEXT_ARGS(item->is.function.text));
        break;
    case ITEM_MESSAGE: /* see emit_late_declaration() */
    case ITEM_CLASS:   /* see emit_class_types(), emit_class() */
    case ITEM_EXTERN:
    case ITEM_CODE: break;
    }
}

/* Emits the messages, and the checks of structs that headers define: what they need may be declared
 * after them. */
static void emit_late_declaration(struct emit_files to, const struct ast_item *item)
{
    if (item->kind == ITEM_MESSAGE) {
        emit_type_checks(to, item->is.message, item->is.message->name.text);
        emit_length_checks(to, item->is.message->fields, item->is.message->name.text);
        emit_message(to, item->is.message);
    } else if (item->kind == ITEM_RECORD && item->is.record->external) {
        emit_type_checks(to, item->is.record, item->is.record->name.text);
    }
}

static void emit_states(struct emit_files to, const struct ast_item *item)
{
    if (item->kind != ITEM_CLASS)
        return;
    emit_type_checks(to, item->is.class, item->is.class->name.text);
    emit_length_checks(to, item->is.class->state, item->is.class->name.text);
    emit_state(to, item->is.class);
}

static void emit_functions(struct emit_files to, const struct ast_item *item)
{
    if (item->kind == ITEM_CLASS)
        emit_class(to, item->is.class);
}

static void emit_code(struct emit_files to, const struct ast_item *item)
{
    if (item->kind == ITEM_CODE)
        writer_put_code(to.source, item->is.code);
}

/* Calls @p fn for all items of the modules that are not imported. */
static void emit_for_each_item(struct emit_files to, const struct ast_tree *tree,
                               void (*fn)(struct emit_files to, const struct ast_item *item))
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        if (!module->imported)
            for (const struct ast_item *item = module->items; item; item = item->next)
                fn(to, item);
}

/* ---- registration and main() -------------------------------------------------------------- */

/* Emits the head of a function that runs once per module, after those of the imported modules. */
static void emit_once_head(struct emit_files to, const struct ast_module *module, const char *what)
{
    writer_put(to.header, "void %.*s_%s(void);\n", NAME_ARGS(module), what);
    writer_put(to.source,
               "void %.*s_%s(void)\n{\n    static bool skua_done;\n\n"
               "    if (skua_done)\n        return;\n    skua_done = true;\n",
               NAME_ARGS(module), what);
    for (const struct ast_item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_EXTERN)
            writer_put(to.source, "    %.*s_%s();\n", TEXT_ARGS(item->is.module.text), what);
}

static void emit_registration(struct emit_files to, const struct ast_module *module)
{
    struct writer *source = to.source;

    emit_once_head(to, module, "register");
    for (const struct ast_item *item = module->items; item; item = item->next) {
        if (item->kind == ITEM_INIT)
            writer_put(source, "    %.*s();\n", TEXT_ARGS(item->is.function.text));
        else if (item->kind == ITEM_CLASS)
            emit_class_registration(source, item->is.class);
        else if (item->kind == ITEM_READONLY)
            for (const struct ast_field *field = item->is.readonly; field; field = field->next)
                emit_readonly_registration(source, module, field);
    }
    writer_put(source, "}\n\n");
}

/* Emits the function that determines the sizes of readonly variables once the main chare exists. */
static void emit_measuring(struct emit_files to, const struct ast_module *module)
{
    emit_once_head(to, module, "_measure");
    for (const struct ast_item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_READONLY)
            for (const struct ast_field *field = item->is.readonly; field; field = field->next)
                emit_readonly_lengths(to.source, field);
    writer_put(to.source, "}\n\n");
}

static void emit_main_chare(struct writer *to, const struct ast_class *class)
{
    const struct ast_entry *constructor = emit_special_of(class, ENTRY_CONSTRUCTOR);

    if (class->kind != CLASS_MAINCHARE)
        return;
    if (constructor && constructor->parameters)
        writer_put(to,
                   "    const struct %.*s__create skua_args = {argc, argv};\n\n"
                   "    skua_chare_create_local(%.*s__class, &skua_args, sizeof skua_args);\n",
                   NAME_ARGS(class), NAME_ARGS(class));
    else
        writer_put(to, "    skua_chare_create_local(%.*s__class, NULL, 0);\n", NAME_ARGS(class));
}

static void emit_main(struct writer *to, const struct ast_module *module)
{
    writer_put(to, "static void %.*s__begin(int argc, char **argv)\n{\n", NAME_ARGS(module));
    for (const struct ast_item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_CLASS)
            emit_main_chare(to, item->is.class);
    writer_put(to,
               "    %.*s__measure();\n    (void)argc, (void)argv;\n}\n\n"
               "int main(int argc, char **argv)\n{\n"
               "    %.*s_register();\n    return skua_program(argc, argv, %.*s__begin);\n}\n",
               NAME_ARGS(module), NAME_ARGS(module), NAME_ARGS(module));
}

static void emit_modules(struct emit_files to, const struct ast_tree *tree)
{
    for (const struct ast_module *module = tree->modules; module; module = module->next) {
        if (module->imported || !module->name.text.at)
            continue;
        emit_registration(to, module);
        emit_measuring(to, module);
    }
}

static void emit_main_module(struct emit_files to, const struct ast_tree *tree)
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        if (module->main && !module->imported)
            emit_main(to.source, module);
}

/* ---- files -------------------------------------------------------------------------------- */

static const char banner[] =
    "/* Generated by skuac from %s.  Do not edit: changes will be lost. */\n";

static void emit_beginning(struct emit_files to, const struct ast_tree *tree, const char *name)
{
    const char *guard = bump_printf("%s_H", emit_file_stem(name));

    writer_put(to.header, banner, name);
    writer_put(
        to.header,
        "#ifndef %s\n#define %s\n\n#include <skua/skua.h>\n#include <skua/skuac_padding.h>\n",
        guard, guard);
    writer_put(
        to.source,
        "#include <skua/skuac_flow.h>\n#include <skua/skuac_marshal.h>\n#include <stdlib.h>\n"
        "#include <string.h>\n\n#include \"%s.h\"\n\n",
        name);
    writer_put(to.source, "/* An argument of the wrong type is an error, as it is in C++. */\n"
                          "#ifndef __cplusplus\n"
                          "#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n"
                          "#pragma GCC diagnostic error \"-Wint-conversion\"\n"
                          "#endif\n\n");
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        if (!module->imported)
            for (const struct ast_item *item = module->items; item; item = item->next)
                if (item->kind == ITEM_EXTERN)
                    emit_extern(to.header, tree, item);
    writer_put(to.header, "\n");
}

static bool emit_save_file(const struct writer *writer, const char *path, bool keep)
{
    bool good = writer_save(writer, path, keep);

    if (!good)
        fprintf(stderr, "skuac: cannot write %s: %s\n", path, strerror(errno));
    return good;
}

/* Replaces a text by the finished contents of its file. */
static void emit_finish(struct writer *text, const char *name)
{
    struct writer finished = writer_finish(text, name);

    writer_free(text);
    *text = finished;
}

void emit_to_memory(const struct ast_tree *tree, struct writer *header, struct writer *source)
{
    const char       *name   = source_base_name(tree->source->path);
    bool              linked = false;
    struct emit_lines lines  = {.tree = tree, .stem = emit_file_stem(name)};
    struct writer     rest   = {NULL, 0, 0};
    struct emit_files to     = {header, &rest, &lines, &linked};

    *header = *source = (struct writer){NULL, 0, 0};
    emit_beginning(to, tree, name);
    emit_header_linkage(to, true);
    writer_put(&rest, "SKUA_BEGIN_DECLS\n\n");
    emit_for_each_item(to, tree, emit_types);
    emit_for_each_item(to, tree, emit_declaration);
    emit_header_linkage(to, true);
    emit_for_each_item(to, tree, emit_late_declaration);
    emit_for_each_item(to, tree, emit_states);
    writer_put(&rest, "SKUA_END_DECLS\n\n");
    emit_for_each_item(to, tree, emit_code);
    writer_put(&rest, "SKUA_BEGIN_DECLS\n\n");
    emit_for_each_item(to, tree, emit_functions);
    emit_modules(to, tree);
    writer_put(header, "\n");
    emit_header_linkage(to, false);
    writer_put(header, "#endif\n");
    writer_put(&rest, "SKUA_END_DECLS\n\n");
    emit_main_module(to, tree);
    writer_put(source, banner, name);
    writer_append(source, &lines.defines);
    writer_append(source, &rest);
    writer_free(&lines.defines);
    writer_free(&rest);
    emit_finish(header, bump_printf("%s.h", name));
    emit_finish(source, bump_printf("%s.c", name));
}

bool emit_save(const struct ast_tree *tree, const char *directory)
{
    const char   *name = source_base_name(tree->source->path);
    struct writer header, source;
    bool          good;

    emit_to_memory(tree, &header, &source);
    /* The source is always written, because make compares its time with that of the interface
     * file. */
    good = emit_save_file(&header, bump_printf("%s/%s.h", directory, name), true) &&
           emit_save_file(&source, bump_printf("%s/%s.c", directory, name), false);
    writer_free(&header);
    writer_free(&source);
    return good;
}
