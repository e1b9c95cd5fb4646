/* SPDX-License-Identifier: Apache-2.0 */
/* check_symbols.c - the symbol table, and suggestions for misspelt names. */
#include "check/check.h"

#include <assert.h>

#include "support/bump.h"
#include "support/diagnostic.h"

#define SUGGESTION_ERRORS_MAX                                                                      \
    20 /* later errors are not shown, so suggestions for them are wasted */

/* ---- symbols ------------------------------------------------------------------------------ */

void check_add_symbol(struct checker *checker, struct check_symbol symbol)
{
    struct check_symbol *kept;

    if (!symbol.name.text.length)
        return;
    /* A readonly variable is checked as a variable. */
    if (check_global_name(symbol.name) && symbol.kind != SYMBOL_READONLY)
        check_reject_self(symbol.name);
    kept  = BUMP_NEW(struct check_symbol);
    *kept = symbol;
    if (checker->last)
        checker->last->next = kept;
    else
        checker->first = kept;
    checker->last = kept;
    strmap_put(&checker->symbols, symbol.name.text, kept);
}

struct check_symbol *check_find_symbol(const struct checker *checker, struct text name,
                                       enum check_symbol_kind kind)
{
    struct check_symbol *symbol = name.length ? strmap_find(&checker->symbols, name) : NULL;

    return symbol && symbol->kind == kind ? symbol : NULL;
}

const char *check_symbol_noun(const struct check_symbol *symbol)
{
    static const char *const nouns[] = {[SYMBOL_CLASS]    = "class",
                                        [SYMBOL_MESSAGE]  = "message",
                                        [SYMBOL_RECORD]   = "struct",
                                        [SYMBOL_READONLY] = "readonly variable"};

    return nouns[symbol->kind];
}

/* ---- suggestions -------------------------------------------------------------------------- */

static bool check_symbol_suggests(void)
{
    return diagnostic_error_count() <= SUGGESTION_ERRORS_MAX;
}

const char *check_nearest_symbol(const struct checker *checker, struct text word,
                                 enum check_symbol_kind kind)
{
    size_t       count = 0;
    const char **names;

    if (!check_symbol_suggests())
        return NULL;
    for (const struct check_symbol *s = checker->first; s; s = s->next)
        count += s->kind == kind;
    names = bump_alloc((count + 1) * sizeof *names);
    count = 0;
    for (const struct check_symbol *s = checker->first; s; s = s->next)
        if (s->kind == kind)
            names[count++] = bump_string(s->name.text);
    return diagnostic_nearest(word, names);
}

/* Types of C that need no header, or are in a header that generated code always includes. */
static const char *const c_types[] = {"bool",     "char",    "double",   "float",    "int",
                                      "int16_t",  "int32_t", "int64_t",  "int8_t",   "long",
                                      "short",    "size_t",  "string",   "uint16_t", "uint32_t",
                                      "uint64_t", "uint8_t", "unsigned", NULL};

/* Stores the names of the types that a symbol declares, at most three.  Returns their number. */
static size_t check_symbol_type_names(const struct check_symbol *symbol, const char **names)
{
    struct text name = symbol->name.text;

    if (symbol->kind == SYMBOL_RECORD || symbol->kind == SYMBOL_MESSAGE) {
        names[0] = bump_string(name);
        return 1;
    }
    if (symbol->kind != SYMBOL_CLASS)
        return 0;
    names[0] = bump_printf("%.*s_proxy", TEXT_ARGS(name));
    names[1] = bump_printf("%.*s_element", TEXT_ARGS(name));
    names[2] = bump_printf("%.*s_section", TEXT_ARGS(name));
    return 3;
}

const char *check_nearest_type(const struct checker *checker, struct text word)
{
    size_t       count = sizeof c_types / sizeof *c_types;
    const char **names;

    if (!check_symbol_suggests())
        return NULL;
    for (const struct check_symbol *s = checker->first; s; s = s->next)
        count += 3;
    names = bump_alloc((count + 1) * sizeof *names);
    count = 0;
    for (const char *const *c = c_types; *c; c++)
        names[count++] = *c;
    for (const struct check_symbol *s = checker->first; s; s = s->next)
        count += check_symbol_type_names(s, names + count);
    assert(!names[count]);
    return diagnostic_nearest(word, names);
}

const char *check_nearest_entry(const struct ast_class *class, struct text word)
{
    size_t       count = 0;
    const char **names;

    if (!check_symbol_suggests())
        return NULL;
    for (const struct ast_entry *e = class->entries; e; e = e->next)
        count++;
    names = bump_alloc((count + 1) * sizeof *names);
    count = 0;
    for (const struct ast_entry *e = class->entries; e; e = e->next)
        if (e->kind == ENTRY_METHOD && e->name.text.length)
            names[count++] = bump_string(e->name.text);
    return diagnostic_nearest(word, names);
}
