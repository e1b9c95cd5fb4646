/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - see emit.h.
 *
 * The header declares in an order in which each thing finds what it needs: the types of all
 * proxies, which need nothing; what the file includes and declares, in its own order; the
 * objects, which may have any of it as parts; then the functions.
 */
#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "emit_parts.h"
#include "source.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* `jacobi.ci` as the beginning of a name: `jacobi_ci`. */
static const char *stem_of_file(const char *name)
{
    bool  digit = *name >= '0' && *name <= '9';
    char *stem  = arena_print(digit ? "_%s" : "%s", name);

    for (char *c = stem; *c; c++)
        if (!(*c >= '0' && *c <= '9') && !(*c >= 'A' && *c <= 'Z') && !(*c >= 'a' && *c <= 'z'))
            *c = '_';
    return stem;
}

/* ---- the parts of a module ----------------------------------------------------------------- */

static void put_extern(struct writer *to, const struct tree *tree, const struct item *item)
{
    for (const struct module *module = tree->modules; module; module = module->next)
        if (module->foreign && text_equal(module->name.text, item->is.module.text))
            put(to, "#include \"%s.h\"\n", base_name(module->place.source->path));
}

/* Types that need no others. */
static void emit_types(struct files to, const struct item *item)
{
    if (item->kind == ITEM_CLASS)
        emit_class_types(to, item->is.class);
    else if (item->kind == ITEM_MESSAGE)
        put(to.header, "typedef struct %.*s %.*s;\n\n", NAME(item->is.message),
            NAME(item->is.message));
    else if (item->kind == ITEM_RECORD)
        put(to.header, "typedef struct %.*s %.*s;\n\n", NAME(item->is.record),
            NAME(item->is.record));
}

/* Begins or ends a part of the header that has C linkage in C++. */
static void link_header(struct files to, bool wanted)
{
    if (*to.linked != wanted)
        put(to.header, wanted ? "SKUA_BEGIN_DECLS\n\n" : "SKUA_END_DECLS\n\n");
    *to.linked = wanted;
}

/* What the file declares, in its order.  Other headers say themselves which linkage they have. */
static void emit_declaration(struct files to, const struct item *item)
{
    link_header(to, item->kind != ITEM_INCLUDE && item->kind != ITEM_HASH);
    switch (item->kind) {
    case ITEM_INCLUDE: emit_include(to, item); break;
    case ITEM_HASH: put(to.header, "%.*s\n", TEXT(item->is.code.text)); break;
    case ITEM_READONLY:
        emit_type_checks(to, item->is.readonly, item->is.readonly->name.text);
        for (const struct field *field = item->is.readonly; field; field = field->next)
            emit_readonly(to, field);
        break;
    case ITEM_MESSAGE:
        emit_type_checks(to, item->is.message, item->is.message->name.text);
        emit_message(to, item->is.message);
        break;
    case ITEM_RECORD:
        emit_type_checks(to, item->is.record, item->is.record->name.text);
        emit_record(to, item->is.record);
        break;
    case ITEM_INIT: put(to.header, "void %.*s(void);\n", TEXT(item->is.function.text)); break;
    case ITEM_CLASS: /* later */
    case ITEM_EXTERN:
    case ITEM_CODE: break;
    }
}

static void emit_states(struct files to, const struct item *item)
{
    if (item->kind != ITEM_CLASS)
        return;
    emit_type_checks(to, item->is.class, item->is.class->name.text);
    emit_state(to, item->is.class);
}

static void emit_functions(struct files to, const struct item *item)
{
    if (item->kind == ITEM_CLASS)
        emit_class(to, item->is.class);
}

static void emit_code(struct files to, const struct item *item)
{
    if (item->kind == ITEM_CODE)
        put_code(to.source, item->is.code);
}

/* All items of the modules that are written. */
static void for_each_item(struct files to, const struct tree *tree,
                          void (*fn)(struct files to, const struct item *item))
{
    for (const struct module *module = tree->modules; module; module = module->next)
        if (!module->foreign)
            for (const struct item *item = module->items; item; item = item->next)
                fn(to, item);
}

/* ---- registration and main() ----------------------------------------------------------------- */

/* The beginning of a function that is called once for each module, those it names first. */
static void put_once(struct files to, const struct module *module, const char *what)
{
    put(to.header, "void %.*s_%s(void);\n", NAME(module), what);
    put(to.source,
        "void %.*s_%s(void)\n{\n    static bool skua_done;\n\n"
        "    if (skua_done)\n        return;\n    skua_done = true;\n",
        NAME(module), what);
    for (const struct item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_EXTERN)
            put(to.source, "    %.*s_%s();\n", TEXT(item->is.module.text), what);
}

static void put_registration(struct files to, const struct module *module)
{
    struct writer *source = to.source;

    put_once(to, module, "register");
    for (const struct item *item = module->items; item; item = item->next) {
        if (item->kind == ITEM_INIT)
            put(source, "    %.*s();\n", TEXT(item->is.function.text));
        else if (item->kind == ITEM_CLASS)
            put_class_registration(source, item->is.class);
        else if (item->kind == ITEM_READONLY)
            for (const struct field *field = item->is.readonly; field; field = field->next)
                put_readonly_registration(source, module, field);
    }
    put(source, "}\n\n");
}

