/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imports.c - see imports.h.
 *
 * Depth first: the modules of a file are added after those of all files that it imports.  A file
 * that is reached again while it is still being read imports itself indirectly: an error.  Files
 * are identified by device and inode, not by path.
 */
#include "imports.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "syntax/parse_file.h"
#include "support/source.h"
#include "support/text.h"

#define NAMES 1000 /* files considered for a suggestion */

struct import_file {
    struct import_file *next;
    struct ast_tree    *tree;
    struct source_name  from; /* the `extern module` that asked for it */
    dev_t               device;
    ino_t               inode;
    bool                reading;
};

struct import_state {
    char *const        *folders;
    struct import_file *files;
    struct import     **needed;
    struct ast_module **added; /* where the next imported module is linked */
};

static void imports_load_named(struct import_state *loading, struct import_file *file);

/* ---- finding files ------------------------------------------------------------------------ */

static char *imports_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? bump_string(text_between(path, slash + 1)) : bump_printf("%s", "");
}

static char *imports_path_in(const char *folder, struct text name)
{
    size_t      length = strlen(folder);
    const char *slash  = length && folder[length - 1] != '/' ? "/" : "";

    return bump_printf("%s%s%.*s.ci", folder, slash, (int)name.length, name.at);
}

static bool imports_is_file(const char *path)
{
    struct stat info;

    return !stat(path, &info) && !S_ISDIR(info.st_mode);
}

/* Returns the path of M.ci, or NULL if there is none. */
static char *imports_find(const struct import_state *loading, const struct import_file *file,
                          struct text name)
{
    char *path = imports_path_in(imports_folder_of(file->tree->source->path), name);

    if (imports_is_file(path))
        return path;
    for (char *const *folder = loading->folders; *folder; folder++) {
        path = imports_path_in(*folder, name);
        if (imports_is_file(path))
            return path;
    }
    return NULL;
}

/* ---- missing modules ---------------------------------------------------------------------- */

/* Adds the names of the interface files in a folder. */
static void imports_list_folder(const char *path, const char **names, unsigned *count)
{
    DIR           *folder = opendir(*path ? path : ".");
    struct dirent *entry;

    while (folder && (entry = readdir(folder)) && *count < NAMES) {
        size_t length = strlen(entry->d_name);

        if (length > 3 && !strcmp(entry->d_name + length - 3, ".ci"))
            names[(*count)++] = bump_string((struct text){entry->d_name, length - 3});
    }
    if (folder)
        closedir(folder);
}

static void imports_list_modules(const struct ast_tree *tree, const char **names, unsigned *count)
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        if (module->name.text.at && *count < NAMES)
            names[(*count)++] = bump_string(module->name.text);
}

static void imports_not_found(const struct import_state *loading, const struct import_file *file,
                              struct source_name name)
{
    const char **names = bump_alloc((NAMES + 1) * sizeof *names), *near;
    unsigned     count = 0;

    imports_list_modules(file->tree, names, &count);
    imports_list_folder(imports_folder_of(file->tree->source->path), names, &count);
    for (char *const *folder = loading->folders; *folder; folder++)
        imports_list_folder(*folder, names, &count);
    near = diagnostic_nearest(name.text, names);
    diagnostic_error_name(name, "unknown module `%.*s'", (int)name.text.length, name.text.at);
    if (near)
        diagnostic_hint("did you mean `%s'?", near);
    else
        diagnostic_hint(
            "%.*s.ci is neither in the folder of this file nor in a folder given with -I",
            (int)name.text.length, name.text.at);
}

/* ---- reading files ------------------------------------------------------------------------ */

static bool imports_has_module(const struct ast_tree *tree, struct text name)
{
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        if (module->name.text.at && text_equal(module->name.text, name))
            return true;
    return false;
}

static struct import_file *imports_new_file(struct import_state *loading, struct ast_tree *tree,
                                            struct source_name from)
{
    struct import_file *file = BUMP_NEW(struct import_file);
    struct stat         info = {0};

    stat(tree->source->path, &info);
    *file = (struct import_file){loading->files, tree, from, info.st_dev, info.st_ino, true};

    loading->files = file;
    return file;
}

static struct import_file *imports_known_file(const struct import_state *loading, const char *path)
{
    struct stat         info;
    struct import_file *file = loading->files;

    if (stat(path, &info))
        return NULL;
    while (file && (file->device != info.st_dev || file->inode != info.st_ino))
        file = file->next;
    return file;
}

/* Only named modules are imported; directives and includes outside of modules are private to the
 * file. */
static void imports_add_modules(struct import_state *loading, const struct ast_tree *tree)
{
    for (struct ast_module *module = tree->modules, *next; module; module = next) {
        next = module->next;
        if (!module->name.text.at)
            continue;
        module->imported = true;
        module->next     = *loading->added;
        *loading->added  = module;
        loading->added   = &module->next;
    }
}

static void imports_load_file(struct import_state *loading, const char *path,
                              struct source_name name)
{
    struct source      *source = source_read(path);
    struct import_file *file;

    if (!source) {
        diagnostic_error_name(name, "%s: %s", path, strerror(errno));
        return;
    }
    *loading->needed         = BUMP_NEW(struct import);
    (*loading->needed)->path = path;
    loading->needed          = &(*loading->needed)->next;

    file = imports_new_file(loading, parse_file(source), name);
    imports_load_named(loading, file);
    file->reading = false;
    if (!imports_has_module(file->tree, name.text))
        diagnostic_error_name(name, "%s has no module `%.*s'", path, (int)name.text.length,
                              name.text.at);
    imports_add_modules(loading, file->tree);
}

static void imports_load_module(struct import_state *loading, const struct import_file *file,
                                struct source_name name)
{
    char               *path;
    struct import_file *before;

    if (imports_has_module(file->tree, name.text))
        return;
    path = imports_find(loading, file, name.text);
    if (!path) {
        imports_not_found(loading, file, name);
        return;
    }
    before = imports_known_file(loading, path);
    if (!before) {
        imports_load_file(loading, path, name);
    } else if (before->reading) {
        diagnostic_error_name(name, "import cycle: module `%.*s' imports this file",
                              (int)name.text.length, name.text.at);
        if (file->from.text.at)
            diagnostic_note_at(file->from.location, "this file is imported here");
    }
}

/* Loads everything that the modules of a file import. */
static void imports_load_named(struct import_state *loading, struct import_file *file)
{
    for (struct ast_module *module = file->tree->modules; module; module = module->next)
        for (struct ast_item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_EXTERN)
                imports_load_module(loading, file, item->is.module);
}

struct import *imports_load(struct ast_tree *tree, char *const *folders)
{
    struct ast_module  *own = tree->modules, *foreign = NULL;
    struct import      *needed  = NULL;
    struct import_state loading = {.folders = folders, .needed = &needed, .added = &foreign};

    imports_load_named(&loading, imports_new_file(&loading, tree, (struct source_name){0}));
    *loading.added = own;
    tree->modules  = foreign;
    return needed;
}

void imports_add(struct ast_tree *tree, const struct ast_tree *other)
{
    struct ast_module  *foreign = NULL;
    struct import_state loading = {.added = &foreign};

    imports_add_modules(&loading, other);
    *loading.added = tree->modules;
    tree->modules  = foreign;
}
