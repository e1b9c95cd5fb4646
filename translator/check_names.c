/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_names.c - which names may be, and which would be written twice.
 *
 * Every global name of the C that will be written is put into one table with its origin:
 * what it is for.  The tables below are those of docs/internals/translator.md.  A name that
 * depends on the kind of a class is kept free for all kinds, so that a chare can become an
 * array without a surprise; one that depends on an entry's attributes is not, since `ghost`
 * and `ghost_done` are natural names of two entries.
 *
 * Names with two underscores are the translator's own, so that what is private in the C
 * file needs no table.
 */
#include "check.h"

#include "arena.h"
#include "diagnostic.h"
#include "words.h"

/* What a written name is for. */
struct origin {
    const char  *noun; /* "class"                                         */
    struct text  name; /* "Block"                                         */
    const char  *use;  /* what of it; NULL: the thing itself              */
    struct text  of;   /* of an entry: its class                          */
    struct place place;
};

/* ---- what may be a name -------------------------------------------------------------------- */

static const char *const c_words[] = {"_Alignas",       "_Alignof",      "_Atomic",    "_Bool",
                                      "_Complex",       "_Generic",      "_Imaginary", "_Noreturn",
                                      "_Static_assert", "_Thread_local", "auto",       "bool",
                                      "break",          "case",          "char",       "const",
                                      "continue",       "default",       "do",         "double",
                                      "else",           "enum",          "extern",     "false",
                                      "float",          "for",           "goto",       "if",
                                      "inline",         "int",           "long",       "register",
                                      "restrict",       "return",        "short",      "signed",
                                      "sizeof",         "static",        "struct",     "switch",
                                      "true",           "typedef",       "union",      "unsigned",
                                      "void",           "volatile",      "while",      NULL};

static bool is_c_word(struct text word)
{
    for (const char *const *w = c_words; *w; w++)
        if (text_is(word, *w))
            return true;
    return false;
}

static bool has_two_underscores(struct text word)
{
    for (size_t i = 1; i < word.length; i++)
        if (word.at[i - 1] == '_' && word.at[i] == '_')
            return true;
    return false;
}

bool check_name(struct name name)
{
    if (!name.text.length)
        return false;
    if (is_c_word(name.text))
        error_name(name, "`%.*s' is a word of C, and cannot be a name", TEXT(name.text));
    else if (has_two_underscores(name.text))
        error_name(name, "`%.*s': names with two underscores are kept for generated code",
                   TEXT(name.text));
    else if (text_begins(name.text, "skua_") || text_begins(name.text, "SKUA_"))
        error_name(name, "`%.*s': names that begin with `%.5s' are the runtime's", TEXT(name.text),
                   name.text.at);
    else
        return true;
    return false;
}

bool check_variable_name(const struct checker *checker, struct name name)
{
    struct symbol *symbol = map_find(&checker->symbols, name.text);

    if (!check_name(name))
        return false;
    if (text_is(name.text, "self")) {
        error_name(name, "`self' is the object, and cannot be another name");
        return false;
    }
    if (symbol && symbol->kind != SYMBOL_READONLY) {
        error_name(name, "`%.*s' is a %s", TEXT(name.text), symbol_noun(symbol));
        hint_at(symbol->name.place, "declared here");
        return false;
    }
    return true;
}

/* ---- what is near -------------------------------------------------------------------------- */

/* Beyond this nobody reads on, and looking for names takes time. */
static bool enough_errors(void)
{
    return error_count() > 20;
}

const char *nearest_symbol(const struct checker *checker, struct text word, enum symbol_kind kind)
{
    size_t count = 0;

    if (enough_errors())
        return NULL;
    for (const struct symbol *s = checker->first; s; s = s->next)
        count += s->kind == kind;

    const char **names = arena_alloc((count + 1) * sizeof *names);

    count = 0;
    for (const struct symbol *s = checker->first; s; s = s->next)
        if (s->kind == kind)
            names[count++] = arena_string(s->name.text);
    return nearest(word, names);
}

/* Types of C that need no header, or are in those that every translation includes. */
static const char *const c_types[] = {"bool",     "char",    "double",   "float",    "int",
                                      "int16_t",  "int32_t", "int64_t",  "int8_t",   "long",
                                      "short",    "size_t",  "string",   "uint16_t", "uint32_t",
                                      "uint64_t", "uint8_t", "unsigned", NULL};

