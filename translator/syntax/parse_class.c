/* SPDX-License-Identifier: Apache-2.0 */
/* parse_class.c - the grammar of chares, groups, arrays and interfaces, with their entries and
 * state. */
#include "support/bump.h"

#include "support/diagnostic.h"
#include "support/text.h"
#include "syntax/c_code.h"
#include "syntax/grammar.h"
#include "syntax/parser.h"
#include "syntax/recovery.h"

static const char *const member_words[] = {"entry", "state", NULL};

/* ---- attributes --------------------------------------------------------------------------- */

static bool parse_class_is_attribute(const struct lexer_token *token)
{
    return token->kind == TOKEN_IDENTIFIER && text_index_in(token->text, ast_attribute_names) >= 0;
}

/* Rejects attributes of an entry that are before or after it, or without brackets.  Returns
 * whether there are any. */
static bool parse_class_reject_misplaced(struct parser *parser)
{
    if (!parser_at_punctuator(parser, '[') && !parse_class_is_attribute(parser_peek(parser)))
        return false;
    if (parser_error(parser, "attributes of an entry belong in brackets after the keyword `entry'"))
        diagnostic_hint("such as `entry [threaded] void run();'");
    return true;
}

static void parse_class_unknown_attribute(struct parser *parser)
{
    const char *suggestion = parser_nearest_keyword(parser, ast_attribute_names);

    if (!parser_error(parser, "unknown attribute %s", parser_describe_next(parser)))
        return;
    if (suggestion)
        diagnostic_hint("did you mean `%s'?", suggestion);
    else if (parser_at_keyword(parser, "migratable"))
        diagnostic_hint("it is an attribute of classes: `[migratable] array [1D] Block'");
    else if (parser_at_keyword(parser, "exclusive"))
        diagnostic_hint("an object always runs one entry at a time");
    else if (parser_at_keyword(parser, "python") || parser_at_keyword(parser, "whenidle") ||
             parser_at_keyword(parser, "appwork"))
        diagnostic_hint("Charm++ has this attribute, Skua does not");
    else
        diagnostic_hint(
            "the attributes are threaded, sync, expedited, immediate, inline, local, "
            "reductiontarget, createhere, createhome, nokeep, notrace, aggregate, resume, "
            "position and load");
}

static bool parse_class_aggregate(struct parser *parser, struct ast_entry *entry)
{
    const char *open = parser_peek(parser)->text.at;

    if (!parser_accept_punctuator(parser, '('))
        return true;
    return c_code_expression(parser, 0, &entry->aggregate) && parser_expect_closer(parser, open);
}

static bool parse_class_attribute(struct parser *parser, struct ast_entry *entry)
{
    int number = parser_peek(parser)->kind == TOKEN_IDENTIFIER
                     ? text_index_in(parser_peek(parser)->text, ast_attribute_names)
                     : -1;

    if (parser_peek(parser)->kind != TOKEN_IDENTIFIER)
        return parser_error(parser, "expected an attribute, found %s",
                            parser_describe_next(parser)),
               false;
    if (number < 0) {
        parse_class_unknown_attribute(parser);
        parser_next(parser);
        return true; /* ignore the attribute */
    }
    if (entry->attributes & 1u << number)
        parser_error(parser, "duplicate attribute %s", parser_describe_next(parser));
    parser_next(parser);
    entry->attributes |= 1u << number;
    return (1 << number) != ATTRIBUTE_AGGREGATE || parse_class_aggregate(parser, entry);
}

static bool parse_class_attributes(struct parser *parser, struct ast_entry *entry)
{
    const char *open = parser_peek(parser)->text.at;

    if (!parser_accept_punctuator(parser, '['))
        return true;
    do
        if (!parse_class_attribute(parser, entry))
            return false;
    while (parser_accept_punctuator(parser, ','));
    return parser_expect_closer(parser, open);
}

/* ---- entries ------------------------------------------------------------------------------ */

static bool parse_class_is_own_name(const struct parser *parser, struct text name)
{
    return parser->class.text.at && text_equal(name, parser->class.text);
}

static bool parse_class_destructor(struct parser *parser, struct ast_entry *entry)
{
    entry->kind = ENTRY_DESTRUCTOR;
    if (!parser_expect_name(parser, &entry->name, "the name of the class after `~'"))
        return false;
    if (!parse_class_is_own_name(parser, entry->name.text)) {
        if (parser_error_at(parser, entry->name.text.at, entry->name.text.length,
                            "a destructor must have the name of its class"))
            diagnostic_hint("write `~%.*s()'", (int)parser->class.text.length,
                            parser->class.text.at);
    }
    if (!parse_parameters(parser, &entry->parameters, false))
        return false;
    if (entry->parameters)
        parser_error_at(parser, entry->name.text.at, entry->name.text.length,
                        "a destructor cannot have parameters");
    return true;
}