/* When the main chare has been made: how long read-only variables are. */
static void put_measuring(struct files to, const struct module *module)
{
    put_once(to, module, "_measure");
    for (const struct item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_READONLY)
            for (const struct field *field = item->is.readonly; field; field = field->next)
                put_readonly_lengths(to.source, field);
    put(to.source, "}\n\n");
}

static void put_main_chare(struct writer *to, const struct class *class)
{
    const struct entry *constructor = constructor_of(class);

    if (class->kind != CLASS_MAINCHARE)
        return;
    if (constructor && constructor->parameters)
        put(to,
            "    const struct %.*s__create skua_args = {argc, argv};\n\n"
            "    skua_chare_create_here(%.*s__class, &skua_args, sizeof skua_args);\n",
            NAME(class), NAME(class));
    else
        put(to, "    skua_chare_create_here(%.*s__class, NULL, 0);\n", NAME(class));
}

static void put_main(struct writer *to, const struct module *module)
{
    put(to, "static void %.*s__begin(int argc, char **argv)\n{\n", NAME(module));
    for (const struct item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_CLASS)
            put_main_chare(to, item->is.class);
    put(to,
        "    %.*s__measure();\n    (void)argc, (void)argv;\n}\n\n"
        "int main(int argc, char **argv)\n{\n"
        "    %.*s_register();\n    return skua_program(argc, argv, %.*s__begin);\n}\n",
        NAME(module), NAME(module), NAME(module));
}

static void put_modules(struct files to, const struct tree *tree)
{
    for (const struct module *module = tree->modules; module; module = module->next) {
        if (module->foreign || !module->name.text.at)
            continue;
        put_registration(to, module);
        put_measuring(to, module);
    }
}

static void put_main_module(struct files to, const struct tree *tree)
{
    for (const struct module *module = tree->modules; module; module = module->next)
        if (module->main && !module->foreign)
            put_main(to.source, module);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static const char made[] = "/* Made by skuac from %s: changes here will be lost. */\n";

static void put_beginning(struct files to, const struct tree *tree, const char *name)
{
    const char *guard = arena_print("%s_H", stem_of_file(name));

    put(to.header, made, name);
    put(to.header, "#ifndef %s\n#define %s\n\n#include <skua/skua.h>\n", guard, guard);
    put(to.source,
        "#include <skua/flow.h>\n#include <skua/interface.h>\n#include <stdlib.h>\n"
        "#include <string.h>\n\n#include \"%s.h\"\n\n",
        name);
    put(to.source, "/* An argument of the wrong type is an error, not a warning; in C++ it is. */\n"
                   "#ifndef __cplusplus\n"
                   "#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n"
                   "#pragma GCC diagnostic error \"-Wint-conversion\"\n"
                   "#endif\n\n");
    for (const struct module *module = tree->modules; module; module = module->next)
        if (!module->foreign)
            for (const struct item *item = module->items; item; item = item->next)
                if (item->kind == ITEM_EXTERN)
                    put_extern(to.header, tree, item);
    put(to.header, "\n");
}

static bool save(const struct writer *writer, const char *path, bool keep)
{
    bool good = writer_save(writer, path, keep);

    if (!good)
        fprintf(stderr, "skuac: %s cannot be written: %s\n", path, strerror(errno));
    return good;
}

/* Replaces a text by what its file shall say. */
static void finish_text(struct writer *text, const char *name)
{
    struct writer finished = writer_finish(text, name);

    writer_free(text);
    *text = finished;
}

void emit_text(const struct tree *tree, struct writer *header, struct writer *source)
{
    const char   *name   = base_name(tree->source->path);
    bool          linked = false;
    struct lines  lines  = {.tree = tree, .stem = stem_of_file(name)};
    struct writer rest   = {NULL, 0, 0};
    struct files  to     = {header, &rest, &lines, &linked};

    *header = *source = (struct writer){NULL, 0, 0};
    put_beginning(to, tree, name);
    link_header(to, true);
    put(&rest, "SKUA_BEGIN_DECLS\n\n");
    for_each_item(to, tree, emit_types);
    for_each_item(to, tree, emit_declaration);
    link_header(to, true);
    for_each_item(to, tree, emit_states);
    put(&rest, "SKUA_END_DECLS\n\n");
    for_each_item(to, tree, emit_code);
    put(&rest, "SKUA_BEGIN_DECLS\n\n");
    for_each_item(to, tree, emit_functions);
    put_modules(to, tree);
    put(header, "\n");
    link_header(to, false);
    put(header, "#endif\n");
    put(&rest, "SKUA_END_DECLS\n\n");
    put_main_module(to, tree);
    put(source, made, name);
    put_all(source, &lines.defines);
    put_all(source, &rest);
    writer_free(&lines.defines);
    writer_free(&rest);
    finish_text(header, arena_print("%s.h", name));
    finish_text(source, arena_print("%s.c", name));
}

bool emit(const struct tree *tree, const char *directory)
{
    const char   *name = base_name(tree->source->path);
    struct writer header, source;
    bool          good;

    emit_text(tree, &header, &source);
    /* The source is as old as the translation, for make; the header as what it says. */
    good = save(&header, arena_print("%s/%s.h", directory, name), true) &&
           save(&source, arena_print("%s/%s.c", directory, name), false);
    writer_free(&header);
    writer_free(&source);
    return good;
}
