/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_headers.c - types that an interface file uses without declaring them.
 *
 * The types of C, of interface files and of the runtime are known.  Any other type must come from
 * a header.  If no header is included, or only standard ones, whose types are recognisable by
 * their names, the type is unknown: an error.  Otherwise the type is assumed to exist, and the
 * emitter lets the compiler check it at its location (emit_lines.c).
 */
#include "check/check.h"
#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "syntax/ident.h"

/* ---- headers ------------------------------------------------------------------------------ */

static const char *const standard_headers[] = {
    "assert.h",    "complex.h", "ctype.h",   "errno.h",  "fenv.h",   "float.h",    "inttypes.h",
    "limits.h",    "locale.h",  "math.h",    "setjmp.h", "signal.h", "stdalign.h", "stdarg.h",
    "stdatomic.h", "stdbool.h", "stddef.h",  "stdint.h", "stdio.h",  "stdlib.h",   "string.h",
    "strings.h",   "tgmath.h",  "threads.h", "time.h",   "unistd.h", "wchar.h",    NULL,
};

/* `<stdio.h>`, `"stdio.h"`, `<skua/skua.h>` */
static bool check_header_is_standard(struct text header)
{
    struct text name = {header.at + 1, header.length - 2};

    return header.length > 2 &&
           (text_index_in(name, standard_headers) >= 0 || text_starts_with(name, "skua/"));
}

static void check_header_note_item(struct checker *checker, const struct ast_item *item)
{
    if (item->kind == ITEM_DIRECTIVE ||
        (item->kind == ITEM_INCLUDE && !check_header_is_standard(item->is.code.text)))
        checker->headers = HEADERS_ANY;
    else if (item->kind == ITEM_INCLUDE && checker->headers == HEADERS_NONE)
        checker->headers = HEADERS_STANDARD;
}

/* Modules of other files count as well: their includes are generated into the headers that this
 * file includes.  A module whose file was not read, which is an error, may declare anything. */
void check_note_headers(struct checker *checker)
{
    for (const struct ast_module *module = checker->tree->modules; module; module = module->next)
        for (const struct ast_item *item = module->items; item; item = item->next) {
            check_header_note_item(checker, item);
            if (item->kind == ITEM_EXTERN && !strmap_find(&checker->modules, item->is.module.text))
                checker->headers = HEADERS_ANY;
        }
}

/* ---- names -------------------------------------------------------------------------------- */

static bool check_header_ends_with(struct text word, const char *end)
{
    size_t length = strlen(end);

    return word.length > length && text_is((struct text){text_end(word) - length, length}, end);
}

/* Returns whether @p word names a type of C, of its library or of the runtime. */
static bool check_header_is_c_type(struct text word)
{
    static const char *const words[] = {"restrict", "inline",  "_Atomic", "_Alignas", "complex",
                                        "FILE",     "va_list", "jmp_buf", "signed",   NULL};

    return ident_is_type_keyword(word) || text_index_in(word, words) >= 0 ||
           text_starts_with(word, "skua_") || text_starts_with(word, "atomic_");
}

/* Returns whether @p word is a generated handle type: `Block_proxy` for a class `Block`. */
static bool check_header_is_handle_type(const struct checker *checker, struct text word)
{
    static const char *const ends[] = {"_proxy", "_element", "_section", "_position", NULL};

    for (const char *const *end = ends; *end; end++)
        if (check_header_ends_with(word, *end) &&
            check_find_symbol(checker, (struct text){word.at, word.length - strlen(*end)},
                              SYMBOL_CLASS))
            return true;
    return false;
}

static bool check_header_is_declared(const struct checker *checker, struct text word)
{
    const struct check_symbol *symbol = strmap_find(&checker->symbols, word);

    return (symbol && symbol->kind != SYMBOL_READONLY) ||
           check_header_is_handle_type(checker, word);
}

/* ---- types -------------------------------------------------------------------------------- */

/* A type while its words are checked. */
struct check_type_context {
    struct checker    *checker;
    struct source_code type;
    unsigned           stars;
    bool               tag; /* the next word is a tag, after `struct`, `union` or `enum` */
    bool               refused;
    bool               extended; /* has a word of the compiler, as in `unsigned __int128` */
    bool               named;    /* `before` is a name that is a type by itself */
    struct text        before;   /* the last word of the type, if there is one */
};

static void check_header_note_assumed(const struct check_type_context *words, bool whole)
{
    struct ast_assumed_type *assumed = BUMP_NEW(struct ast_assumed_type);

    assumed->type                       = words->type;
    assumed->whole                      = whole;
    assumed->unit                       = words->checker->unit;
    assumed->next                       = words->checker->tree->assumed_types;
    words->checker->tree->assumed_types = assumed;
}

/* What takes the place of a type of Charm++. */
static const struct {
    const char *type, *hint;
} check_header_charm[] = {
    {"CkCallback", "write `skua_completion'"},
    {"CkFuture", "write `skua_completion': `skua_done_future()' makes one"},
    {"CkReductionMsg", "declare the entry `[reductiontarget]', with the result as its parameters"},
    {"CkMigrateMessage",
     "remove this constructor: the `state { }' of a class says how its objects are packed"},
    {"CkIndex1D", "write `int'"},
    {"CkIndex2D", "write the `_position' of the class, such as `Block_position'"},
    {"CkIndex3D", "write the `_position' of the class, such as `Block_position'"},
    {"CkArrayID", "write the `_proxy' of the class, or `skua_collection'"},
    {"CkGroupID", "write the `_proxy' of the class, or `skua_collection'"},
};