/* Reports an entry without a type: a misspelt constructor, or a missing `void`. */
static void parse_class_no_type(struct parser *parser, const struct ast_entry *entry)
{
    char *class                = bump_string(parser->class.text);
    const char *const  names[] = {class, NULL};
    struct source_name name    = entry->name;

    if (!parser_error_at(parser, name.text.at, name.text.length, "entry `%.*s' has no result type",
                         (int)name.text.length, name.text.at))
        return;
    if (*class && diagnostic_nearest(name.text, names))
        diagnostic_hint("a constructor must have the name of its class: `%s'", class);
    else
        diagnostic_hint("write `entry void %.*s(...)'", (int)name.text.length, name.text.at);
}

static void parse_class_set_result(struct ast_entry *entry, struct source_code type, unsigned stars)
{
    if (stars || !text_is(type.text, "void")) {
        entry->result       = type;
        entry->result_stars = stars;
    }
}

/* Parses NAME after "type *". */
static bool parse_class_name_after_stars(struct parser *parser, struct ast_entry *entry,
                                         const struct parse_specifiers *words)
{
    unsigned stars = 0;

    while (parser_accept_punctuator(parser, '*'))
        stars++;
    if (words->count)
        parse_class_set_result(entry, parse_type_of(parser, words, false), stars);
    return !parser_reject_cxx(parser) &&
           parser_expect_name(parser, &entry->name, "the name of an entry");
}

/* [ type ] NAME */
static bool parse_class_type_and_name(struct parser *parser, struct ast_entry *entry)
{
    struct lexer_token      after = parser_peek_ahead(parser, 1);
    struct parse_specifiers words;

    if (parse_class_is_attribute(parser_peek(parser)) && after.kind == TOKEN_IDENTIFIER &&
        parse_class_reject_misplaced(parser))
        return false;
    words = parse_take_specifiers(parser);
    if (parser_at_punctuator(parser, '[') && parse_class_reject_misplaced(parser))
        return false;
    if (!words.count || parser_at_punctuator(parser, '*'))
        return parse_class_name_after_stars(parser, entry, &words);
    entry->name = parser_name_of(parser, &words.last);
    if (words.count > 1)
        parse_class_set_result(entry, parse_type_of(parser, &words, true), 0);
    if (parse_class_is_own_name(parser, entry->name.text)) {
        entry->kind = ENTRY_CONSTRUCTOR;
        if (words.count > 1)
            parser_error_at(parser, words.first.text.at, words.first.text.length,
                            "a constructor cannot have a result type");
    } else if (words.count == 1 && parser_at_punctuator(parser, '(')) {
        parse_class_no_type(parser, entry);
    }
    return true;
}

/* ";" | block [ ";" ] */
static bool parse_class_body(struct parser *parser, struct ast_entry *entry)
{
    if (parser_accept_punctuator(parser, '{')) {
        entry->body = parse_block(parser);
        parser_accept_punctuator(parser, ';');
        return true;
    }
    if (parser_at_punctuator(parser, '=')) {
        if (parser_error(parser, "expected `;' or `{'"))
            diagnostic_hint("the body of an entry follows its parameters without a `='");
        return false;
    }
    return !parse_class_reject_misplaced(parser) && parser_expect_semicolon(parser, "the entry");
}

struct ast_entry *parse_entry(struct parser *parser)
{
    struct ast_entry  *entry = BUMP_NEW(struct ast_entry);
    struct lexer_token word  = parser_next(parser);
    bool               right;

    entry->comment  = word.comment;
    entry->location = parser_locate(parser, word.text.at);
    if (!parse_class_attributes(parser, entry))
        return NULL;
    if (parser_accept_punctuator(parser, '~'))
        right = parse_class_destructor(parser, entry);
    else
        right = parse_class_type_and_name(parser, entry) &&
                parse_parameters(parser, &entry->parameters, false);
    return right && parse_class_body(parser, entry) ? entry : NULL;
}

/* ---- members ------------------------------------------------------------------------------ */

static bool parse_class_state(struct parser *parser, struct ast_class *class)
{
    struct lexer_token word = parser_next(parser);
    const char        *open = parser_peek(parser)->text.at;
    struct ast_field  *fields;

    if (parser_at_punctuator(parser, '[')) {
        if (parser_error(parser, "a `state' cannot have attributes"))
            diagnostic_hint("to exclude a field from packing, write `transient' before it: "
                            "`transient int *cache;'");
        return false;
    }
    if (!parser_expect_punctuator(parser, '{', "`state'"))
        return false;
    fields = parse_fields(parser, open, true);
    parser_accept_punctuator(parser, ';');
    if (class->has_state) {
        if (parser_error_at(parser, word.text.at, word.text.length, "duplicate `state'"))
            diagnostic_note_at(class->state_location, "the first one is here");
        return true;
    }
    class->has_state      = true;
    class->state_location = parser_locate(parser, word.text.at);
    class->state          = fields;
    return true;
}