/* Of C, and of the interface files: classes are meant by their proxies and elements. */
const char *nearest_type(const struct checker *checker, struct text word)
{
    size_t       count = sizeof c_types / sizeof *c_types;
    const char **names;

    if (enough_errors())
        return NULL;
    for (const struct symbol *s = checker->first; s; s = s->next)
        count += 3;
    names = arena_alloc((count + 1) * sizeof *names);
    count = 0;
    for (const char *const *c = c_types; *c; c++)
        names[count++] = *c;
    for (const struct symbol *s = checker->first; s; s = s->next) {
        if (s->kind == SYMBOL_RECORD || s->kind == SYMBOL_MESSAGE)
            names[count++] = arena_string(s->name.text);
        if (s->kind != SYMBOL_CLASS)
            continue;
        names[count++] = arena_print("%.*s_proxy", TEXT(s->name.text));
        names[count++] = arena_print("%.*s_element", TEXT(s->name.text));
        names[count++] = arena_print("%.*s_section", TEXT(s->name.text));
    }
    return nearest(word, names);
}

const char *nearest_entry(const struct class *class, struct text word)
{
    size_t count = 0;

    if (enough_errors())
        return NULL;
    for (const struct entry *e = class->entries; e; e = e->next)
        count++;

    const char **names = arena_alloc((count + 1) * sizeof *names);

    count = 0;
    for (const struct entry *e = class->entries; e; e = e->next)
        if (e->kind == ENTRY_METHOD && e->name.text.length)
            names[count++] = arena_string(e->name.text);
    return nearest(word, names);
}

/* ---- what is written ------------------------------------------------------------------------ */

const char *symbol_noun(const struct symbol *symbol)
{
    static const char *const nouns[] = {[SYMBOL_CLASS]    = "class",
                                        [SYMBOL_MESSAGE]  = "message",
                                        [SYMBOL_RECORD]   = "struct",
                                        [SYMBOL_READONLY] = "readonly"};

    return nouns[symbol->kind];
}

/* "the broadcast of entry `ghost' of `Block'" */
static const char *describe(const struct origin *origin)
{
    const char *itself = arena_print("%s `%.*s'", origin->noun, TEXT(origin->name));

    if (origin->of.length)
        itself = arena_print("%s of `%.*s'", itself, TEXT(origin->of));
    return origin->use ? arena_print("%s of %s", origin->use, itself) : itself;
}

static void refuse_twice(const char *name, const struct origin *a, const struct origin *b)
{
    struct name at = {b->name, b->place};

    if (!a->use && !b->use && text_equal(a->name, b->name) && text_equal(a->of, b->of)) {
        error_name(at, "`%.*s' is the name of a%s %s already", TEXT(b->name),
                   *a->noun == 'e' ? "n" : "", a->noun);
        hint_at(a->place, "declared here");
        return;
    }
    error_name(at, "%s and %s would both be written as `%s'", describe(b), describe(a), name);
    hint_at(a->place, "the other is here");
}

/* False: the name is another's. */
static bool write_name(struct checker *checker, const char *name, struct origin origin)
{
    struct origin *kept    = ARENA_NEW(struct origin);
    struct origin *earlier = NULL;

    *kept   = origin;
    earlier = map_put(&checker->written, text_of(name), kept);
    if (earlier)
        refuse_twice(name, earlier, kept);
    return !earlier;
}

struct suffix {
    const char *suffix, *use;
};

static const struct suffix message_names[] = {
    {"", NULL}, {"_new", "what makes one"}, {"_free", "what frees one"}, {NULL, NULL}};

static const struct suffix record_names[] = {
    {"", NULL}, {"_pup", "what packs one"}, {"_free", "what frees one"}, {NULL, NULL}};

static const struct suffix class_names[] = {{"", NULL},
                                            {"_proxy", "the proxy"},
                                            {"_element", "the reference of an element"},
                                            {"_section", "the section"},
                                            {"_new", "the creation"},
                                            {"_new_on", "the creation on a PE"},
                                            {"_new_with", "the creation with options"},
                                            {"_insert", "the insertion"},
                                            {"_at", "what gives an element"},
                                            {"_section_of", "what makes a section"},
                                            {"_self", "what gives the reference of an object"},
                                            {"_of", "what gives the collection of an object"},
                                            {"_index", "the index"},
                                            {"_position", "the type of the index"},
                                            {"_here", "what finds a local object"},
                                            {"_on_create", "the constructor"},
                                            {"_on_destroy", "the destructor"},
                                            {"_on_pup", "the pack and unpack function"},
                                            {NULL, NULL}};

