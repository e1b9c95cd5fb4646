/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_classes.c - classes and inheritance.
 *
 * A class is checked after the interfaces that it inherits, whatever their order in the file, so
 * that what it inherits is complete.  It gets a copy of each of their entries except those that it
 * declares itself.
 */
#include "check/check.h"

#include <assert.h>
#include <string.h>

#include "ast/ast_copy.h"
#include "support/bump.h"
#include "support/diagnostic.h"
#include "syntax/ident.h"

/* ---- constructor and destructor ----------------------------------------------------------- */

static const char *check_class_special_noun(const struct ast_entry *entry)
{
    return entry->kind == ENTRY_CONSTRUCTOR ? "constructor" : "destructor";
}

/* The parser ensures that constructors and destructors have the name of the class. */
static void check_class_special(const struct ast_class *class, const struct ast_entry *entry,
                                const struct ast_entry *earlier)
{
    if (class->kind == CLASS_INTERFACE) {
        diagnostic_error_name(entry->name,
                              "an interface cannot have a %s, because it has no objects",
                              check_class_special_noun(entry));
        return;
    }
    if (entry->kind == ENTRY_DESTRUCTOR && entry->body)
        diagnostic_error_name(entry->name,
                              "a destructor cannot have a body: define it as a C function");
    if (earlier) {
        diagnostic_error_name(entry->name, "`%.*s' has two %ss", TEXT_ARGS(class->name.text),
                              check_class_special_noun(entry));
        if (entry->kind == ENTRY_CONSTRUCTOR)
            diagnostic_hint("declare one with all parameters; none is needed for migration");
        diagnostic_note_at(earlier->name.location, "the first one is here");
    }
}

/* Elements are found by the bytes of their index. */
static void check_class_index(struct checker *checker, struct ast_class *class)
{
    struct source_code       index  = class->index;
    const struct ast_record *record = check_record_of(checker, index);

    if (!index.text.length || !check_stored_type(checker, index, 0, "the index", true, false))
        return;
    if ((record && record->deep) || memchr(index.text.at, '*', index.text.length) ||
        check_type_is(index, "string") || check_type_is(index, "void") ||
        check_message_of(checker, index) ||
        check_find_symbol(checker, check_type_name(index), SYMBOL_CLASS)) {
        diagnostic_error_at(index.location, (unsigned)index.text.length,
                            "`%.*s' cannot be an index: elements are found by the bytes of theirs",
                            TEXT_ARGS(index.text));
        diagnostic_hint("use an integer, or a struct of integers");
        return;
    }
    class->index_record = record;
}

static void check_class_own_entries(struct checker *checker, struct ast_class *class)
{
    const struct ast_entry *special[ENTRY_DESTRUCTOR + 1] = {NULL};

    checker->unit = class;
    check_class_index(checker, class);
    for (struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        entry->of = class;
        if (!entry->name.text.length)
            continue;
        if (entry->kind != ENTRY_METHOD) {
            check_class_special(class, entry, special[entry->kind]);
            special[entry->kind] = entry;
        }
        check_entry(checker, class, entry);
    }
}

/* ---- inheritance -------------------------------------------------------------------------- */

static void check_class_unknown_base(const struct checker *checker, const struct ast_base *base)
{
    const struct check_symbol *other = strmap_find(&checker->symbols, base->name.text);
    const char *suggestion           = check_nearest_symbol(checker, base->name.text, SYMBOL_CLASS);

    diagnostic_error_name(base->name, "unknown interface `%.*s'", TEXT_ARGS(base->name.text));
    if (other)
        diagnostic_note_at(other->name.location, "`%.*s' is a %s", TEXT_ARGS(base->name.text),
                           check_symbol_noun(other));
    else if (suggestion)
        diagnostic_hint("did you mean `%s'?", suggestion);
}

/* Finds and checks a base.  Returns NULL if it cannot be inherited. */
static const struct ast_class *check_class_complete_base(struct checker        *checker,
                                                         const struct ast_base *base)
{
    struct check_symbol *symbol = check_find_symbol(checker, base->name.text, SYMBOL_CLASS);

    if (!symbol) {
        check_class_unknown_base(checker, base);
        return NULL;
    }
    if (symbol->is.class->kind != CLASS_INTERFACE) {
        diagnostic_error_name(base->name, "`%.*s' is %s %s: only an interface can be inherited",
                              TEXT_ARGS(base->name.text),
                              symbol->is.class->kind == CLASS_ARRAY ? "an" : "a",
                              ast_class_kind_names[symbol->is.class->kind]);
        diagnostic_note_at(symbol->name.location, "declared here");
        return NULL;
    }
    if (symbol->progress == PROGRESS_BEGUN) {
        diagnostic_error_name(base->name, "interface `%.*s' inherits itself",
                              TEXT_ARGS(base->name.text));
        return NULL;
    }
    check_class(checker, symbol);
    return symbol->is.class;
}

static struct ast_entry *check_class_find_method(const struct strmap    *methods,
                                                 const struct ast_entry *entry)
{
    return strmap_find(methods, entry->name.text);
}

