/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_names.c - valid names, and clashes between generated names.
 *
 * All global names of the generated C go into one table with their origin.  The suffixes below are
 * those of docs/internals/translator.md.  A name that only some kinds of classes generate is
 * reserved for all kinds, so that a chare can become an array without a clash.  A name that
 * depends on the attributes of an entry is not, since `ghost` and `ghost_done` are natural names
 * for two entries.
 *
 * Names with two underscores are reserved for generated code, and no entry begins with one, so that
 * private names in the C file need no table.  Entry `ghost' has the struct Block__ghost and the
 * function Block__ghost_call(); a second struct, or the second frame of its body, has two
 * underscores before its suffix, Block__ghost__view, as Block__ghost_view is the struct of entry
 * `ghost_view'.
 */
#include "check/check.h"

#include "support/bump.h"
#include "support/diagnostic.h"
#include "syntax/ident.h"

/* The origin of a generated name. */
struct check_name_origin {
    const char            *noun; /* noun for the symbol: "class" */
    struct text            name; /* name of the symbol: "Block" */
    const char            *use;  /* the item generated for it; NULL: the symbol itself */
    struct text            of;   /* class of an entry */
    struct source_location location;
};

/* ---- valid names -------------------------------------------------------------------------- */

static const char *const c_words[] = {
    "_Alignas", "_Alignof",   "_Atomic",   "_Bool",          "_Complex",
    "_Generic", "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local",
    "asm",      "typeof",     "auto",      "bool",           "break",
    "case",     "char",       "const",     "continue",       "default",
    "do",       "double",     "else",      "enum",           "extern",
    "false",    "float",      "for",       "goto",           "if",
    "inline",   "int",        "long",      "register",       "restrict",
    "return",   "short",      "signed",    "sizeof",         "static",
    "struct",   "switch",     "true",      "typedef",        "union",
    "unsigned", "void",       "volatile",  "while",          NULL};

static bool check_name_is_c_keyword(struct text word)
{
    for (const char *const *w = c_words; *w; w++)
        if (text_is(word, *w))
            return true;
    return false;
}

/* The names in <stdlib.h> and <string.h>, which generated code includes, that a program could use
 * for something else. */
static const char *const c_functions[] = {
    "abort",   "abs",      "alloca", "bsearch", "calloc", "div",    "exit",    "ffs",
    "free",    "getenv",   "index",  "labs",    "ldiv",   "malloc", "memchr",  "memcmp",
    "memcpy",  "memmove",  "memset", "mktemp",  "putenv", "qsort",  "rand",    "random",
    "realloc", "realpath", "rindex", "select",  "setenv", "srand",  "srandom", "strchr",
    "strcmp",  "strcpy",   "strdup", "strlen",  "strstr", "strtok", "system",  NULL};

static bool check_name_has_two_underscores(struct text word)
{
    for (size_t i = 1; i < word.length; i++)
        if (word.at[i - 1] == '_' && word.at[i] == '_')
            return true;
    return false;
}

bool check_name(struct source_name name)
{
    if (!name.text.length)
        return false;
    if (check_name_is_c_keyword(name.text))
        diagnostic_error_name(name, "`%.*s' is a keyword of C", TEXT_ARGS(name.text));
    else if (check_name_has_two_underscores(name.text))
        diagnostic_error_name(name,
                              "`%.*s': names with two underscores are reserved for generated code",
                              TEXT_ARGS(name.text));
    else if (text_starts_with(name.text, "skua_") || text_starts_with(name.text, "SKUA_"))
        diagnostic_error_name(name,
                              "`%.*s': names that begin with `%.5s' are reserved for the runtime",
                              TEXT_ARGS(name.text), name.text.at);
    else if (text_starts_with(name.text, "skuac_") || text_starts_with(name.text, "SKUAC_"))
        diagnostic_error_name(
            name, "`%.*s': names that begin with `%.6s' are reserved for generated code",
            TEXT_ARGS(name.text), name.text.at);
    else
        return true;
    return false;
}

bool check_global_name(struct source_name name)
{
    if (!check_name(name))
        return false;
    if (text_index_in(name.text, c_functions) >= 0)
        diagnostic_error_name(name, "`%.*s' is a function of the C library", TEXT_ARGS(name.text));
    return true;
}

bool check_reject_self(struct source_name name)
{
    if (text_is(name.text, "self"))
        diagnostic_error_name(name, "`self' is reserved for the object");
    return text_is(name.text, "self");
}

