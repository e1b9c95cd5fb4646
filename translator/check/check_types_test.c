/* SPDX-License-Identifier: Apache-2.0 */
/* check_types_test.c - properties of types, as far as their spelling shows them. */
#include "check/check.h"

#include "support/bump.h"
#include "tests/tap.h"

static struct source_code check_types_test_type(const char *type)
{
    return (struct source_code){.text = text_of(type)};
}

static bool check_types_test_integer(const struct checker *checker, const char *type)
{
    return check_may_be_integer(checker, check_types_test_type(type), 0);
}

static void check_types_test_spelling(void)
{
    OK(check_type_is(check_types_test_type("const  unsigned /* x */ long"), "unsigned long"),
       "a spelling has no qualifiers, comments or surplus blanks");
    OK(check_same_type(check_types_test_type("const int"), 1, check_types_test_type("int"), 1) &&
           !check_same_type(check_types_test_type("int"), 1, check_types_test_type("int"), 0),
       "types are compared by spelling and stars");
    OK(text_is(check_type_name(check_types_test_type("const struct point")), "point") &&
           !check_type_name(check_types_test_type("unsigned int")).at,
       "a type of a single word has a name");
}

static void check_types_test_symbols(struct checker *checker)
{
    static struct ast_record  record  = {.name = {.text = {"point", 5}}};
    static struct ast_message message = {.name = {.text = {"Tile", 4}}};

    check_add_symbol(
        checker,
        (struct check_symbol){.kind = SYMBOL_RECORD, .name = record.name, .is.record = &record});
    check_add_symbol(checker, (struct check_symbol){.kind       = SYMBOL_MESSAGE,
                                                    .name       = message.name,
                                                    .is.message = &message});
    OK(check_record_of(checker, check_types_test_type("struct point")) == &record &&
           !check_record_of(checker, check_types_test_type("Tile")),
       "a struct is found by its type");
    OK(check_message_of(checker, check_types_test_type("Tile")) == &message, "and so is a message");
    OK(!strcmp(check_nearest_symbol(checker, text_of("poimt"), SYMBOL_RECORD), "point") &&
           !check_nearest_symbol(checker, text_of("poimt"), SYMBOL_MESSAGE) &&
           !strcmp(check_nearest_type(checker, text_of("duoble")), "double"),
       "misspelt names get a suggestion");
    OK(!check_types_test_integer(checker, "point") && !check_types_test_integer(checker, "Tile"),
       "neither is an integer");
}

int main(void)
{
    struct checker checker = {0};

    check_types_test_spelling();
    OK(check_types_test_integer(&checker, "int") &&
           check_types_test_integer(&checker, "unsigned long long") &&
           check_types_test_integer(&checker, "size_t") &&
           check_types_test_integer(&checker, "my_typedef"),
       "integers, and names that may be a typedef of one");
    OK(!check_types_test_integer(&checker, "double") &&
           !check_types_test_integer(&checker, "long double") &&
           !check_types_test_integer(&checker, "string") &&
           !check_types_test_integer(&checker, "struct point"),
       "other types are not");
    check_types_test_symbols(&checker);
    bump_free_all();
    return tap_end();
}
