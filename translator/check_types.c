/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_types.c - types, as far as they can be known without a C compiler.
 *
 * A type is a few words of C.  Structs and messages of interface files are known, and so are
 * C's own types by their names; any other name may be a typedef of anything, and is believed.
 */
#include "check.h"

#include <string.h>

#include "arena.h"
#include "diagnostic.h"
#include "words.h"

static bool is_qualifier(struct text word)
{
    return text_is(word, "const") || text_is(word, "volatile") || text_is(word, "restrict");
}

struct spelling {
    char  *at;
    size_t length;
};

static void spell_word(struct text word, void *arg)
{
    struct spelling *spelling = arg;

    if (is_qualifier(word))
        return;
    if (spelling->length)
        spelling->at[spelling->length++] = ' ';
    memcpy(spelling->at + spelling->length, word.at, word.length);
    spelling->length += word.length;
}

char *type_spelling(struct code type)
{
    /* Between two words there was at least one byte, but perhaps not after the last. */
    struct spelling spelling = {.at = arena_alloc(type.text.length + 2)};

    for_each_word(type, spell_word, &spelling);
    return spelling.at;
}

bool type_is(struct code type, const char *spelling)
{
    return !strcmp(type_spelling(type), spelling);
}

bool same_type(struct code a, unsigned a_stars, struct code b, unsigned b_stars)
{
    return a_stars == b_stars && type_is(a, type_spelling(b));
}

struct last_word {
    struct text word;
    unsigned    others;
};

static void keep_last(struct text word, void *arg)
{
    struct last_word *last = arg;

    if (is_qualifier(word) || text_is(word, "struct"))
        return;
    last->others += last->word.at != NULL;
    last->word = word;
}

struct text type_name(struct code type)
{
    struct last_word last = {.others = 0};

    for_each_word(type, keep_last, &last);
    return last.others ? (struct text){0} : last.word;
}

struct word_set {
    const char *const *words;
    bool               all;
};

static void test_word(struct text word, void *arg)
{
    struct word_set *set = arg;

    if (is_qualifier(word))
        return;
    for (const char *const *w = set->words; *w; w++)
        if (text_is(word, *w))
            return;
    set->all = false;
}

bool may_be_integer(const struct checker *checker, struct code type, unsigned stars)
{
    static const char *const others[] = {"float",  "double",   "long",    "void",
                                         "string", "_Complex", "complex", NULL};
    struct word_set          set      = {others, true};

    if (stars || record_of(checker, type) || message_of(checker, type))
        return false;
    if (type_is(type, "long") || type_is(type, "long long"))
        return true;
    for_each_word(type, test_word, &set);
    return !set.all && !text_begins(text_of(type_spelling(type)), "struct ") &&
           !text_begins(text_of(type_spelling(type)), "union ");
}

const struct record *record_of(const struct checker *checker, struct code type)
{
    struct symbol *symbol = find_symbol(checker, type_name(type), SYMBOL_RECORD);

    return symbol ? symbol->is.record : NULL;
}

const struct message *message_of(const struct checker *checker, struct code type)
{
    struct symbol *symbol = find_symbol(checker, type_name(type), SYMBOL_MESSAGE);

    return symbol ? symbol->is.message : NULL;
}

/* Those of its inner structs are known by then: they are declared before it. */
void note_deep_field(struct checker *checker, const struct record *record)
{
    for (struct field *field = record->fields; field; field = field->next) {
        struct field *deep = NULL;

        if (field->variable || field->stars || type_is(field->type, "string"))
            deep = field;
        else if (field->record)
            deep = map_find(&checker->deep, field->record->name.text);
        if (deep) {
            map_put(&checker->deep, record->name.text, deep);
            return;
        }
    }
}

void refuse_deep(const struct checker *checker, const struct record *record, struct name name,
                 const char *where)
{
    const struct field *deep = record ? map_find(&checker->deep, record->name.text) : NULL;

    if (!deep)
        return;
    error_name(name, "struct `%.*s' cannot be %s: a copy of its bytes is not all of it",
               TEXT(record->name.text), where);
    hint_at(deep->name.place, "`%.*s' lies outside of the struct", TEXT(deep->name.text));
}
