/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c - the order in which a tree is checked.
 *
 * First all names are noted, so that files may be written in any order; then structs, on
 * which messages, readonly variables, parameters and states depend; then classes with what
 * they inherit; then the names that will be written, of which there are more by then; then
 * bodies, which need the entries of their classes.  All of it goes on after errors.
 */
#include "checker.h"

#include "arena.h"
#include "check.h"
#include "diagnostic.h"
#include "words.h"

struct symbol *find_symbol(const struct checker *checker, struct text name, enum symbol_kind kind)
{
    struct symbol *symbol = name.length ? map_find(&checker->symbols, name) : NULL;

    return symbol && symbol->kind == kind ? symbol : NULL;
}

/* ---- symbols -------------------------------------------------------------------------------- */

/* Of two with one name the first is found; write_symbol() complains about the second. */
static void add_symbol(struct checker *checker, struct symbol symbol)
{
    struct symbol *kept = ARENA_NEW(struct symbol);

    if (!symbol.name.text.length)
        return;
    check_name(symbol.name);
    *kept = symbol;
    if (checker->last)
        checker->last->next = kept;
    else
        checker->first = kept;
    checker->last = kept;
    map_put(&checker->symbols, symbol.name.text, kept);
}

static void add_readonlys(struct checker *checker, struct field *fields)
{
    for (struct field *f = fields; f; f = f->next) {
        if (text_is(f->name.text, "self"))
            error_name(f->name, "`self' is the object, and cannot be another name");
        add_symbol(checker,
                   (struct symbol){.kind = SYMBOL_READONLY, .name = f->name, .is.readonly = f});
    }
}

static void add_item(struct checker *checker, struct item *item)
{
    switch (item->kind) {
    case ITEM_READONLY: add_readonlys(checker, item->is.readonly); break;
    case ITEM_MESSAGE:
        add_symbol(checker, (struct symbol){.kind       = SYMBOL_MESSAGE,
                                            .name       = item->is.message->name,
                                            .is.message = item->is.message});
        break;
    case ITEM_RECORD:
        add_symbol(checker, (struct symbol){.kind      = SYMBOL_RECORD,
                                            .name      = item->is.record->name,
                                            .is.record = item->is.record});
        break;
    case ITEM_CLASS:
        add_symbol(checker, (struct symbol){.kind     = SYMBOL_CLASS,
                                            .name     = item->is.class->name,
                                            .is.class = item->is.class});
        break;
    case ITEM_EXTERN:
    case ITEM_INCLUDE:
    case ITEM_HASH:
    case ITEM_CODE:
    case ITEM_INIT: break;
    }
}

/* ---- modules --------------------------------------------------------------------------------- */

static void check_mainchare(const struct module *module, const struct class *class,
                            const struct class  *earlier)
{
    if (!module->main) {
        error_name(class->name, "mainchare `%.*s' stands in a module that is not the main one",
                   TEXT(class->name.text));
        hint_at(module->name.place, "make it `mainmodule %.*s', or this a `chare'",
                TEXT(module->name.text));
    } else if (earlier) {
        error_name(class->name, "there is a mainchare already");
        hint_at(earlier->name.place, "it is `%.*s'", TEXT(earlier->name.text));
    }
}

static void check_main(const struct module *module)
{
    const struct class *found = NULL;

    for (const struct item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_CLASS && item->is.class->kind == CLASS_MAINCHARE) {
            check_mainchare(module, item->is.class, found);
            found = item->is.class;
        }
    if (!module->main || found)
        return;
    error_name(module->name, "mainmodule `%.*s' has no mainchare, with which the program begins",
               TEXT(module->name.text));
    hint("declare one, or make it a `module'");
}

static void check_externs(const struct module *module)
{
    for (const struct item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_EXTERN && text_equal(item->is.module.text, module->name.text) &&
            module->name.text.length)
            error_name(item->is.module, "module `%.*s' cannot need itself",
                       TEXT(module->name.text));
}

static void check_one_main(struct checker *checker, const struct module *module)
{
    if (!module->main)
        return;
    if (checker->main) {
        error_name(module->name, "there is a mainmodule already");
        hint_at(checker->main->name.place, "it is `%.*s'", TEXT(checker->main->name.text));
    } else {
        checker->main = module;
    }
}

/* A module is a name of its own: a class may be called the same. */
static void check_module(struct checker *checker, struct module *module)
{
    const struct module *earlier = NULL;

    if (!module->name.text.length)
        return;
    check_name(module->name);
    check_one_main(checker, module);
    check_main(module);
    check_externs(module);
    earlier = map_put(&checker->modules, module->name.text, module);
    if (earlier) {
        error_name(module->name, "there is a module `%.*s' already", TEXT(module->name.text));
        hint_at(earlier->name.place, "declared here");
    } else {
        write_module(checker, module);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void check_modules(struct checker *checker)
{
    for (struct module *module = checker->tree->modules; module; module = module->next) {
        check_module(checker, module);
        for (struct item *item = module->items; item; item = item->next)
            add_item(checker, item);
    }
}

static void check_structs(struct checker *checker)
{
    for (struct symbol *s = checker->first; s; s = s->next)
        if (s->kind == SYMBOL_RECORD) {
            s->progress = PROGRESS_BEGUN;
            check_record(checker, s->is.record);
            s->progress = PROGRESS_DONE;
        }
}

static void check_data(struct checker *checker)
{
    for (struct module *module = checker->tree->modules; module; module = module->next)
        for (struct item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_MESSAGE)
                check_message(checker, item->is.message);
            else if (item->kind == ITEM_READONLY)
                check_readonly(checker, item->is.readonly);
}

static void check_classes(struct checker *checker)
{
    for (struct symbol *s = checker->first; s; s = s->next)
        if (s->kind == SYMBOL_CLASS)
            check_class(checker, s);
}

/* Interfaces first: what is wrong in them is not said again of those who inherit it. */
static void check_bodies(struct checker *checker)
{
    for (int interfaces = 1; interfaces >= 0; interfaces--)
        for (struct symbol *s = checker->first; s; s = s->next)
            if (s->kind == SYMBOL_CLASS &&
                (s->is.class->kind == CLASS_INTERFACE) == (interfaces == 1))
                check_flow(checker, s);
}

/* Whether something in the file may declare a struct in C. */
static bool has_c(const struct tree *tree)
{
    for (const struct module *module = tree->modules; module; module = module->next)
        for (const struct item *item = module->items; item && !module->foreign; item = item->next)
            if (item->kind == ITEM_INCLUDE || item->kind == ITEM_HASH || item->kind == ITEM_CODE ||
                item->kind == ITEM_EXTERN)
                return true;
    return false;
}

bool check(struct tree *tree)
{
    struct checker checker = {.tree = tree, .has_c = has_c(tree)};

    check_modules(&checker);
    note_headers(&checker);
    check_structs(&checker);
    check_data(&checker);
    check_classes(&checker);
    for (const struct symbol *s = checker.first; s; s = s->next)
        write_symbol(&checker, s);
    check_bodies(&checker);
    return error_count() == 0;
}