/* Rejects `public:` and other access specifiers.  Returns whether there was one. */
static bool parse_class_reject_access(struct parser *parser)
{
    struct lexer_token after = parser_peek_ahead(parser, 1);

    if (!parser_is_punctuator(&after, ':') ||
        (!parser_at_keyword(parser, "public") && !parser_at_keyword(parser, "private") &&
         !parser_at_keyword(parser, "protected")))
        return false;
    if (parser_error(parser, "%s is C++ syntax", parser_describe_next(parser)))
        diagnostic_hint("an interface file has no access specifiers: remove it");
    parser_next(parser);
    parser_next(parser);
    return true;
}

/* Handles a construct that is not a member.  Returns false if it must be skipped. */
static bool parse_class_unknown_member(struct parser     *parser, struct ast_class *class,
                                       struct ast_entry **entry)
{
    struct lexer_token after      = parser_peek_ahead(parser, 1);
    const char        *suggestion = parser_nearest_keyword(parser, member_words);

    if (parse_class_reject_access(parser))
        return true;
    if (parse_class_reject_misplaced(parser) ||
        !parser_error(parser, "expected `entry', `state' or `}', found %s",
                      parser_describe_next(parser)))
        return false;
    if (suggestion) {
        diagnostic_hint("did you mean `%s'?", suggestion);
        if (!strcmp(suggestion, "state"))
            return parse_class_state(parser, class);
        *entry = parse_entry(parser);
        return *entry;
    }
    if (parser_peek(parser)->kind == TOKEN_DIRECTIVE)
        diagnostic_hint("directives belong between the declarations of a module");
    else if (after.kind == TOKEN_IDENTIFIER || parser_is_punctuator(&after, '(') ||
             parser_is_punctuator(&after, '*'))
        diagnostic_hint("declare a method with `entry', and variables in `state { }'");
    return false;
}

static void parse_class_members(struct parser *parser, struct ast_class *class, const char *open)
{
    struct ast_entry **next = &class->entries;

    while (!parser_at_end(parser) && !parser_at_punctuator(parser, '}')) {
        const char *from = parser_peek(parser)->text.at;
        bool        right;

        if (parser_accept_punctuator(parser, ';'))
            continue;
        if (parser_peek(parser)->first && parse_at_class(parser))
            break;
        if (parser_at_keyword(parser, "entry"))
            right = (*next = parse_entry(parser));
        else if (parser_at_keyword(parser, "state"))
            right = parse_class_state(parser, class);
        else
            right = parse_class_unknown_member(parser, class, next);
        if (*next)
            next = &(*next)->next;
        if (!right)
            recovery_skip_to_next(parser, from, member_words);
    }
    parser_expect_closer(parser, open);
}

/* ---- classes ------------------------------------------------------------------------------ */

static bool parse_class_is_kind(const struct lexer_token *token)
{
    return token->kind == TOKEN_IDENTIFIER && text_index_in(token->text, ast_class_kind_names) >= 0;
}

bool parse_at_class(struct parser *parser)
{
    struct lexer_token after;

    if (!parse_class_is_kind(parser_peek(parser)))
        return false;
    after = parser_peek_ahead(parser, 1);
    return after.kind == TOKEN_IDENTIFIER ||
           (parser_at_keyword(parser, "array") && parser_is_punctuator(&after, '['));
}

/* "migratable" | "bypointer" | "moved" */
static bool parse_class_prefix(struct parser *parser, struct ast_class *class)
{
    int which = text_index_in(parser_peek(parser)->text, ast_class_attribute_names);

    if (which >= 0) {
        class->attributes |= 1u << which;
    } else {
        bool        entrys  = parse_class_is_attribute(parser_peek(parser));
        const char *nearest = parser_nearest_keyword(parser, ast_class_attribute_names);

        class->attributes |= CLASS_MIGRATABLE; /* a guess, so that no error follows from this one */
        if (parser_error(parser, "unknown class attribute %s", parser_describe_next(parser))) {
            if (nearest)
                diagnostic_hint("did you mean `%s'?", nearest);
            else
                diagnostic_hint(
                    entrys ? "it is an attribute of entries: `entry [threaded] void run();'"
                           : "the class attributes are migratable, bypointer and moved");
        }
        if (entrys || parser_peek(parser)->kind != TOKEN_IDENTIFIER)
            return false;
    }
    parser_next(parser);
    return true;
}