/* `_on_` stands before the name: see write_entry(). */
static const struct suffix entry_names[]  = {{"", NULL}, {NULL, NULL}};
static const struct suffix send_names[]   = {{"_all", "the broadcast"},
                                             {"_section", "the multicast"},
                                             {"_prio", "the send with a priority"},
                                             {NULL, NULL}};
static const struct suffix target_names[] = {{"_done", "the completion"},
                                             {"_done_all", "the completion for all"},
                                             {"_done_section", "the completion for a section"},
                                             {NULL, NULL}};
static const struct suffix sync_names[]   = {{"_reply", "the asynchronous call"}, {NULL, NULL}};

/* Up to the first that is another's: one error for one thing is enough. */
static bool write_all(struct checker *checker, const char *stem, const struct suffix *suffixes,
                      struct origin origin)
{
    for (const struct suffix *s = suffixes; s->suffix; s++) {
        origin.use = s->use;
        if (!write_name(checker, arena_print("%s%s", stem, s->suffix), origin))
            return false;
    }
    return true;
}

static void write_entry(struct checker     *checker, const struct class *class,
                        const struct entry *entry)
{
    struct origin origin = {"entry", entry->name.text, NULL, class->name.text, entry->name.place};
    const char   *stem   = arena_print("%.*s_%.*s", TEXT(class->name.text), TEXT(entry->name.text));
    bool single = entry->attributes & (ATTRIBUTE_SYNC | ATTRIBUTE_LOCAL | ATTRIBUTE_AGGREGATE);
    bool target = entry->attributes & ATTRIBUTE_REDUCTIONTARGET || !entry->parameters;

    if (!write_all(checker, stem, entry_names, origin))
        return;
    if (!single && !write_all(checker, stem, send_names, origin))
        return;
    if (!single && target && !write_all(checker, stem, target_names, origin))
        return;
    if (entry->attributes & ATTRIBUTE_SYNC && !write_all(checker, stem, sync_names, origin))
        return;
    origin.use = "the function";
    write_name(checker, arena_print("%.*s_on_%.*s", TEXT(class->name.text), TEXT(entry->name.text)),
               origin);
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->post || p->passing == PASS_LANDING) {
            write_name(checker,
                       arena_print("%.*s_%s_%.*s", TEXT(class->name.text),
                                   p->post ? "post" : "land", TEXT(entry->name.text)),
                       origin);
            return;
        }
}

static void write_class(struct checker *checker, const struct class *class, struct origin origin)
{
    if (!write_all(checker, arena_string(class->name.text), class_names, origin))
        return;
    for (const struct base *base = class->bases; base; base = base->next)
        if (base->class) {
            origin.use = "the reference as an interface";
            write_name(checker,
                       arena_print("%.*s_as_%.*s", TEXT(class->name.text), TEXT(base->name.text)),
                       origin);
        }
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_METHOD && entry->name.text.length)
            write_entry(checker, class, entry);
}

void write_symbol(struct checker *checker, const struct symbol *symbol)
{
    struct origin origin = {symbol_noun(symbol), symbol->name.text, NULL, {0}, symbol->name.place};
    const char   *name   = arena_string(symbol->name.text);

    if (symbol->kind == SYMBOL_CLASS)
        write_class(checker, symbol->is.class, origin);
    else if (symbol->kind == SYMBOL_MESSAGE)
        write_all(checker, name, message_names, origin);
    else if (symbol->kind == SYMBOL_RECORD)
        write_all(checker, name, record_names, origin);
    else
        write_name(checker, name, origin);
}

void write_module(struct checker *checker, const struct module *module)
{
    struct origin origin = {
        "module", module->name.text, "the registration", {0}, module->name.place};

    write_name(checker, arena_print("%.*s_register", TEXT(module->name.text)), origin);
    if (module != checker->main)
        return;
    origin.use = "the beginning";
    write_name(checker, "main", origin);
}