bool check_reject_type_name(const struct checker *checker, struct source_name name)
{
    struct check_symbol *symbol =
        name.text.length ? strmap_find(&checker->symbols, name.text) : NULL;

    if (!symbol || symbol->kind == SYMBOL_READONLY)
        return false;
    diagnostic_error_name(name, "`%.*s' is a %s", TEXT_ARGS(name.text), check_symbol_noun(symbol));
    diagnostic_note_at(symbol->name.location, "declared here");
    return true;
}

bool check_variable_name(const struct checker *checker, struct source_name name)
{
    return check_name(name) && !check_reject_self(name) && !check_reject_type_name(checker, name);
}

/* ---- generated names ---------------------------------------------------------------------- */

/* "the broadcast of entry `ghost' of `Block'" */
static const char *check_name_describe(const struct check_name_origin *origin)
{
    const char *itself = bump_printf("%s `%.*s'", origin->noun, TEXT_ARGS(origin->name));

    if (origin->of.length)
        itself = bump_printf("%s of `%.*s'", itself, TEXT_ARGS(origin->of));
    return origin->use ? bump_printf("%s of %s", origin->use, itself) : itself;
}

static void check_name_reject_duplicate(const char *name, const struct check_name_origin *a,
                                        const struct check_name_origin *b)
{
    struct source_name at = {b->name, b->location};

    if (!a->use && !b->use && text_equal(a->name, b->name) && text_equal(a->of, b->of)) {
        diagnostic_error_name(at, "`%.*s' is already the name of a%s %s", TEXT_ARGS(b->name),
                              *a->noun == 'e' ? "n" : "", a->noun);
        diagnostic_note_at(a->location, "declared here");
        return;
    }
    diagnostic_error_name(at, "%s and %s have the same generated name `%s'", check_name_describe(b),
                          check_name_describe(a), name);
    diagnostic_note_at(a->location, "the first one is here");
}

/* Reserves @p name.  Returns false after reporting a clash. */
static bool check_name_reserve(struct checker *checker, const char *name,
                               struct check_name_origin origin)
{
    struct check_name_origin *kept    = BUMP_NEW(struct check_name_origin);
    struct check_name_origin *earlier = NULL;

    *kept   = origin;
    earlier = strmap_put(&checker->generated, text_of(name), kept);
    if (earlier)
        check_name_reject_duplicate(name, earlier, kept);
    return !earlier;
}

struct check_name_suffix {
    const char *suffix, *use;
};

static const struct check_name_suffix message_names[] = {
    {"", NULL}, {"_new", "the allocation"}, {"_free", "the release"}, {NULL, NULL}};

static const struct check_name_suffix record_names[] = {
    {"", NULL}, {"_pup", "the pack function"}, {"_free", "the release"}, {NULL, NULL}};

static const struct check_name_suffix class_names[] = {{"", NULL},
                                                       {"_proxy", "the proxy"},
                                                       {"_element", "the element reference"},
                                                       {"_section", "the section"},
                                                       {"_new", "the creation"},
                                                       {"_new_on", "the creation on a PE"},
                                                       {"_new_with", "the creation with options"},
                                                       {"_insert", "the insertion"},
                                                       {"_at", "the element lookup"},
                                                       {"_section_of", "the section constructor"},
                                                       {"_self", "the self reference"},
                                                       {"_of", "the collection lookup"},
                                                       {"_index", "the index"},
                                                       {"_position", "the index type"},
                                                       {"_here", "the local lookup"},
                                                       {"_on_create", "the constructor"},
                                                       {"_on_destroy", "the destructor"},
                                                       {"_on_pup", "the pack and unpack function"},
                                                       {NULL, NULL}};

static const struct check_name_suffix moved_names[] = {
    {"_on_moved", "the function after a migration"}, {NULL, NULL}};

/* `_on_` precedes the name: see check_name_reserve_entry(). */
static const struct check_name_suffix entry_names[]  = {{"", NULL}, {NULL, NULL}};
static const struct check_name_suffix send_names[]   = {{"_all", "the broadcast"},
                                                        {"_section", "the multicast"},
                                                        {"_prio", "the send with a priority"},
                                                        {NULL, NULL}};
static const struct check_name_suffix target_names[] = {
    {"_done", "the completion"},
    {"_done_all", "the completion for all"},
    {"_done_section", "the completion for a section"},
    {NULL, NULL}};
