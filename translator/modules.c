/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.c - see modules.h.
 *
 * Depth first: the modules of a file are added when all that it names have been.  A file that
 * is met while it is still being read names, in the end, itself.  Files are told apart by
 * what they are, not by their paths.
 */
#include "modules.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arena.h"
#include "diagnostic.h"
#include "parser.h"
#include "source.h"
#include "text.h"

#define NAMES 1000 /* files that are looked at for a misspelt name */

struct file {
    struct file *next;
    struct tree *tree;
    struct name  from; /* the name by which it was asked for */
    dev_t        device;
    ino_t        inode;
    bool         reading;
};

struct loading {
    char *const    *folders;
    struct file    *files;
    struct needed **needed;
    struct module **added; /* where the next module goes */
};

static void load_named(struct loading *loading, struct file *file);

/* ---- finding files ------------------------------------------------------------------------- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_string(text_between(path, slash + 1)) : arena_print("%s", "");
}

static char *path_in(const char *folder, struct text name)
{
    size_t      length = strlen(folder);
    const char *slash  = length && folder[length - 1] != '/' ? "/" : "";

    return arena_print("%s%s%.*s.ci", folder, slash, (int)name.length, name.at);
}

static bool is_file(const char *path)
{
    struct stat info;

    return !stat(path, &info) && !S_ISDIR(info.st_mode);
}

/* The path of M.ci; NULL: it is nowhere. */
static char *find(const struct loading *loading, const struct file *file, struct text name)
{
    char *path = path_in(folder_of(file->tree->source->path), name);

    if (is_file(path))
        return path;
    for (char *const *folder = loading->folders; *folder; folder++) {
        path = path_in(*folder, name);
        if (is_file(path))
            return path;
    }
    return NULL;
}

/* ---- what is missing ------------------------------------------------------------------------ */

/* Adds the names of the interface files in a folder. */
static void list_folder(const char *path, const char **names, unsigned *count)
{
    DIR           *folder = opendir(*path ? path : ".");
    struct dirent *entry;

    while (folder && (entry = readdir(folder)) && *count < NAMES) {
        size_t length = strlen(entry->d_name);

        if (length > 3 && !strcmp(entry->d_name + length - 3, ".ci"))
            names[(*count)++] = arena_string((struct text){entry->d_name, length - 3});
    }
    if (folder)
        closedir(folder);
}

static void list_modules(const struct tree *tree, const char **names, unsigned *count)
{
    for (const struct module *module = tree->modules; module; module = module->next)
        if (module->name.text.at && *count < NAMES)
            names[(*count)++] = arena_string(module->name.text);
}

static void not_found(const struct loading *loading, const struct file *file, struct name name)
{
    const char **names = arena_alloc((NAMES + 1) * sizeof *names), *near;
    unsigned     count = 0;

    list_modules(file->tree, names, &count);
    list_folder(folder_of(file->tree->source->path), names, &count);
    for (char *const *folder = loading->folders; *folder; folder++)
        list_folder(*folder, names, &count);
    near = nearest(name.text, names);
    error_name(name, "there is no module `%.*s'", (int)name.text.length, name.text.at);
    if (near)
        hint("did you mean `%s'?", near);
    else
        hint("%.*s.ci is neither beside this file nor in a folder that -I names",
             (int)name.text.length, name.text.at);
}

/* ---- reading files -------------------------------------------------------------------------- */

static bool has_module(const struct tree *tree, struct text name)
{
    for (const struct module *module = tree->modules; module; module = module->next)
        if (module->name.text.at && text_equal(module->name.text, name))
            return true;
    return false;
}

static struct file *new_file(struct loading *loading, struct tree *tree, struct name from)
{
    struct file *file = ARENA_NEW(struct file);
    struct stat  info = {0};

    stat(tree->source->path, &info);
    *file = (struct file){loading->files, tree, from, info.st_dev, info.st_ino, true};

    loading->files = file;
    return file;
}

static struct file *known(const struct loading *loading, const char *path)
{
    struct stat  info;
    struct file *file = loading->files;

    if (stat(path, &info))
        return NULL;
    while (file && (file->device != info.st_dev || file->inode != info.st_ino))
        file = file->next;
    return file;
}

/* Its modules are there for others; what stands outside of them is its own affair. */
static void add_modules(struct loading *loading, const struct tree *tree)
{
    for (struct module *module = tree->modules, *next; module; module = next) {
        next = module->next;
        if (!module->name.text.at)
            continue;
        module->foreign = true;
        module->next    = *loading->added;
        *loading->added = module;
        loading->added  = &module->next;
    }
}

static void load_file(struct loading *loading, const char *path, struct name name)
{
    struct source *source = source_read(path);
    struct file   *file;

    if (!source) {
        error_name(name, "%s: %s", path, strerror(errno));
        return;
    }
    *loading->needed         = ARENA_NEW(struct needed);
    (*loading->needed)->path = path;
    loading->needed          = &(*loading->needed)->next;

    file = new_file(loading, parse(source), name);
    load_named(loading, file);
    file->reading = false;
    if (!has_module(file->tree, name.text))
        error_name(name, "%s has no module `%.*s'", path, (int)name.text.length, name.text.at);
    add_modules(loading, file->tree);
}

static void load_module(struct loading *loading, const struct file *file, struct name name)
{
    char        *path;
    struct file *before;

    if (has_module(file->tree, name.text))
        return;
    path = find(loading, file, name.text);
    if (!path) {
        not_found(loading, file, name);
        return;
    }
    before = known(loading, path);
    if (!before) {
        load_file(loading, path, name);
    } else if (before->reading) {
        error_name(name, "module `%.*s' uses this file, which cannot use it as well",
                   (int)name.text.length, name.text.at);
        if (file->from.text.at)
            hint_at(file->from.place, "it is used from here");
    }
}

/* All that the modules of a file name. */
static void load_named(struct loading *loading, struct file *file)
{
    for (struct module *module = file->tree->modules; module; module = module->next)
        for (struct item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_EXTERN)
                load_module(loading, file, item->is.module);
}

struct needed *modules_load(struct tree *tree, char *const *folders)
{
    struct module *own = tree->modules, *foreign = NULL;
    struct needed *needed  = NULL;
    struct loading loading = {.folders = folders, .needed = &needed, .added = &foreign};

    load_named(&loading, new_file(&loading, tree, (struct name){0}));
    *loading.added = own;
    tree->modules  = foreign;
    return needed;
}

void modules_add(struct tree *tree, const struct tree *other)
{
    struct module *foreign = NULL;
    struct loading loading = {.added = &foreign};

    add_modules(&loading, other);
    *loading.added = tree->modules;
    tree->modules  = foreign;
}
