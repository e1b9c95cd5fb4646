/* SPDX-License-Identifier: Apache-2.0 */
/* parse_decl.c - the grammar of declarations: types, fields and parameters. */
#include "syntax/c_code.h"

#include <assert.h>
#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/text.h"
#include "syntax/grammar.h"
#include "syntax/ident.h"
#include "syntax/parser.h"
#include "syntax/recovery.h"

/* ---- types -------------------------------------------------------------------------------- */

/* Returns whether a keyword of this language is next that cannot belong to a type: a semicolon is
 * missing before it. */
static bool parse_decl_at_next(struct parser *parser)
{
    static const char *const  words[] = {"entry", "readonly", "message", "transient", NULL};
    const struct lexer_token *token   = parser_peek(parser);

    return text_index_in(token->text, parse_statement_keywords) >= 0 ||
           (token->first && (text_index_in(token->text, words) >= 0 || parse_at_class(parser)));
}

/* Returns whether the last word is the declared name rather than part of the type. */
static bool parse_decl_last_is_name(const struct parse_specifiers *words)
{
    return words->count > 1 && !ident_is_type_keyword(words->last.text) &&
           !parser_is_keyword(&words->before_last, "struct") &&
           !parser_is_keyword(&words->before_last, "union") &&
           !parser_is_keyword(&words->before_last, "enum");
}

/* A type ends also before a line break after a type and a name: a semicolon is missing there. */
static bool parse_decl_specifiers_end(struct parser *parser, const struct parse_specifiers *words)
{
    return words->count && (parse_decl_at_next(parser) ||
                            (parser_peek(parser)->first && parse_decl_last_is_name(words)));
}

struct parse_specifiers parse_take_specifiers(struct parser *parser)
{
    struct parse_specifiers words = {.count = 0};

    while (parser_peek(parser)->kind == TOKEN_IDENTIFIER &&
           !parse_decl_specifiers_end(parser, &words)) {
        words.before_last = words.last;
        words.last        = parser_next(parser);
        if (!words.count++)
            words.first = words.last;
    }
    return words;
}

struct source_code parse_type_of(const struct parser *parser, const struct parse_specifiers *words,
                                 bool named)
{
    struct text last = named ? words->before_last.text : words->last.text;

    assert(words->count > (named ? 1u : 0u));
    return (struct source_code){text_between(words->first.text.at, text_end(last)),
                                parser_locate(parser, words->first.text.at)};
}

/* ---- fields ------------------------------------------------------------------------------- */

static bool parse_decl_dimensions(struct parser *parser, struct ast_dimension **dimensions)
{
    while (parser_at_punctuator(parser, '[')) {
        struct lexer_token    open = parser_next(parser);
        struct ast_dimension *dimension;

        *dimensions = dimension = BUMP_NEW(struct ast_dimension);
        dimension->location     = parser_locate(parser, open.text.at);
        if (!c_code_expression(parser, 0, &dimension->length) ||
            !parser_expect_closer(parser, open.text.at))
            return false;
        dimensions = &dimension->next;
    }
    return true;
}

static bool parse_decl_reject_local_array(struct parser *parser)
{
    if (parser_error(parser, "a local variable of a body cannot be an array"))
        diagnostic_hint("declare it in `state { }', or inside a `serial { }'");
    return false;
}

bool parse_field_value(struct parser *parser, struct ast_field *field)
{
    if (!c_code_expression(parser, C_CODE_STOP_COMMA | C_CODE_STOP_SEMICOLON, &field->value))
        return false;
    if (!field->value.text.at)
        parser_error(parser, "expected a value after `=', found %s", parser_describe_next(parser));
    return field->value.text.at != NULL;
}

/* Parses what follows the name: { "[" [ code ] "]" } [ "=" code ]. */
static bool parse_decl_declarator(struct parser *parser, struct ast_field *field, bool local)
{
    if (local && parser_at_punctuator(parser, '['))
        return parse_decl_reject_local_array(parser);
    if (!parse_decl_dimensions(parser, &field->dimensions))
        return false;
    return !parser_accept_punctuator(parser, '=') || parse_field_value(parser, field);
}

/* Parses { "," declarator } ";" of the type of @p first. */
static bool parse_decl_more_declarators(struct parser *parser, struct ast_field *first, bool local)
{
    for (struct ast_field *field = first; parser_accept_punctuator(parser, ',');) {
        field->next      = BUMP_NEW(struct ast_field);
        field            = field->next;
        field->type      = first->type;
        field->transient = first->transient;
        field->stars     = parser_accept_stars(parser);
        if (!parser_expect_name(parser, &field->name, "a name") ||
            !parse_decl_declarator(parser, field, local))
            return false;
    }
    return parser_expect_semicolon(parser, "the declaration");
}

/* Parses the type and the first name. */
static bool parse_decl_first_name(struct parser *parser, struct ast_field *field)
{
    struct parse_specifiers words = parse_take_specifiers(parser);

    if (!words.count) {
        if (parser_error(parser, "expected a type, found %s", parser_describe_next(parser)) &&
            parser_at_punctuator(parser, '['))
            diagnostic_hint("a field cannot have attributes in brackets; to exclude it from "
                            "packing, write `transient int *p;'");
        return false;
    }
    if (words.count > 1 && parse_decl_last_is_name(&words) && !parser_at_punctuator(parser, '*')) {
        field->type = parse_type_of(parser, &words, true);
        field->name = parser_name_of(parser, &words.last);
        return true;
    }
    field->type  = parse_type_of(parser, &words, false);
    field->stars = parser_accept_stars(parser);
    if (parser_peek(parser)->kind == TOKEN_IDENTIFIER && !parse_decl_at_next(parser))
        return parser_expect_name(parser, &field->name, "a name");
    if (!parser_reject_cxx(parser))
        parser_error_at(parser, words.last.text.at, words.last.text.length,
                        "expected a name after the type `%.*s'", (int)field->type.text.length,
                        field->type.text.at);
    return false;
}