static const struct check_name_suffix sync_names[] = {{"_reply", "the asynchronous call"},
                                                      {NULL, NULL}};

/* Reserves a list of names up to the first clash: one error per symbol is enough. */
static bool check_name_reserve_all(struct checker *checker, const char *stem,
                                   const struct check_name_suffix *suffixes,
                                   struct check_name_origin        origin)
{
    for (const struct check_name_suffix *s = suffixes; s->suffix; s++) {
        origin.use = s->use;
        if (!check_name_reserve(checker, bump_printf("%s%s", stem, s->suffix), origin))
            return false;
    }
    return true;
}

static void check_name_reserve_entry(struct checker         *checker, const struct ast_class *class,
                                     const struct ast_entry *entry)
{
    struct check_name_origin origin = {"entry", entry->name.text, NULL, class->name.text,
                                       entry->name.location};
    const char              *stem =
        bump_printf("%.*s_%.*s", TEXT_ARGS(class->name.text), TEXT_ARGS(entry->name.text));
    bool single = entry->attributes & (ATTRIBUTE_SYNC | ATTRIBUTE_LOCAL | ATTRIBUTE_AGGREGATE);
    bool target = entry->attributes & ATTRIBUTE_REDUCTIONTARGET || !entry->parameters;

    if (text_starts_with(entry->name.text, "_")) {
        diagnostic_error_name(
            entry->name, "`%.*s' begins with an underscore: `%s' is reserved for generated code",
            TEXT_ARGS(entry->name.text), stem);
        return;
    }
    if (!check_name_reserve_all(checker, stem, entry_names, origin))
        return;
    if (!single && !check_name_reserve_all(checker, stem, send_names, origin))
        return;
    if (!single && target && !check_name_reserve_all(checker, stem, target_names, origin))
        return;
    if (entry->attributes & ATTRIBUTE_SYNC &&
        !check_name_reserve_all(checker, stem, sync_names, origin))
        return;
    origin.use = "the function";
    check_name_reserve(
        checker,
        bump_printf("%.*s_on_%.*s", TEXT_ARGS(class->name.text), TEXT_ARGS(entry->name.text)),
        origin);
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->post || p->passing == PASS_INPLACE) {
            check_name_reserve(checker,
                               bump_printf("%.*s_%s_%.*s", TEXT_ARGS(class->name.text),
                                           p->post ? "post" : "land", TEXT_ARGS(entry->name.text)),
                               origin);
            return;
        }
}

static void check_name_reserve_class(struct checker *checker, const struct ast_class *class,
                                     struct check_name_origin origin)
{
    const char *stem = bump_string(class->name.text);

    if (!check_name_reserve_all(checker, stem, class_names, origin))
        return;
    if (class->attributes & CLASS_MOVED &&
        !check_name_reserve_all(checker, stem, moved_names, origin))
        return;
    for (const struct ast_base *base = class->bases; base; base = base->next)
        if (base->class) {
            origin.use = "the conversion to an interface";
            check_name_reserve(checker,
                               bump_printf("%.*s_as_%.*s", TEXT_ARGS(class->name.text),
                                           TEXT_ARGS(base->name.text)),
                               origin);
        }
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_METHOD && entry->name.text.length)
            check_name_reserve_entry(checker, class, entry);
}

void check_reserve_symbol_names(struct checker *checker, const struct check_symbol *symbol)
{
    struct check_name_origin origin = {
        check_symbol_noun(symbol), symbol->name.text, NULL, {0}, symbol->name.location};
    const char *name = bump_string(symbol->name.text);

    if (symbol->kind == SYMBOL_CLASS)
        check_name_reserve_class(checker, symbol->is.class, origin);
    else if (symbol->kind == SYMBOL_MESSAGE)
        check_name_reserve_all(checker, name, message_names, origin);
    else if (symbol->kind == SYMBOL_RECORD)
        check_name_reserve_all(checker, name, record_names, origin);
    else
        check_name_reserve(checker, name, origin);
}

void check_reserve_module_names(struct checker *checker, const struct ast_module *module)
{
    struct check_name_origin origin = {
        "module", module->name.text, "the registration", {0}, module->name.location};

    check_name_reserve(checker, bump_printf("%.*s_register", TEXT_ARGS(module->name.text)), origin);
    if (module != checker->main)
        return;
    origin.use = "the main function";
    check_name_reserve(checker, "main", origin);
}