/* Compares an entry of the class with the inherited entry of the same name. */
static void check_class_override(const struct ast_class *class, struct ast_entry *own,
                                 const struct ast_entry *inherited)
{
    struct source_name at = own->of == class ? own->name : class->name;

    if (!check_same_parameters(own->parameters, inherited->parameters) ||
        !check_same_type(own->result, own->result_stars, inherited->result,
                         inherited->result_stars)) {
        diagnostic_error_name(at, "`%.*s' is declared differently in interface `%.*s'",
                              TEXT_ARGS(own->name.text), TEXT_ARGS(inherited->of->name.text));
        if (own->of != class)
            diagnostic_note_at(own->name.location, "inherited from interface `%.*s'",
                               TEXT_ARGS(own->of->name.text));
        diagnostic_note_at(inherited->name.location, "declared here");
        return;
    }
    if (own->of == class && !own->attributes) {
        own->attributes = inherited->attributes;
        own->aggregate  = inherited->aggregate;
    } else if (own->attributes != inherited->attributes) {
        diagnostic_error_name(at, "`%.*s' has different attributes in interface `%.*s'",
                              TEXT_ARGS(own->name.text), TEXT_ARGS(inherited->of->name.text));
        diagnostic_note_at(inherited->name.location, "declared here");
    }
}

static void check_class_inherit(struct ast_class *class, struct strmap *methods,
                                const struct ast_class *base)
{
    struct ast_entry **end = &class->entries;

    while (*end)
        end = &(*end)->next;
    for (const struct ast_entry *entry = base->entries; entry; entry = entry->next) {
        struct ast_entry *own = check_class_find_method(methods, entry);

        if (entry->kind != ENTRY_METHOD || !entry->name.text.length)
            continue;
        if (own) {
            check_class_override(class, own, entry);
            continue;
        }
        *end = ast_copy_entry(entry);
        strmap_put(methods, entry->name.text, *end);
        end = &(*end)->next;
    }
}

/* Adds the bases of bases: Circle_as_Shape() exists if a Circle is a Round and a Round is a
 * Shape. */
static void check_class_add_indirect_bases(struct ast_class *class, struct strmap *bases)
{
    struct ast_base **end = &class->bases;

    while (*end)
        end = &(*end)->next;
    for (const struct ast_base *base = class->bases; base; base = base->next) {
        const struct ast_base *indirect = base->class ? base->class->bases : NULL;

        for (; indirect; indirect = indirect->next) {
            struct ast_base *added = BUMP_NEW(struct ast_base);

            if (!indirect->class || strmap_put(bases, indirect->name.text, added))
                continue;
            *added = (struct ast_base){.name = indirect->name, .class = indirect->class};
            *end   = added;
            end    = &added->next;
        }
    }
}

static void check_class_bases(struct checker *checker, struct ast_class *class)
{
    struct strmap methods = {0}, bases = {0};

    for (struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_METHOD && entry->name.text.length)
            strmap_put(&methods, entry->name.text, entry);
    for (struct ast_base *base = class->bases; base; base = base->next) {
        if (!base->name.text.length)
            continue;
        if (strmap_put(&bases, base->name.text, base)) {
            diagnostic_error_name(base->name, "`%.*s' is inherited twice",
                                  TEXT_ARGS(base->name.text));
            continue;
        }
        base->class = check_class_complete_base(checker, base);
        if (base->class)
            check_class_inherit(class, &methods, base->class);
    }
    check_class_add_indirect_bases(class, &bases);
}

/* ---- classes ------------------------------------------------------------------------------ */

static void check_class_struct(struct checker *checker, const struct ast_class *class)
{
    if (class->has_state || class->kind == CLASS_INTERFACE || checker->has_c ||
        class->location.source != checker->tree->source)
        return;
    diagnostic_warning_at(class->name.location, (unsigned)class->name.text.length,
                          "`%.*s' has no `state', and no included header can declare its struct",
                          TEXT_ARGS(class->name.text));
    diagnostic_hint("write `state { }' if its objects have no data");
    checker->has_c = true; /* one warning is enough */
}

static void check_class_shape(const struct ast_class *class)
{
    if (class->kind == CLASS_ARRAY && !class->index.text.length &&
        (class->dims < 1 || class->dims > 6))
        diagnostic_error_name(class->name, "an array must have 1 to 6 dimensions");
    if (class->kind == CLASS_INTERFACE && class->has_state)
        diagnostic_error_at(class->state_location, 5, "an interface cannot have a state");
    if (class->attributes & (CLASS_BY_POINTER | CLASS_MOVED) && class->kind != CLASS_ARRAY &&
        class->kind != CLASS_CHARE)
        diagnostic_error_name(class->name, "`bypointer' and `moved' are for objects that migrate: "
                                           "those of arrays and chares");
    if (class->attributes & CLASS_MIGRATABLE && class->has_state) {
        diagnostic_warning_at(
            class->location, 1,
            "`migratable' is redundant: objects with a `state', such as `%.*s', can always migrate",
            TEXT_ARGS(class->name.text));
    }
}

void check_class(struct checker *checker, struct check_symbol *symbol)
{
    struct ast_class *class = symbol->is.class;

    if (symbol->progress != PROGRESS_NONE)
        return;
    symbol->progress = PROGRESS_BEGUN;
    check_class_shape(class);
    check_class_struct(checker, class);
    check_class_own_entries(checker, class);
    check_class_bases(checker, class);
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        check_entry_kind(class, entry);
    checker->unit = class; /* checking the bases has changed it */
    check_state(checker, class);
    assert(symbol->progress == PROGRESS_BEGUN);
    symbol->progress = PROGRESS_DONE;
}
