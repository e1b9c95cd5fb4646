/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_types.c - types, as far as they are known without a C compiler.
 *
 * A type is a few words of C.  Structs and messages of interface files are known, and so are C's
 * own types by their names.  Any other name may be a typedef of anything and is accepted.
 */
#include "check/check.h"

#include <string.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "syntax/ident.h"

static bool check_type_is_qualifier(struct text word)
{
    return text_is(word, "const") || text_is(word, "volatile") || text_is(word, "restrict");
}

struct check_type_spelling {
    char  *at;
    size_t length;
};

static void check_type_spell_word(struct text word, void *arg)
{
    struct check_type_spelling *spelling = arg;

    if (check_type_is_qualifier(word))
        return;
    if (spelling->length)
        spelling->at[spelling->length++] = ' ';
    memcpy(spelling->at + spelling->length, word.at, word.length);
    spelling->length += word.length;
}

char *check_type_spelling_of(struct source_code type)
{
    /* room for a separator after the last word, and a NUL byte */
    struct check_type_spelling spelling = {.at = bump_alloc(type.text.length + 2)};

    ident_for_each(type, check_type_spell_word, &spelling);
    return spelling.at;
}

bool check_type_is(struct source_code type, const char *spelling)
{
    return !strcmp(check_type_spelling_of(type), spelling);
}

bool check_same_type(struct source_code a, unsigned a_stars, struct source_code b, unsigned b_stars)
{
    return a_stars == b_stars && check_type_is(a, check_type_spelling_of(b));
}

static void check_type_note_const(struct text word, void *arg)
{
    bool *found = arg;

    *found |= text_is(word, "const");
}

bool check_type_is_const(struct source_code type)
{
    bool found = false;

    ident_for_each(type, check_type_note_const, &found);
    return found;
}

struct check_type_last_word {
    struct text word;
    unsigned    others;
};

static void check_type_keep_last(struct text word, void *arg)
{
    struct check_type_last_word *last = arg;

    if (check_type_is_qualifier(word) || text_is(word, "struct"))
        return;
    last->others += last->word.at != NULL;
    last->word = word;
}

struct text check_type_name(struct source_code type)
{
    struct check_type_last_word last = {.others = 0};

    ident_for_each(type, check_type_keep_last, &last);
    return last.others ? (struct text){0} : last.word;
}

struct check_type_word_set {
    const char *const *words;
    bool               all;
};

static void check_type_test_word(struct text word, void *arg)
{
    struct check_type_word_set *set = arg;

    if (check_type_is_qualifier(word))
        return;
    for (const char *const *w = set->words; *w; w++)
        if (text_is(word, *w))
            return;
    set->all = false;
}

bool check_may_be_integer(const struct checker *checker, struct source_code type, unsigned stars)
{
    static const char *const   others[] = {"float",  "double",   "long",    "void",
                                           "string", "_Complex", "complex", NULL};
    struct check_type_word_set set      = {others, true};

    if (stars || check_record_of(checker, type) || check_message_of(checker, type))
        return false;
    if (check_type_is(type, "long") || check_type_is(type, "long long"))
        return true;
    ident_for_each(type, check_type_test_word, &set);
    return !set.all && !text_starts_with(text_of(check_type_spelling_of(type)), "struct ") &&
           !text_starts_with(text_of(check_type_spelling_of(type)), "union ");
}

const struct ast_record *check_record_of(const struct checker *checker, struct source_code type)
{
    struct check_symbol *symbol = check_find_symbol(checker, check_type_name(type), SYMBOL_RECORD);

    return symbol ? symbol->is.record : NULL;
}

const struct ast_message *check_message_of(const struct checker *checker, struct source_code type)
{
    struct check_symbol *symbol = check_find_symbol(checker, check_type_name(type), SYMBOL_MESSAGE);

    return symbol ? symbol->is.message : NULL;
}

bool check_reject_class(const struct checker *checker, struct source_code type,
                        struct source_name name)
{
    const struct check_symbol *class =
        check_find_symbol(checker, check_type_name(type), SYMBOL_CLASS);

    if (!class)
        return false;
    diagnostic_error_name(name, "`%.*s' is a class: its objects cannot be copied",
                          TEXT_ARGS(class->name.text));
    diagnostic_hint("use a reference: `%.*s_proxy %.*s'", TEXT_ARGS(class->name.text),
                    TEXT_ARGS(name.text));
    return true;
}

void check_reject_const(struct source_name name)
{
    diagnostic_error_name(name, "`%.*s' cannot be const: the generated code assigns it",
                          TEXT_ARGS(name.text));
}

/* The inner structs have been checked before: they are declared first. */
void check_note_deep_field(struct checker *checker, struct ast_record *record)
{
    record->deep = record->external;
    for (struct ast_field *field = record->fields; field; field = field->next) {
        struct ast_field *deep = NULL;

        if (field->variable || field->stars || check_type_is(field->type, "string"))
            deep = field;
        else if (field->record && field->record->external)
            deep = field;
        else if (field->record)
            deep = strmap_find(&checker->deep, field->record->name.text);
        if (deep) {
            record->deep = true;
            strmap_put(&checker->deep, record->name.text, deep);
            return;
        }
    }
}

void check_reject_deep(const struct checker *checker, const struct ast_record *record,
                       struct source_name name, const char *where)
{
    const struct ast_field *deep;

    if (!record || !record->deep)
        return;
    diagnostic_error_name(name, "struct `%.*s' cannot be %s, because it cannot be copied bytewise",
                          TEXT_ARGS(record->name.text), where);
    deep = strmap_find(&checker->deep, record->name.text);
    if (!deep)
        diagnostic_note_at(record->name.location, "`%.*s_pup' packs it",
                           TEXT_ARGS(record->name.text));
    else if (deep->record && deep->record->external)
        diagnostic_note_at(deep->name.location, "`%.*s_pup' packs `%.*s'",
                           TEXT_ARGS(deep->record->name.text), TEXT_ARGS(deep->name.text));
    else
        diagnostic_note_at(deep->name.location, "the data of `%.*s' are outside of the struct",
                           TEXT_ARGS(deep->name.text));
}
