/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c - see checker.h: the order of the passes.
 *
 *   1. all names are entered into the symbol table, so that declarations may come in any order
 *   2. structs, on which messages, readonly variables, parameters and states depend
 *   3. messages and readonly variables
 *   4. classes and inheritance
 *   5. generated names, which include those of inherited entries
 *   6. bodies, which need the entries of their classes
 *
 * Every pass continues after errors.
 */
#include "check/checker.h"

#include "check/check.h"
#include "support/diagnostic.h"
#include "syntax/ident.h"

/* ---- symbols ------------------------------------------------------------------------------ */

static void checker_add_readonlys(struct checker *checker, struct ast_field *fields)
{
    for (struct ast_field *f = fields; f; f = f->next) {
        if (text_is(f->name.text, "self"))
            diagnostic_error_name(f->name, "`self' is reserved for the object");
        check_add_symbol(checker, (struct check_symbol){
                                      .kind = SYMBOL_READONLY, .name = f->name, .is.readonly = f});
    }
}

static void checker_add_item(struct checker *checker, struct ast_item *item)
{
    switch (item->kind) {
    case ITEM_READONLY: checker_add_readonlys(checker, item->is.readonly); break;
    case ITEM_MESSAGE:
        check_add_symbol(checker, (struct check_symbol){.kind       = SYMBOL_MESSAGE,
                                                        .name       = item->is.message->name,
                                                        .is.message = item->is.message});
        break;
    case ITEM_RECORD:
        check_add_symbol(checker, (struct check_symbol){.kind      = SYMBOL_RECORD,
                                                        .name      = item->is.record->name,
                                                        .is.record = item->is.record});
        break;
    case ITEM_CLASS:
        check_add_symbol(checker, (struct check_symbol){.kind     = SYMBOL_CLASS,
                                                        .name     = item->is.class->name,
                                                        .is.class = item->is.class});
        break;
    case ITEM_EXTERN:
    case ITEM_INCLUDE:
    case ITEM_DIRECTIVE:
    case ITEM_CODE: break;
    case ITEM_INIT: check_global_name(item->is.function); break;
    }
}

/* ---- modules ------------------------------------------------------------------------------ */

static void checker_mainchare(const struct ast_module *module, const struct ast_class *class,
                              const struct ast_class  *earlier)
{
    if (!module->main) {
        diagnostic_error_name(class->name, "mainchare `%.*s' must be in the mainmodule",
                              TEXT_ARGS(class->name.text));
        diagnostic_note_at(module->name.location,
                           "make the module `mainmodule %.*s', or the class a `chare'",
                           TEXT_ARGS(module->name.text));
    } else if (earlier) {
        diagnostic_error_name(class->name, "duplicate mainchare");
        diagnostic_note_at(earlier->name.location, "the first one is `%.*s'",
                           TEXT_ARGS(earlier->name.text));
    }
}

static void checker_main(const struct ast_module *module)
{
    const struct ast_class *found = NULL;

    for (const struct ast_item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_CLASS && item->is.class->kind == CLASS_MAINCHARE) {
            checker_mainchare(module, item->is.class, found);
            found = item->is.class;
        }
    if (!module->main || found)
        return;
    diagnostic_error_name(module->name, "mainmodule `%.*s' has no mainchare to start the program",
                          TEXT_ARGS(module->name.text));
    diagnostic_hint("declare a `mainchare', or make it a `module'");
}

static void checker_externs(const struct ast_module *module)
{
    for (const struct ast_item *item = module->items; item; item = item->next)
        if (item->kind == ITEM_EXTERN && text_equal(item->is.module.text, module->name.text) &&
            module->name.text.length)
            diagnostic_error_name(item->is.module, "module `%.*s' imports itself",
                                  TEXT_ARGS(module->name.text));
}

static void checker_one_main(struct checker *checker, const struct ast_module *module)
{
    if (!module->main)
        return;
    if (checker->main) {
        diagnostic_error_name(module->name, "duplicate mainmodule");
        diagnostic_note_at(checker->main->name.location, "the first one is `%.*s'",
                           TEXT_ARGS(checker->main->name.text));
    } else {
        checker->main = module;
    }
}

/* Modules have their own name space: a class may have the name of a module. */
static void checker_module(struct checker *checker, struct ast_module *module)
{
    const struct ast_module *earlier = NULL;

    if (!module->name.text.length)
        return;
    check_name(module->name);
    checker_one_main(checker, module);
    checker_main(module);
    checker_externs(module);
    earlier = strmap_put(&checker->modules, module->name.text, module);
    if (earlier) {
        diagnostic_error_name(module->name, "duplicate module `%.*s'",
                              TEXT_ARGS(module->name.text));
        diagnostic_note_at(earlier->name.location, "declared here");
    } else {
        check_reserve_module_names(checker, module);
    }
}