struct ast_field *parse_field(struct parser *parser, bool local)
{
    struct ast_field *field = BUMP_NEW(struct ast_field);

    field->comment = parser_peek(parser)->comment;
    if (!parse_decl_first_name(parser, field) || !parse_decl_declarator(parser, field, local))
        return NULL;
    return parse_decl_more_declarators(parser, field, local) ? field : NULL;
}

static struct ast_field *parse_decl_state_field(struct parser *parser)
{
    struct text       comment   = parser_peek(parser)->comment;
    bool              transient = parser_accept_keyword(parser, "transient");
    struct ast_field *fields    = parse_field(parser, false);

    for (struct ast_field *field = fields; field; field = field->next)
        field->transient = transient;
    if (fields)
        fields->comment = comment;
    return fields;
}

struct ast_field *parse_fields(struct parser *parser, const char *open, bool state)
{
    static const char *const words[] = {"entry", "state", NULL};
    struct ast_field        *fields = NULL, **next = &fields;

    while (!parser_at_end(parser) && !parser_at_punctuator(parser, '}')) {
        const char *from = parser_peek(parser)->text.at;

        if (parser_accept_punctuator(parser, ';'))
            continue;
        if (parser_at_keyword(parser, "entry"))
            break;
        *next = state ? parse_decl_state_field(parser) : parse_field(parser, false);
        if (!*next)
            recovery_skip_to_next(parser, from, words);
        while (*next)
            next = &(*next)->next;
    }
    parser_expect_closer(parser, open);
    return fields;
}

/* ---- parameters --------------------------------------------------------------------------- */

/* Parses type, stars and name; either the type or the name may be absent. */
static bool parse_decl_parameter_name(struct parser *parser, struct ast_parameter *parameter,
                                      bool names)
{
    struct parse_specifiers words = parse_take_specifiers(parser);
    bool named = parse_decl_last_is_name(&words) && !parser_at_punctuator(parser, '*');

    if (!words.count) {
        if (!parser_reject_cxx(parser))
            parser_error(parser, "expected a parameter, found %s", parser_describe_next(parser));
        return false;
    }
    if (names && words.count == 1 && !ident_is_type_keyword(words.last.text) &&
        !parser_at_punctuator(parser, '*')) {
        parameter->name = parser_name_of(parser, &words.last);
        return true;
    }
    parameter->type = parse_type_of(parser, &words, named);
    if (named) {
        parameter->name = parser_name_of(parser, &words.last);
        return true;
    }
    parameter->stars = parser_accept_stars(parser);
    parameter->name.location =
        parameter->type.location; /* errors about an unnamed parameter point to its type */
    if (parser_peek(parser)->kind == TOKEN_IDENTIFIER)
        return parser_expect_name(parser, &parameter->name, "a name");
    return true;
}

static bool parse_decl_array_length(struct parser *parser, struct ast_parameter *parameter)
{
    struct lexer_token open = parser_next(parser);

    parameter->passing = PASS_ARRAY;
    if (!c_code_expression(parser, 0, &parameter->length) ||
        !parser_expect_closer(parser, open.text.at))
        return false;
    if (!parser_at_punctuator(parser, '['))
        return true;
    if (parser_error(parser, "an array argument can have only one dimension"))
        diagnostic_hint("write the total number of elements: `double x[n * m]'");
    return false;
}

static bool parse_decl_reject_default(struct parser *parser)
{
    if (!parser_at_punctuator(parser, '='))
        return true;
    if (parser_error(parser, "a parameter cannot have a default value"))
        diagnostic_hint(
            "declare a second entry instead; of the constructor, which is the only one, "
            "callers pass all arguments");
    return false;
}

static struct ast_parameter *parse_decl_parameter(struct parser *parser, bool names)
{
    struct ast_parameter *parameter = BUMP_NEW(struct ast_parameter);

    bool inplace = parser_accept_keyword(parser, "inplace");

    parameter->post = parser_at_keyword(parser, "nocopypost");
    parameter->nocopy =
        parser_accept_keyword(parser, "nocopypost") || parser_accept_keyword(parser, "nocopy");
    if (!parse_decl_parameter_name(parser, parameter, names))
        return NULL;
    if (parameter->type.text.at && text_is(parameter->type.text, "string") && !parameter->stars)
        parameter->passing = PASS_STRING;
    if (parser_at_punctuator(parser, '[') && !parse_decl_array_length(parser, parameter))
        return NULL;
    if (inplace)
        parameter->passing = PASS_INPLACE;
    return parse_decl_reject_default(parser) ? parameter : NULL;
}

/* Takes `void` if it is the whole parameter list. */
static bool parse_decl_accept_void(struct parser *parser)
{
    struct lexer_token after;

    if (!parser_at_keyword(parser, "void"))
        return false;
    after = parser_peek_ahead(parser, 1);
    return parser_is_punctuator(&after, ')') && parser_accept_keyword(parser, "void");
}

bool parse_parameters(struct parser *parser, struct ast_parameter **parameters, bool names)
{
    const char *open = parser_peek(parser)->text.at;

    if (!parser_expect_punctuator(parser, '(', "the name"))
        return false;
    if (parse_decl_accept_void(parser) || parser_at_punctuator(parser, ')'))
        return parser_expect_closer(parser, open);
    do {
        *parameters = parse_decl_parameter(parser, names);
        if (!*parameters)
            return false;
        parameters = &(*parameters)->next;
    } while (parser_accept_punctuator(parser, ','));
    return parser_expect_closer(parser, open);
}
