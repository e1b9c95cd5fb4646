/* SPDX-License-Identifier: Apache-2.0 */
/* parse_fields.c - types, fields and parameters: what declares a variable. */
#include "code.h"
#include "diagnostic.h"
#include "arena.h"
#include "parsing.h"
#include "text.h"

static const char *const type_words[] = {
    "void",    "char",     "short",   "int",      "long",     "float",    "double",
    "signed",  "const",    "struct",  "union",    "enum",     "volatile", "unsigned",
    "_Bool",   "_Complex", "string",  "bool",     "size_t",   "int8_t",   "int16_t",
    "int32_t", "int64_t",  "uint8_t", "uint16_t", "uint32_t", "uint64_t", NULL,
};

bool is_type_word(struct text text)
{
    return text_among(text, type_words) >= 0;
}

/* ---- C++ ----------------------------------------------------------------------------------- */

static bool at_pair(struct parser *parser, char first, char second)
{
    const struct token *token = look(parser);

    return token_is_mark(token, first) && token->text.at[1] == second;
}

bool parse_reference(struct parser *parser)
{
    if (at_mark(parser, '&')) {
        if (complain(parser, "C has no references"))
            hint("arguments travel by value; an array is written `double x[n]'");
        return true;
    }
    if (at_mark(parser, '<')) {
        if (complain(parser, "C has no templates"))
            hint("an array is written `double x[n]', text is `string'");
        return true;
    }
    if (at_pair(parser, ':', ':')) {
        if (complain_at(parser, look(parser)->text.at, 2, "C has no namespaces"))
            hint("for `std::string' write `string', for `std::vector<double>' `double x[n]'");
        return true;
    }
    return false;
}

/* ---- types --------------------------------------------------------------------------------- */

/* A word of ours that begins a line begins something else: a semicolon is missing. */
static bool at_next(struct parser *parser)
{
    static const char *const words[] = {"entry", "readonly", "message", "transient", NULL};
    const struct token      *token   = look(parser);

    return text_among(token->text, statement_words) >= 0 ||
           (token->first && (text_among(token->text, words) >= 0 || at_class(parser)));
}

/* Whether the last word is a name, and not the end of the type. */
static bool last_is_name(const struct words *words)
{
    return words->count > 1 && !is_type_word(words->last.text) &&
           !token_is_word(&words->before_last, "struct") &&
           !token_is_word(&words->before_last, "union") &&
           !token_is_word(&words->before_last, "enum");
}

/* So does whatever begins a line behind a type and a name. */
static bool words_end(struct parser *parser, const struct words *words)
{
    return words->count && (at_next(parser) || (look(parser)->first && last_is_name(words)));
}

struct words take_words(struct parser *parser)
{
    struct words words = {.count = 0};

    while (look(parser)->kind == TOKEN_WORD && !words_end(parser, &words)) {
        words.before_last = words.last;
        words.last        = take(parser);
        if (!words.count++)
            words.first = words.last;
    }
    return words;
}

struct code type_of(const struct parser *parser, const struct words *words, bool named)
{
    struct text last = named ? words->before_last.text : words->last.text;

    return (struct code){text_between(words->first.text.at, text_end(last)),
                         place_of(parser, words->first.text.at)};
}

static unsigned take_stars(struct parser *parser)
{
    unsigned stars = 0;

    while (take_mark(parser, '*'))
        stars++;
    return stars;
}

/* ---- fields -------------------------------------------------------------------------------- */

static bool parse_dimensions(struct parser *parser, struct dimension **dimensions)
{
    while (at_mark(parser, '[')) {
        struct token      open = take(parser);
        struct dimension *dimension;

        *dimensions = dimension = ARENA_NEW(struct dimension);
        dimension->place        = place_of(parser, open.text.at);
        if (!take_code(parser, 0, &dimension->length) || !expect_closed(parser, open.text.at))
            return false;
        dimensions = &dimension->next;
    }
    return true;
}

static bool refuse_local_array(struct parser *parser)
{
    if (complain(parser, "a variable of structured code cannot be an array"))
        hint("declare it in `state { }', or inside of a `serial { }'");
    return false;
}

/* What follows the name: { "[" [ code ] "]" } [ "=" code ]. */
static bool parse_declarator(struct parser *parser, struct field *field, bool local)
{
    if (local && at_mark(parser, '['))
        return refuse_local_array(parser);
    if (!parse_dimensions(parser, &field->dimensions))
        return false;
    if (!take_mark(parser, '='))
        return true;
    if (!take_code(parser, STOP_COMMA | STOP_SEMICOLON, &field->value))
        return false;
    if (!field->value.text.at)
        return complain(parser, "expected a value behind `=', not %s", seen(parser)), false;
    return true;
}

/* { "," declarator } ";": the type is that of @p first. */
static bool parse_more_declarators(struct parser *parser, struct field *first, bool local)
{
    for (struct field *field = first; take_mark(parser, ',');) {
        field->next      = ARENA_NEW(struct field);
        field            = field->next;
        field->type      = first->type;
        field->transient = first->transient;
        field->stars     = take_stars(parser);
        if (!expect_name(parser, &field->name, "a name") || !parse_declarator(parser, field, local))
            return false;
    }
    return expect_semicolon(parser, "the declaration");
}

