/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_classes.c - classes and what they inherit.
 *
 * A class is looked at after the interfaces that it inherits, whatever their order in the
 * file: so what it gets from them is complete.  It gets a copy of each of their entries,
 * but for those that it declares itself.
 */
#include "check.h"

#include "arena.h"
#include "copy.h"
#include "diagnostic.h"
#include "words.h"

static const char *kind_noun(const struct class *class)
{
    static const char *const nouns[] = {
        [CLASS_MAINCHARE] = "mainchare", [CLASS_CHARE] = "chare", [CLASS_GROUP] = "group",
        [CLASS_NODEGROUP] = "nodegroup", [CLASS_ARRAY] = "array", [CLASS_INTERFACE] = "interface"};

    return nouns[class->kind];
}

/* ---- constructor and destructor ----------------------------------------------------------------
 */

static const char *special_noun(const struct entry *entry)
{
    return entry->kind == ENTRY_CONSTRUCTOR ? "constructor" : "destructor";
}

/* That it has the name of the class, the parser has seen to. */
static void check_special(const struct class *class, const struct entry *entry,
                          const struct entry *earlier)
{
    if (class->kind == CLASS_INTERFACE) {
        error_name(entry->name, "an interface has no %s: it has no objects of its own",
                   special_noun(entry));
        return;
    }
    if (entry->kind == ENTRY_DESTRUCTOR && entry->body)
        error_name(entry->name, "a destructor has no body: it is a function of yours");
    if (earlier) {
        error_name(entry->name, "`%.*s' has two %ss", TEXT(class->name.text), special_noun(entry));
        hint_at(earlier->name.place, "the other is here");
    }
}

static void check_own_entries(struct checker *checker, struct class *class)
{
    const struct entry *special[ENTRY_DESTRUCTOR + 1] = {NULL};

    checker->unit = class;
    check_type_names(checker, class->index, 0);
    for (struct entry *entry = class->entries; entry; entry = entry->next) {
        entry->of = class;
        if (!entry->name.text.length)
            continue;
        if (entry->kind != ENTRY_METHOD) {
            check_special(class, entry, special[entry->kind]);
            special[entry->kind] = entry;
        }
        check_entry(checker, class, entry);
    }
}

/* ---- inheritance ------------------------------------------------------------------------------
 */

static void unknown_base(const struct checker *checker, const struct base *base)
{
    const struct symbol *other = map_find(&checker->symbols, base->name.text);
    const char          *near  = nearest_symbol(checker, base->name.text, SYMBOL_CLASS);

    error_name(base->name, "there is no interface `%.*s'", TEXT(base->name.text));
    if (other)
        hint_at(other->name.place, "it is a %s", symbol_noun(other));
    else if (near)
        hint("did you mean `%s'?", near);
}

/* Find a base, and complete it; NULL: it cannot be one. */
static const struct class *complete_base(struct checker *checker, const struct base *base)
{
    struct symbol *symbol = find_symbol(checker, base->name.text, SYMBOL_CLASS);

    if (!symbol) {
        unknown_base(checker, base);
        return NULL;
    }
    if (symbol->is.class->kind != CLASS_INTERFACE) {
        error_name(base->name, "`%.*s' is not an interface, but %s %s: inherit an interface",
                   TEXT(base->name.text), symbol->is.class->kind == CLASS_ARRAY ? "an" : "a",
                   kind_noun(symbol->is.class));
        hint_at(symbol->name.place, "declared here");
        return NULL;
    }
    if (symbol->progress == PROGRESS_BEGUN) {
        error_name(base->name, "interface `%.*s' would inherit itself", TEXT(base->name.text));
        return NULL;
    }
    check_class(checker, symbol);
    return symbol->is.class;
}

static struct entry *find_method(const struct map *methods, const struct entry *entry)
{
    return map_find(methods, entry->name.text);
}

