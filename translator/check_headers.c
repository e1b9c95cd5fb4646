/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_headers.c - names of types that an interface file uses and does not declare.
 *
 * C's own types are known, and so are those of interface files and of the runtime.  Another name
 * must come from a header.  If none is included, or only headers of the C library, whose types
 * have names that are told by their look, the name is declared nowhere: an error.  Else it is
 * believed, and the emitter lets the compiler look at it where it stands (emit_lines.c).
 */
#include "arena.h"
#include "check.h"
#include "diagnostic.h"
#include "parsing.h"
#include "source.h"
#include "words.h"

/* ---- headers -------------------------------------------------------------------------------- */

static const char *const standard_headers[] = {
    "assert.h",    "complex.h", "ctype.h",   "errno.h",  "fenv.h",   "float.h",    "inttypes.h",
    "limits.h",    "locale.h",  "math.h",    "setjmp.h", "signal.h", "stdalign.h", "stdarg.h",
    "stdatomic.h", "stdbool.h", "stddef.h",  "stdint.h", "stdio.h",  "stdlib.h",   "string.h",
    "strings.h",   "tgmath.h",  "threads.h", "time.h",   "unistd.h", "wchar.h",    NULL,
};

/* `<stdio.h>`, `"stdio.h"`, `<skua/skua.h>` */
static bool is_standard(struct text header)
{
    struct text name = {header.at + 1, header.length - 2};

    return header.length > 2 &&
           (text_among(name, standard_headers) >= 0 || text_begins(name, "skua/"));
}

static void note_item(struct checker *checker, const struct item *item)
{
    if (item->kind == ITEM_HASH || (item->kind == ITEM_INCLUDE && !is_standard(item->is.code.text)))
        checker->headers = HEADERS_ANY;
    else if (item->kind == ITEM_INCLUDE && checker->headers == HEADERS_NONE)
        checker->headers = HEADERS_STANDARD;
}

/* Those of other files, too: what they include comes with them.  A module whose file was not read,
 * which is an error, may declare anything. */
void note_headers(struct checker *checker)
{
    for (const struct module *module = checker->tree->modules; module; module = module->next)
        for (const struct item *item = module->items; item; item = item->next) {
            note_item(checker, item);
            if (item->kind == ITEM_EXTERN && !map_find(&checker->modules, item->is.module.text))
                checker->headers = HEADERS_ANY;
        }
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool ends_with(struct text word, const char *end)
{
    size_t length = strlen(end);

    return word.length > length && text_is((struct text){text_end(word) - length, length}, end);
}

/* Of C, of its library, and of the runtime. */
static bool is_c_type(struct text word)
{
    static const char *const words[] = {"restrict", "inline",  "_Atomic", "_Alignas", "complex",
                                        "FILE",     "va_list", "jmp_buf", "signed",   NULL};

    return is_type_word(word) || text_among(word, words) >= 0 || text_begins(word, "skua_") ||
           text_begins(word, "__") || text_begins(word, "atomic_") || ends_with(word, "_t");
}

/* `Block_proxy`, where there is a class `Block`. */
static bool is_reference(const struct checker *checker, struct text word)
{
    static const char *const ends[] = {"_proxy", "_element", "_section", "_position", NULL};

    for (const char *const *end = ends; *end; end++)
        if (ends_with(word, *end) &&
            find_symbol(checker, (struct text){word.at, word.length - strlen(*end)}, SYMBOL_CLASS))
            return true;
    return false;
}

static bool is_declared(const struct checker *checker, struct text word)
{
    const struct symbol *symbol = map_find(&checker->symbols, word);

    return (symbol && symbol->kind != SYMBOL_READONLY) || is_reference(checker, word);
}

/* ---- types ---------------------------------------------------------------------------------- */

/* A type while its words are looked at. */
struct type_words {
    struct checker *checker;
    struct code     type;
    unsigned        stars;
    bool            tag; /* the next word follows `struct`, `union` or `enum` */
    bool            refused;
};

static void note_believed(const struct type_words *words, bool whole)
{
    struct believed *believed = ARENA_NEW(struct believed);

    believed->type                 = words->type;
    believed->whole                = whole;
    believed->unit                 = words->checker->unit;
    believed->next                 = words->checker->tree->believed;
    words->checker->tree->believed = believed;
}

static void refuse_unknown(struct type_words *words, struct text word)
{
    struct checker *checker = words->checker;
    const char     *near    = words->tag ? NULL : nearest_type(checker, word);
    struct place    place   = source_place(words->type.place.source, word.at);

    words->refused = true;
    if (map_put(&checker->unknown, word, checker))
        return; /* it has been said */
    error_at(place, word.length, "there is no type `%s%.*s'", words->tag ? "struct " : "",
             TEXT(word));
    if (near)
        hint("did you mean `%s'?", near);
    else
        hint("declare it, `struct %.*s { ... };', or include the header that does: "
             "`include \"file.h\";'",
             TEXT(word));
}

static void look_at_word(struct text word, void *arg)
{
    struct type_words *words = arg;
    bool               tag   = words->tag;

    words->tag = text_is(word, "struct") || text_is(word, "union") || text_is(word, "enum");
    if (words->tag || (!tag && is_c_type(word)) || is_declared(words->checker, word))
        return;
    words->tag = tag;
    if (words->checker->headers == HEADERS_ANY || (tag && words->checker->headers))
        note_believed(words, tag && !words->stars);
    else if (!tag || !words->stars)
        refuse_unknown(words, word);
    words->tag = false;
}

bool check_type_names(struct checker *checker, struct code type, unsigned stars)
{
    struct type_words words = {checker, type, stars, false, false};

    if (type.text.at && type.place.source == checker->tree->source)
        for_each_word(type, look_at_word, &words);
    return !words.refused;
}