/* The names of a handle in Charm++ and here. */
static const struct {
    const char *prefix, *suffix;
} check_header_proxy[] = {
    {"CProxyElement_", "_element"}, {"CProxySection_", "_section"}, {"CProxy_", "_proxy"}};

/* Returns a hint for a type of Charm++, or NULL. */
static const char *check_header_charm_hint(struct text word)
{
    for (size_t i = 0; i < sizeof check_header_charm / sizeof *check_header_charm; i++)
        if (text_is(word, check_header_charm[i].type))
            return check_header_charm[i].hint;
    for (size_t i = 0; i < sizeof check_header_proxy / sizeof *check_header_proxy; i++) {
        const char *prefix = check_header_proxy[i].prefix;

        if (text_starts_with(word, prefix))
            return bump_printf("write `%.*s%s'", (int)(word.length - strlen(prefix)),
                               word.at + strlen(prefix), check_header_proxy[i].suffix);
    }
    return NULL;
}

static void check_header_reject_unknown(struct check_type_context *words, struct text word)
{
    const char            *charm      = check_header_charm_hint(word);
    struct checker        *checker    = words->checker;
    const char            *suggestion = words->tag ? NULL : check_nearest_type(checker, word);
    struct source_location location   = source_locate(words->type.location.source, word.at);

    words->refused = true;
    if (strmap_put(&checker->unknown, word, checker))
        return; /* reported before */
    diagnostic_error_at(location, word.length, "unknown type `%s%.*s'", words->tag ? "struct " : "",
                        TEXT_ARGS(word));
    if (charm)
        diagnostic_hint("%s", charm);
    else if (suggestion)
        diagnostic_hint("did you mean `%s'?", suggestion);
    else
        diagnostic_hint("declare `struct %.*s { ... };', or include the header that declares it: "
                        "`include \"file.h\";'",
                        TEXT_ARGS(word));
}

/* Rejects a word behind another one, unless both are such as in `unsigned long`: most likely a
 * comma or a semicolon is missing. */
static void check_header_note_word(struct check_type_context *words, struct text word, bool tag)
{
    static const char *const combined[] = {"char",    "short",    "int",  "long",     "float",
                                           "double",  "signed",   "bool", "unsigned", "_Bool",
                                           "complex", "_Complex", NULL};
    static const char *const skipped[]  = {"const",  "volatile", "restrict",
                                           "inline", "_Atomic",  NULL};
    bool                     named      = tag || text_index_in(word, combined) < 0;
    struct text              before     = words->before;

    if (!tag && text_index_in(word, skipped) >= 0)
        return;
    words->extended |= text_starts_with(word, "__");
    if (before.length && (named || words->named) && !words->extended && !words->refused) {
        words->refused = true;
        diagnostic_error_at(source_locate(words->type.location.source, word.at), word.length,
                            "`%.*s' follows the type `%.*s': is a comma or a semicolon missing?",
                            TEXT_ARGS(word), TEXT_ARGS(before));
    }
    words->before = word;
    words->named  = named;
}

static void check_header_look_at_word(struct text word, void *arg)
{
    struct check_type_context *words = arg;
    bool                       tag   = words->tag;

    words->tag = text_is(word, "struct") || text_is(word, "union") || text_is(word, "enum");
    if (!words->tag)
        check_header_note_word(words, word, tag);
    if (words->refused || words->tag || (!tag && check_header_is_c_type(word)) ||
        check_header_is_declared(words->checker, word))
        return;
    words->tag = tag;
    if (words->checker->headers == HEADERS_ANY || (tag && words->checker->headers))
        check_header_note_assumed(words, tag && !words->stars);
    else if (!tag && (check_header_ends_with(word, "_t") || text_starts_with(word, "__")))
        ; /* a type of C, of its library or of the compiler */
    else if (!tag || !words->stars)
        check_header_reject_unknown(words, word);
    words->tag = false;
}

void check_external_record(struct checker *checker, const struct ast_record *record)
{
    struct source_code        name = {.text = record->name.text, .location = record->name.location};
    struct check_type_context words = {.checker = checker, .type = name, .tag = true};

    if (!name.text.length || name.location.source != checker->tree->source)
        return;
    if (checker->headers)
        check_header_note_assumed(&words, true);
    else
        check_header_reject_unknown(&words, name.text);
}

bool check_type_names(struct checker *checker, struct source_code type, unsigned stars)
{
    struct check_type_context words = {.checker = checker, .type = type, .stars = stars};

    if (type.text.at && type.location.source == checker->tree->source)
        ident_for_each(type, check_header_look_at_word, &words);
    return !words.refused;
}

bool check_stored_type(struct checker *checker, struct source_code type, unsigned stars,
                       const char *what, bool copied, bool placed)
{
    const struct ast_assumed_type *before = checker->tree->assumed_types;
    bool                           good   = check_type_names(checker, type, stars);

    if (checker->tree->assumed_types != before && !stars) {
        checker->tree->assumed_types->stored = text_of(what);
        checker->tree->assumed_types->copied = copied;
        checker->tree->assumed_types->placed = placed;
    }
    return good;
}