/* The class has such an entry already: is it the same? */
static void check_override(const struct class *class, struct entry *own,
                           const struct entry *inherited)
{
    struct name at = own->of == class ? own->name : class->name;

    if (!same_parameters(own->parameters, inherited->parameters) ||
        !same_type(own->result, own->result_stars, inherited->result, inherited->result_stars)) {
        error_name(at, "`%.*s' is declared differently in interface `%.*s'", TEXT(own->name.text),
                   TEXT(inherited->of->name.text));
        if (own->of != class)
            hint_at(own->name.place, "from interface `%.*s'", TEXT(own->of->name.text));
        hint_at(inherited->name.place, "declared here");
        return;
    }
    if (own->of == class && !own->attributes) {
        own->attributes = inherited->attributes;
        own->aggregate  = inherited->aggregate;
    } else if (own->attributes != inherited->attributes) {
        error_name(at, "`%.*s' has other attributes in interface `%.*s'", TEXT(own->name.text),
                   TEXT(inherited->of->name.text));
        hint_at(inherited->name.place, "declared here");
    }
}

static void inherit(struct class *class, struct map *methods, const struct class *base)
{
    struct entry **end = &class->entries;

    while (*end)
        end = &(*end)->next;
    for (const struct entry *entry = base->entries; entry; entry = entry->next) {
        struct entry *own = find_method(methods, entry);

        if (entry->kind != ENTRY_METHOD || !entry->name.text.length)
            continue;
        if (own) {
            check_override(class, own, entry);
            continue;
        }
        *end = copy_entry(entry);
        map_put(methods, entry->name.text, *end);
        end = &(*end)->next;
    }
}

/* The bases of a base are ours, too: Circle_as_Shape() where a Circle is a Round, and that a Shape.
 */
static void add_bases_of_bases(struct class *class, struct map *bases)
{
    struct base **end = &class->bases;

    while (*end)
        end = &(*end)->next;
    for (const struct base *base = class->bases; base; base = base->next)
        for (const struct base *far = base->class ? base->class->bases : NULL; far;
             far                    = far->next) {
            struct base *added = ARENA_NEW(struct base);

            if (!far->class || map_put(bases, far->name.text, added))
                continue;
            *added = (struct base){.name = far->name, .class = far->class};
            *end   = added;
            end    = &added->next;
        }
}

static void check_bases(struct checker *checker, struct class *class)
{
    struct map methods = {0}, bases = {0};

    for (struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_METHOD && entry->name.text.length)
            map_put(&methods, entry->name.text, entry);
    for (struct base *base = class->bases; base; base = base->next) {
        if (!base->name.text.length)
            continue;
        if (map_put(&bases, base->name.text, base)) {
            error_name(base->name, "`%.*s' is inherited twice", TEXT(base->name.text));
            continue;
        }
        base->class = complete_base(checker, base);
        if (base->class)
            inherit(class, &methods, base->class);
    }
    add_bases_of_bases(class, &bases);
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

static void check_struct(struct checker *checker, const struct class *class)
{
    if (class->has_state || class->kind == CLASS_INTERFACE || checker->has_c ||
        class->place.source != checker->tree->source)
        return;
    warning_at(class->name.place, (unsigned)class->name.text.length,
               "`%.*s' has no `state', and no header is included that could declare its struct",
               TEXT(class->name.text));
    hint("`state { }' is enough if it has no data");
    checker->has_c = true; /* one is enough */
}

static void check_shape(const struct class *class)
{
    if (class->kind == CLASS_ARRAY && !class->index.text.length &&
        (class->dims < 1 || class->dims > 6))
        error_name(class->name, "an array has 1 to 6 dimensions");
    if (class->kind == CLASS_INTERFACE && class->has_state)
        error_at(class->state_place, 5, "an interface has no state: only entries");
    if (class->migratable && class->has_state) {
        warning_at(class->place, 1, "`migratable' is not needed: `%.*s' has a state",
                   TEXT(class->name.text));
    }
}

void check_class(struct checker *checker, struct symbol *symbol)
{
    struct class *class = symbol->is.class;

    if (symbol->progress != PROGRESS_NONE)
        return;
    symbol->progress = PROGRESS_BEGUN;
    check_shape(class);
    check_struct(checker, class);
    check_own_entries(checker, class);
    check_bases(checker, class);
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        check_entry_kind(class, entry);
    checker->unit = class; /* bases have been looked at in between */
    check_state(checker, class);
    symbol->progress = PROGRESS_DONE;
}