/* ---- directives --------------------------------------------------------------------------- */

/* The conditional directives that are open. */
struct checker_conditions {
    unsigned               depth;
    struct source_location first; /* the outermost one */
    bool                   reported;
};

/* Returns the word of a directive: `ifdef' of `# ifdef X'. */
static struct text checker_directive_word(struct text line)
{
    struct text rest = text_trim((struct text){line.at + 1, line.length - 1});
    size_t      end  = 0;

    while (end < rest.length && text_is_letter(rest.at[end]))
        end++;
    return (struct text){rest.at, end};
}

static void checker_directive(struct checker_conditions *open, const struct ast_item *item)
{
    struct text word = checker_directive_word(item->is.code.text);

    if (text_starts_with(word, "if")) {
        if (open->depth++ == 0) {
            open->first    = item->location;
            open->reported = false;
        }
    } else if (text_is(word, "endif") && open->depth > 0) {
        open->depth--;
    }
}

/* Directives are copied to the header, so a condition would reach only a part of what is generated
 * for a declaration. */
static void checker_conditions(const struct ast_tree *tree)
{
    struct checker_conditions open = {0};

    for (const struct ast_module *module = tree->modules; module; module = module->next)
        for (const struct ast_item *item = module->items; item && !module->imported;
             item                        = item->next) {
            if (item->kind == ITEM_DIRECTIVE)
                checker_directive(&open, item);
            if (item->kind == ITEM_DIRECTIVE || item->kind == ITEM_INCLUDE || !open.depth ||
                open.reported)
                continue;
            open.reported = true;
            diagnostic_error_at(item->location, 1,
                                "conditional directives cannot enclose declarations, of which only "
                                "a part is generated where the directive is");
            diagnostic_hint("enclose includes only, or write the directives inside `code { }'");
            diagnostic_note_at(open.first, "the condition begins here");
        }
}

/* ---- passes ------------------------------------------------------------------------------- */

static void checker_modules(struct checker *checker)
{
    for (struct ast_module *module = checker->tree->modules; module; module = module->next) {
        checker_module(checker, module);
        for (struct ast_item *item = module->items; item; item = item->next)
            checker_add_item(checker, item);
    }
}

static void checker_structs(struct checker *checker)
{
    for (struct check_symbol *s = checker->first; s; s = s->next)
        if (s->kind == SYMBOL_RECORD) {
            s->progress = PROGRESS_BEGUN;
            check_record(checker, s->is.record);
            s->progress = PROGRESS_DONE;
        }
}

static void checker_data(struct checker *checker)
{
    for (struct ast_module *module = checker->tree->modules; module; module = module->next)
        for (struct ast_item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_MESSAGE)
                check_message(checker, item->is.message);
            else if (item->kind == ITEM_READONLY)
                check_readonly(checker, item->is.readonly);
}

static void checker_classes(struct checker *checker)
{
    for (struct check_symbol *s = checker->first; s; s = s->next)
        if (s->kind == SYMBOL_CLASS)
            check_class(checker, s);
}

/* Interfaces come first, so that errors in them are not repeated for each class that inherits
 * them. */
static void checker_bodies(struct checker *checker)
{
    for (int interfaces = 1; interfaces >= 0; interfaces--)
        for (struct check_symbol *s = checker->first; s; s = s->next)
            if (s->kind == SYMBOL_CLASS &&
                (s->is.class->kind == CLASS_INTERFACE) == (interfaces == 1))
                check_flow(checker, s);
}

/* Returns whether the file contains C that may declare a struct. */
static bool checker_has_c(const struct ast_tree *tree)
{
    for (const struct ast_module *m = tree->modules; m; m = m->next)
        for (const struct ast_item *item = m->items; item && !m->imported; item = item->next)
            if (item->kind == ITEM_INCLUDE || item->kind == ITEM_DIRECTIVE ||
                item->kind == ITEM_CODE || item->kind == ITEM_EXTERN)
                return true;
    return false;
}

bool check_tree(struct ast_tree *tree)
{
    struct checker checker = {.tree = tree, .has_c = checker_has_c(tree)};

    checker_conditions(tree);
    checker_modules(&checker);
    check_note_headers(&checker);
    checker_structs(&checker);
    checker_data(&checker);
    checker_classes(&checker);
    for (const struct check_symbol *s = checker.first; s; s = s->next)
        check_reserve_symbol_names(&checker, s);
    checker_bodies(&checker);
    return diagnostic_error_count() == 0;
}