/* [ "[" class-attribute { "," class-attribute } "]" ] */
static bool parse_class_prefixes(struct parser *parser, struct ast_class *class)
{
    const char *open = parser_peek(parser)->text.at;

    if (!parser_accept_punctuator(parser, '['))
        return true;
    do
        if (!parse_class_prefix(parser, class))
            return false;
    while (parser_accept_punctuator(parser, ','));
    return parser_expect_closer(parser, open);
}

static const char before_class[] =
    "attributes of a class belong before its kind: `[migratable] array [1D] Block'";

/* `chare [migratable] C` */
static bool parse_class_reject_attribute(struct parser *parser)
{
    if (!parser_at_punctuator(parser, '['))
        return false;
    if (parser_error(parser, "expected the name of a class, found `['"))
        diagnostic_hint(before_class);
    return true;
}

/* `[1d]`, `[1]`, `[7D]` */
static void parse_class_reject_dimensions(struct parser *parser)
{
    char digit = *parser_peek(parser)->text.at;

    if (!parser_error(parser, "expected the dimensions of the array, 1D to 6D, or an index type"))
        return;
    if (digit >= '1' && digit <= '6')
        diagnostic_hint("write `array [%cD]'", digit);
    else
        diagnostic_hint("such as `array [2D]' or `array [struct node]'");
}

/* "[" ( "1D" | ... | "6D" | type ) "]" */
static bool parse_class_index(struct parser *parser, struct ast_class *class)
{
    struct lexer_token open = *parser_peek(parser), what;

    if (!parser_accept_punctuator(parser, '[')) {
        if (parser_error(parser, "expected `[' after `array', found %s",
                         parser_describe_next(parser)))
            diagnostic_hint("write the dimensions or an index type in brackets: `array [2D] "
                            "Block', `array [struct node] Block'");
        return false;
    }
    what = *parser_peek(parser);
    if (what.kind == TOKEN_NUMBER) {
        class->dims = (unsigned)(*what.text.at - '0');
        if (what.text.length != 2 || what.text.at[1] != 'D' || class->dims < 1 || class->dims > 6) {
            parse_class_reject_dimensions(parser);
            class->dims = 1;
        }
        parser_next(parser);
        if (parser_at_punctuator(parser, ',')) {
            if (parser_error(parser, "expected `]' after the dimensions, found `,'"))
                diagnostic_hint(before_class);
            return false;
        }
    } else {
        if (!c_code_expression(parser, 0, &class->index))
            return false;
        if (!class->index.text.at)
            parser_error(parser, "expected 1D to 6D, or an index type");
    }
    return parser_expect_closer(parser, open.text.at);
}

static bool parse_class_bases(struct parser *parser, struct ast_class *class)
{
    struct ast_base **next = &class->bases;

    if (!parser_accept_punctuator(parser, ':'))
        return true;
    do {
        if (parser_at_keyword(parser, "public") || parser_at_keyword(parser, "private") ||
            parser_at_keyword(parser, "virtual")) {
            if (parser_error(parser, "%s is C++ syntax", parser_describe_next(parser)))
                diagnostic_hint("write only the names of the interfaces");
            parser_next(parser);
        }
        *next = BUMP_NEW(struct ast_base);
        if (!parser_expect_name(parser, &(*next)->name, "the name of an interface"))
            return false;
        next = &(*next)->next;
    } while (parser_accept_punctuator(parser, ','));
    return true;
}

/* Parses the kind; @p as overrides the keyword that comes next. */
static bool parse_class_kind(struct parser *parser, struct ast_class *class, const char *as)
{
    if (as || parse_class_is_kind(parser_peek(parser))) {
        struct text word = parser_next(parser).text;

        class->kind = (enum ast_class_kind)text_index_in(as ? (struct text){as, strlen(as)} : word,
                                                         ast_class_kind_names);
        return class->kind != CLASS_ARRAY || parse_class_index(parser, class);
    }
    parser_error(parser, "expected a kind of class, such as `chare', found %s",
                 parser_describe_next(parser));
    return false;
}

struct ast_class *parse_class(struct parser *parser, const char *as)
{
    struct ast_class *class = BUMP_NEW(struct ast_class);
    struct lexer_token word = *parser_peek(parser);
    const char        *open;

    class->comment  = word.comment;
    class->location = parser_locate(parser, word.text.at);
    if (!parse_class_prefixes(parser, class) || !parse_class_kind(parser, class, as) ||
        parse_class_reject_attribute(parser))
        return NULL;
    if (!parser_expect_name(parser, &class->name, "the name of a class") ||
        !parse_class_bases(parser, class))
        return NULL;
    open = parser_peek(parser)->text.at;
    if (parser_accept_punctuator(parser, ';'))
        return class;
    if (!parser_expect_punctuator(parser, '{', "the name of the class"))
        return NULL;
    parser->class = class->name;
    parse_class_members(parser, class, open);
    parser->class = (struct source_name){0};
    parser_accept_punctuator(parser, ';');
    return class;
}