/* The type and the first name. */
static bool parse_first_name(struct parser *parser, struct field *field)
{
    struct words words = take_words(parser);

    if (!words.count) {
        if (complain(parser, "expected a type, not %s", seen(parser)) && at_mark(parser, '['))
            hint("fields have no attributes in brackets; one that is not packed: `transient int "
                 "*p;'");
        return false;
    }
    if (words.count > 1 && last_is_name(&words) && !at_mark(parser, '*')) {
        field->type = type_of(parser, &words, true);
        field->name = name_of(parser, &words.last);
        return true;
    }
    field->type  = type_of(parser, &words, false);
    field->stars = take_stars(parser);
    if (look(parser)->kind == TOKEN_WORD && !at_next(parser))
        return expect_name(parser, &field->name, "a name");
    if (!parse_reference(parser))
        complain_at(parser, words.last.text.at, words.last.text.length,
                    "expected a name behind the type `%.*s'", (int)field->type.text.length,
                    field->type.text.at);
    return false;
}

struct field *parse_field(struct parser *parser, bool local)
{
    struct field *field = ARENA_NEW(struct field);

    field->comment = look(parser)->comment;
    if (!parse_first_name(parser, field) || !parse_declarator(parser, field, local))
        return NULL;
    return parse_more_declarators(parser, field, local) ? field : NULL;
}

static struct field *parse_state_field(struct parser *parser)
{
    struct text   comment   = look(parser)->comment;
    bool          transient = take_word(parser, "transient");
    struct field *fields    = parse_field(parser, false);

    for (struct field *field = fields; field; field = field->next)
        field->transient = transient;
    if (fields)
        fields->comment = comment;
    return fields;
}

struct field *parse_fields(struct parser *parser, const char *open, bool state)
{
    static const char *const words[] = {"entry", "state", NULL};
    struct field            *fields = NULL, **next = &fields;

    while (!at_end(parser) && !at_mark(parser, '}')) {
        const char *from = look(parser)->text.at;

        if (take_mark(parser, ';'))
            continue;
        if (at_word(parser, "entry"))
            break;
        *next = state ? parse_state_field(parser) : parse_field(parser, false);
        if (!*next)
            skip_to_next(parser, from, words);
        while (*next)
            next = &(*next)->next;
    }
    expect_closed(parser, open);
    return fields;
}

/* ---- parameters ---------------------------------------------------------------------------- */

/* The type, the stars and the name; one of type and name may be missing. */
static bool parse_type_and_name(struct parser *parser, struct parameter *parameter, bool names)
{
    struct words words = take_words(parser);
    bool         named = last_is_name(&words) && !at_mark(parser, '*');

    if (!words.count) {
        if (!parse_reference(parser))
            complain(parser, "expected a parameter, not %s", seen(parser));
        return false;
    }
    if (names && words.count == 1 && !is_type_word(words.last.text) && !at_mark(parser, '*')) {
        parameter->name = name_of(parser, &words.last);
        return true;
    }
    parameter->type = type_of(parser, &words, named);
    if (named) {
        parameter->name = name_of(parser, &words.last);
        return true;
    }
    parameter->stars      = take_stars(parser);
    parameter->name.place = parameter->type.place; /* without a name, errors point to the type */
    if (look(parser)->kind == TOKEN_WORD)
        return expect_name(parser, &parameter->name, "a name");
    return true;
}

static bool parse_length(struct parser *parser, struct parameter *parameter)
{
    struct token open = take(parser);

    parameter->passing = PASS_ARRAY;
    if (!take_code(parser, 0, &parameter->length) || !expect_closed(parser, open.text.at))
        return false;
    if (!at_mark(parser, '['))
        return true;
    if (complain(parser, "an array that is an argument has one dimension"))
        hint("write the number of all elements: `double x[n * m]'");
    return false;
}

static bool parse_default(struct parser *parser)
{
    if (!at_mark(parser, '='))
        return true;
    if (complain(parser, "parameters have no default values"))
        hint("C has none either; a second entry can do");
    return false;
}

static struct parameter *parse_parameter(struct parser *parser, bool names)
{
    struct parameter *parameter = ARENA_NEW(struct parameter);

    bool landing = take_word(parser, "landing");

    parameter->post   = at_word(parser, "nocopypost");
    parameter->nocopy = take_word(parser, "nocopypost") || take_word(parser, "nocopy");
    if (!parse_type_and_name(parser, parameter, names))
        return NULL;
    if (parameter->type.text.at && text_is(parameter->type.text, "string") && !parameter->stars)
        parameter->passing = PASS_STRING;
    if (at_mark(parser, '[') && !parse_length(parser, parameter))
        return NULL;
    if (landing)
        parameter->passing = PASS_LANDING;
    return parse_default(parser) ? parameter : NULL;
}

/* `(void)`: none. */
static bool take_void(struct parser *parser)
{
    struct token after;

    if (!at_word(parser, "void"))
        return false;
    after = look_further(parser, 1);
    return token_is_mark(&after, ')') && take_word(parser, "void");
}

bool parse_parameters(struct parser *parser, struct parameter **parameters, bool names)
{
    const char *open = look(parser)->text.at;

    if (!expect_mark(parser, '(', "the name"))
        return false;
    if (take_void(parser) || at_mark(parser, ')'))
        return expect_closed(parser, open);
    do {
        *parameters = parse_parameter(parser, names);
        if (!*parameters)
            return false;
        parameters = &(*parameters)->next;
    } while (take_mark(parser, ','));
    return expect_closed(parser, open);
}
