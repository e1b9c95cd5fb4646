/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imports.c - see imports.h.
 *
 * Depth first: the modules of a file are added after those of all files that it imports.  A file
 * that is reached again while it is still being read imports itself indirectly: an error.  Files
 * are identified by device and inode, not by path.
 */
#include "imports.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "support/text.h"
#include "syntax/parse_file.h"

#define SUGGESTIONS_MAX 1000 /* files considered for a suggestion */

struct import_file {
    struct import_file *next;
    struct ast_tree    *tree;
    struct source_name  from; /* the `extern module` that requested it */
    dev_t               device;
    ino_t               inode;
    bool                reading;
};

struct import_state {
    char *const        *folders;
    struct import_file *files;
    struct import     **imports;
    struct ast_module **added; /* where the next imported module is linked */
};

static void imports_load_named(struct import_state *state, struct import_file *file);

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
static char *imports_find(const struct import_state *state, const struct import_file *file,
                          struct text name)
{
    char *path = imports_path_in(imports_folder_of(file->tree->source->path), name);

    if (imports_is_file(path))
        return path;
    for (char *const *folder = state->folders; *folder; folder++) {
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

    while (folder && (entry = readdir(folder)) && *count < SUGGESTIONS_MAX) {
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
        if (module->name.text.at && *count < SUGGESTIONS_MAX)
            names[(*count)++] = bump_string(module->name.text);
}

static void imports_not_found(const struct import_state *state, const struct import_file *file,
                              struct source_name name)
{
    const char **names = bump_alloc((SUGGESTIONS_MAX + 1) * sizeof *names), *suggestion;
    unsigned     count = 0;

    imports_list_modules(file->tree, names, &count);
    imports_list_folder(imports_folder_of(file->tree->source->path), names, &count);
    for (char *const *folder = state->folders; *folder; folder++)
        imports_list_folder(*folder, names, &count);
    suggestion = diagnostic_nearest(name.text, names);
    diagnostic_error_name(name, "unknown module `%.*s'", (int)name.text.length, name.text.at);
    if (suggestion)
        diagnostic_hint("did you mean `%s'?", suggestion);
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

static struct import_file *imports_new_file(struct import_state *state, struct ast_tree *tree,
                                            struct source_name from)
{
    struct import_file *file = BUMP_NEW(struct import_file);
    struct stat         info = {0};

    stat(tree->source->path, &info);
    *file = (struct import_file){state->files, tree, from, info.st_dev, info.st_ino, true};

    state->files = file;
    return file;
}

static struct import_file *imports_known_file(const struct import_state *state, const char *path)
{
    struct stat         info;
    struct import_file *file = state->files;

    if (stat(path, &info))
        return NULL;
    while (file && (file->device != info.st_dev || file->inode != info.st_ino))
        file = file->next;
    return file;
}

/* Only named modules are imported; directives and includes outside of modules are private to the
 * file. */
static void imports_add_modules(struct import_state *state, const struct ast_tree *tree)
{
    for (struct ast_module *module = tree->modules, *next; module; module = next) {
        next = module->next;
        if (!module->name.text.at)
            continue;
        assert(!module->imported);
        module->imported = true;
        module->next     = *state->added;
        *state->added    = module;
        state->added     = &module->next;
    }
}

static void imports_load_file(struct import_state *state, const char *path, struct source_name name)
{
    struct source      *source = source_read(path);
    struct import_file *file;

    if (!source) {
        diagnostic_error_name(name, "%s: %s", path, strerror(errno));
        return;
    }
    *state->imports         = BUMP_NEW(struct import);
    (*state->imports)->path = path;
    state->imports          = &(*state->imports)->next;

    file = imports_new_file(state, parse_file(source), name);
    imports_load_named(state, file);
    assert(file->reading);
    file->reading = false;
    if (!imports_has_module(file->tree, name.text))
        diagnostic_error_name(name, "%s has no module `%.*s'", path, (int)name.text.length,
                              name.text.at);
    imports_add_modules(state, file->tree);
}

static void imports_load_module(struct import_state *state, const struct import_file *file,
                                struct source_name name)
{
    char               *path;
    struct import_file *before;

    if (imports_has_module(file->tree, name.text))
        return;
    path = imports_find(state, file, name.text);
    if (!path) {
        imports_not_found(state, file, name);
        return;
    }
    before = imports_known_file(state, path);
    if (!before) {
        imports_load_file(state, path, name);
    } else if (before->reading) {
        diagnostic_error_name(name, "import cycle: module `%.*s' imports this file",
                              (int)name.text.length, name.text.at);
        if (file->from.text.at)
            diagnostic_note_at(file->from.location, "this file is imported here");
    }
}

/* Loads everything that the modules of a file import. */
static void imports_load_named(struct import_state *state, struct import_file *file)
{
    for (struct ast_module *module = file->tree->modules; module; module = module->next)
        for (struct ast_item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_EXTERN)
                imports_load_module(state, file, item->is.module);
}

struct import *imports_load(struct ast_tree *tree, char *const *folders)
{
    struct ast_module  *own = tree->modules, *foreign = NULL;
    struct import      *imports = NULL;
    struct import_state state   = {.folders = folders, .imports = &imports, .added = &foreign};

    imports_load_named(&state, imports_new_file(&state, tree, (struct source_name){0}));
    *state.added  = own;
    tree->modules = foreign;
    return imports;
}

void imports_add(struct ast_tree *tree, const struct ast_tree *other)
{
    struct ast_module  *foreign = NULL;
    struct import_state state   = {.added = &foreign};

    imports_add_modules(&state, other);
    *state.added  = tree->modules;
    tree->modules = foreign;
}
