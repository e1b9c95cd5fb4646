/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_flow.c - the grammar of structured control flow: the statements in the body of an entry.
 *
 * The first word determines the kind of a statement.  Any other word begins a declaration, a call
 * or an error.  Common errors get their own texts: a misspelt keyword, C that belongs in
 * `serial', and jumps, which structured code does not have.
 */
#include "support/bump.h"

#include <assert.h>
#include "support/diagnostic.h"
#include "support/text.h"
#include "syntax/c_code.h"
#include "syntax/grammar.h"
#include "syntax/ident.h"
#include "syntax/parser.h"
#include "syntax/recovery.h"

static struct ast_statement *parse_flow_statement(struct parser *parser);

static struct ast_statement *parse_flow_new(const struct parser    *parser,
                                            enum ast_statement_kind kind, const char *at)
{
    struct ast_statement *statement = BUMP_NEW(struct ast_statement);

    statement->kind     = kind;
    statement->location = parser_locate(parser, at);
    return statement;
}

/* ---- lists -------------------------------------------------------------------------------- */

/* Parses an alternative of a `case'.  Anything but a `when' is an error, and is parsed and
 * dropped. */
static struct ast_statement *parse_flow_alternative(struct parser *parser)
{
    static const char *const words[] = {"when", NULL};
    const char              *from    = parser_peek(parser)->text.at;
    bool when = parser_nearest_keyword(parser, words); /* a misspelt one counts */

    if (!when && parser_error(parser, "a `case' can contain only `when', found %s",
                              parser_describe_next(parser)))
        diagnostic_hint(
            "write the statements of an alternative after its `when': `when a(int n) { ... }'");
    if (when)
        return parse_flow_statement(parser);
    if (!parse_flow_statement(parser))
        recovery_skip_to_next(parser, from, parse_statement_keywords);
    return NULL;
}

/* Parses statements up to and including the brace that closes @p open. */
static struct ast_statement *parse_flow_list(struct parser *parser, const char *open,
                                             bool alternatives)
{
    struct ast_statement *first = NULL, **next = &first;

    while (!parser_at_end(parser) && !parser_at_punctuator(parser, '}')) {
        const char *from = parser_peek(parser)->text.at;

        if (parser_accept_punctuator(parser, ';'))
            continue;
        if (parser_peek(parser)->first &&
            (parser_at_keyword(parser, "entry") || parse_at_class(parser)))
            break;
        *next = alternatives ? parse_flow_alternative(parser) : parse_flow_statement(parser);
        if (*next)
            next = &(*next)->next;
        else if (!alternatives)
            recovery_skip_to_next(parser, from, parse_statement_keywords);
    }
    parser_expect_closer(parser, open);
    return first;
}

struct ast_statement *parse_block(struct parser *parser)
{
    const char           *open  = parser->last_end - 1;
    struct ast_statement *block = parse_flow_new(parser, STATEMENT_BLOCK, open);

    block->body = parse_flow_list(parser, open, false);
    return block;
}

/* Parses the body of another statement.  Never returns NULL. */
static struct ast_statement *parse_flow_inner(struct parser *parser)
{
    const char           *from  = parser_peek(parser)->text.at;
    struct ast_statement *inner = parse_flow_statement(parser);

    if (inner)
        return inner;
    recovery_skip_to_next(parser, from, parse_statement_keywords);
    return parse_flow_new(parser, STATEMENT_BLOCK, from);
}

/* ---- statements: their keyword has been taken --------------------------------------------- */

static bool parse_flow_serial(struct parser *parser, struct ast_statement *statement)
{
    if (parser_peek(parser)->kind == TOKEN_STRING) {
        struct text text = parser_next(parser).text;

        statement->label = (struct text){text.at + 1, text.length > 1 ? text.length - 2 : 0};
    }
    if (!parser_accept_punctuator(parser, '{')) {
        if (parser_error(parser, "expected `{' after `serial', found %s",
                         parser_describe_next(parser)))
            diagnostic_hint("write the C in braces: `serial { n = 0; }'");
        return false;
    }
    return c_code_block(parser, &statement->code);
}

/* NAME [ "[" code "]" ] [ "(" [ parameters ] ")" ] */
static struct ast_when_entry *parse_flow_when_entry(struct parser *parser)
{
    struct ast_when_entry *when_entry = BUMP_NEW(struct ast_when_entry);
    const char            *open;

    if (!parser_expect_name(parser, &when_entry->name, "the name of an entry"))
        return NULL;
    when_entry->location = when_entry->name.location;
    open                 = parser_peek(parser)->text.at;
    if (parser_accept_punctuator(parser, '[')) {
        if (!c_code_expression(parser, 0, &when_entry->reference) ||
            !parser_expect_closer(parser, open))
            return NULL;
        if (!when_entry->reference.text.at)
            parser_error_at(parser, open, 1, "expected a reference number in `[ ]'");
    }
    when_entry->bare = !parser_at_punctuator(parser, '(');
    if (!when_entry->bare && !parse_parameters(parser, &when_entry->parameters, true))
        return NULL;
    return when_entry;
}

static bool parse_flow_when(struct parser *parser, struct ast_statement *statement)
{
    struct ast_when_entry **next = &statement->when_entries;

    if (parser_peek(parser)->kind != TOKEN_IDENTIFIER ||
        text_index_in(parser_peek(parser)->text, parse_statement_keywords) >= 0) {
        if (parser_error(parser, "expected the name of an entry after `when', found %s",
                         parser_describe_next(parser)))
            diagnostic_hint("`when' waits for a message: `when ghost(int n, double x[n]) { ... }'");
        if (parser_at_punctuator(parser, ';'))
            return false;
    } else {
        do {
            *next = parse_flow_when_entry(parser);
            if (!*next)
                return false;
            next = &(*next)->next;
        } while (parser_accept_punctuator(parser, ','));
    }
    if (!parser_accept_punctuator(parser, ';'))
        statement->body = parse_flow_inner(parser);
    return true;
}

/* "(" code ")" */
static bool parse_flow_condition(struct parser *parser, struct ast_statement *statement)
{
    const char *open = parser_peek(parser)->text.at;

    if (!parser_expect_punctuator(parser, '(',
                                  statement->kind == STATEMENT_IF ? "`if'" : "`while'") ||
        !c_code_expression(parser, 0, &statement->condition) || !parser_expect_closer(parser, open))
        return false;
    if (!statement->condition.text.at)
        parser_error_at(parser, open, 1, "expected a condition in `( )'");
    return true;
}

static bool parse_flow_if(struct parser *parser, struct ast_statement *statement)
{
    if (!parse_flow_condition(parser, statement))
        return false;
    statement->body = parse_flow_inner(parser);
    if (parser_accept_keyword(parser, "else"))
        statement->otherwise = parse_flow_inner(parser);
    return true;
}

static bool parse_flow_while(struct parser *parser, struct ast_statement *statement)
{
    if (!parse_flow_condition(parser, statement))
        return false;
    statement->body = parse_flow_inner(parser);
    return true;
}

/* Takes the words of a type from @p ahead.  Returns their number; *token is the token after
 * them. */
static unsigned parse_flow_skip_specifiers(struct lexer *ahead, struct lexer_token *token)
{
    unsigned words = 0;

    for (; token->kind == TOKEN_IDENTIFIER &&
           text_index_in(token->text, parse_statement_keywords) < 0 && !(token->first && words > 1);
         words++)
        *token = lexer_next(ahead);
    return words;
}

/* Returns whether `type NAME' or `type *NAME' follows, and then a token that may follow a name. */
static bool parse_flow_at_declaration(struct parser *parser)
{
    struct lexer_token token = *parser_peek(parser);
    struct lexer       ahead = parser->lexer;
    unsigned           words;

    ahead.quiet = true;
    words       = parse_flow_skip_specifiers(&ahead, &token);
    if (words && parser_is_punctuator(&token, '*')) {
        while (parser_is_punctuator(&token, '*'))
            token = lexer_next(&ahead);
        words += parse_flow_skip_specifiers(&ahead, &token);
    }
    if (words < 2)
        return false;
    return token.kind == TOKEN_END || token.first ||
           (token.kind == TOKEN_PUNCTUATOR && strchr("=;,[}", *token.text.at));
}

/* Parses type NAME "=" code, the variable of a `for'. */
static bool parse_flow_for_variable(struct parser *parser, struct ast_statement *statement)
{
    struct parse_specifiers words = parse_take_specifiers(parser);

    if (words.count < 2 && !parser_at_punctuator(parser, '*'))
        return parser_error(parser, "expected the name of a variable, found %s",
                            parser_describe_next(parser)),
               false;
    statement->local       = BUMP_NEW(struct ast_field);
    statement->local->type = parse_type_of(parser, &words, !parser_at_punctuator(parser, '*'));
    statement->local->name = parser_name_of(parser, &words.last);
    if (parser_at_punctuator(parser, '*')) {
        while (parser_accept_punctuator(parser, '*'))
            statement->local->stars++;
        if (!parser_expect_name(parser, &statement->local->name, "a name"))
            return false;
    }
    if (!parser_expect_punctuator(parser, '=', "the variable")) {
        c_code_skip_to_closer(parser, ')');
        return false;
    }
    if (!parse_field_value(parser, statement->local)) {
        c_code_skip_to_closer(parser, ')');
        return false;
    }
    if (parser_at_punctuator(parser, ',')) {
        if (parser_error(parser, "a `for' can declare only one variable"))
            diagnostic_hint("declare the others before it");
        c_code_skip_to_closer(parser, ')');
        return false;
    }
    return true;
}

/* "(" [ type NAME "=" ] code ";" code ";" code ")" */
static bool parse_flow_for(struct parser *parser, struct ast_statement *statement)
{
    const char *open = parser_peek(parser)->text.at;
    bool        right;

    if (!parser_expect_punctuator(parser, '(', "`for'"))
        return false;
    if (parse_flow_at_declaration(parser))
        right = parse_flow_for_variable(parser, statement);
    else
        right = c_code_expression(parser, C_CODE_STOP_SEMICOLON, &statement->first);
    if (!right || !parser_expect_punctuator(parser, ';', "the first expression of a `for'") ||
        !c_code_expression(parser, C_CODE_STOP_SEMICOLON, &statement->condition) ||
        !parser_expect_punctuator(parser, ';', "the condition of a `for'") ||
        !c_code_expression(parser, 0, &statement->step) || !parser_expect_closer(parser, open))
        return false;
    statement->body = parse_flow_inner(parser);
    return true;
}

/* "[" NAME "]" */
static bool parse_flow_forall_name(struct parser *parser, struct ast_statement *statement)
{
    const char *open = parser_peek(parser)->text.at;

    if (!parser_accept_punctuator(parser, '[')) {
        if (parser_error(parser, "expected `[' after `forall', found %s",
                         parser_describe_next(parser)))
            diagnostic_hint("such as `forall [i] (0 : n - 1, 1) { ... }'");
        return false;
    }
    return parser_expect_name(parser, &statement->name, "the name of a variable") &&
           parser_expect_closer(parser, open);
}

/* "[" NAME "]" "(" code ":" code [ "," code ] ")" */
static bool parse_flow_forall(struct parser *parser, struct ast_statement *statement)
{
    const char *open;

    if (!parse_flow_forall_name(parser, statement))
        return false;
    open = parser_peek(parser)->text.at;
    if (!parser_expect_punctuator(parser, '(', "`forall [ ]'") ||
        !c_code_expression(parser, C_CODE_STOP_COLON | C_CODE_STOP_COMMA, &statement->first) ||
        !parser_expect_punctuator(parser, ':', "the first value") ||
        !c_code_expression(parser, C_CODE_STOP_COMMA, &statement->last))
        return false;
    if (parser_accept_punctuator(parser, ',') && !c_code_expression(parser, 0, &statement->step))
        return false;
    if (!statement->first.text.at || !statement->last.text.at)
        parser_error_at(parser, open, 1, "expected the first and the last value: `(0 : n - 1)'");
    if (!parser_expect_closer(parser, open))
        return false;
    statement->body = parse_flow_inner(parser);
    return true;
}

static bool parse_flow_several(struct parser *parser, struct ast_statement *statement)
{
    bool        alternatives = statement->kind == STATEMENT_CASE;
    const char *open         = parser_peek(parser)->text.at;

    if (!parser_expect_punctuator(parser, '{', alternatives ? "`case'" : "`overlap'"))
        return false;
    statement->body = parse_flow_list(parser, open, alternatives);
    return true;
}

static bool parse_flow_reject_else(struct parser *parser, struct ast_statement *statement)
{
    if (parser_error_at(parser, parser->last_end - 4, 4, "`else' without a matching `if'"))
        diagnostic_hint(
            "the `else' must follow the statement of the `if' directly, without a `;' between");
    statement->kind = STATEMENT_BLOCK;
    statement->body = parse_flow_inner(parser);
    return true;
}

/* `at_sync;` is a `when` of the entry that resumes elements after a sync point. */
static bool parse_flow_at_sync(struct parser *parser, struct ast_statement *statement)
{
    statement->at_sync                = true;
    statement->when_entries           = BUMP_NEW(struct ast_when_entry);
    statement->when_entries->bare     = true;
    statement->when_entries->location = statement->location;
    statement->body                   = parse_flow_new(parser, STATEMENT_BLOCK, parser->last_end);
    if (parser_accept_punctuator(parser, ';'))
        return true;
    parser_error(parser, "expected `;' after `at_sync', found %s", parser_describe_next(parser));
    return false;
}

static const struct parse_flow_rule {
    const char             *word;
    enum ast_statement_kind kind;
    bool (*parse)(struct parser *parser, struct ast_statement *statement);
} rules[] = {
    {"serial", STATEMENT_SERIAL, parse_flow_serial},
    {"when", STATEMENT_WHEN, parse_flow_when},
    {"if", STATEMENT_IF, parse_flow_if},
    {"for", STATEMENT_FOR, parse_flow_for},
    {"while", STATEMENT_WHILE, parse_flow_while},
    {"forall", STATEMENT_FORALL, parse_flow_forall},
    {"overlap", STATEMENT_OVERLAP, parse_flow_several},
    {"case", STATEMENT_CASE, parse_flow_several},
    {"else", STATEMENT_IF, parse_flow_reject_else},
    {"at_sync", STATEMENT_WHEN, parse_flow_at_sync},
};

/* In the order of the rules above. */
const char *const parse_statement_keywords[] = {
    "serial", "when", "if", "for", "while", "forall", "overlap", "case", "else", "at_sync", NULL};

/* Parses a statement by the rule of the keyword @p word, whatever the next token is. */
static struct ast_statement *parse_flow_by_keyword(struct parser *parser, const char *word)
{
    struct text                   text = {word, strlen(word)};
    const struct parse_flow_rule *rule = &rules[text_index_in(text, parse_statement_keywords)];
    struct ast_statement         *statement =
        parse_flow_new(parser, rule->kind, parser_next(parser).text.at);

    assert(!strcmp(rule->word, word));
    return rule->parse(parser, statement) ? statement : NULL;
}

/* ---- statements that begin with another word ---------------------------------------------- */

static bool parse_flow_arguments(struct parser *parser, struct ast_argument **next)
{
    const char *open = parser_next(parser).text.at;

    if (parser_accept_punctuator(parser, ')'))
        return true;
    do {
        *next = BUMP_NEW(struct ast_argument);
        if (!c_code_expression(parser, C_CODE_STOP_COMMA, &(*next)->value))
            return false;
        if (!(*next)->value.text.at)
            return parser_error(parser, "expected an argument, found %s",
                                parser_describe_next(parser)),
                   false;
        next = &(*next)->next;
    } while (parser_accept_punctuator(parser, ','));
    return parser_expect_closer(parser, open);
}

static bool parse_flow_is_c_operator(const struct lexer_token *token)
{
    return token->kind == TOKEN_PUNCTUATOR && strchr("=+-*/%.[<>&|^!?:~", *token->text.at);
}

static const char in_serial[] = "C belongs in `serial { }'";

/* Handles `name(...)' without a semicolon: a misspelt keyword, or C. */
static struct ast_statement *parse_flow_reject_call(struct parser        *parser,
                                                    struct ast_statement *call)
{
    static const char *const words[]    = {"if", "for", "while", NULL};
    struct source_name       name       = call->name;
    const char              *suggestion = diagnostic_nearest(name.text, words);

    if (suggestion &&
        (parser_at_punctuator(parser, '{') || parser_peek(parser)->kind == TOKEN_IDENTIFIER)) {
        if (parser_error_at(parser, name.text.at, name.text.length, "`%.*s' is not a statement",
                            (int)name.text.length, name.text.at))
            diagnostic_hint("did you mean `%s'?", suggestion);
        call->body = parse_flow_inner(parser);
        return call;
    }
    if (parse_flow_is_c_operator(parser_peek(parser))) {
        if (parser_error(parser, "expected `;' after the call, found %s",
                         parser_describe_next(parser)))
            diagnostic_hint(in_serial);
        return NULL;
    }
    return parser_expect_semicolon(parser, "the call") ? call : NULL;
}

static struct ast_statement *parse_flow_call(struct parser *parser)
{
    struct lexer_token    word = parser_next(parser);
    struct ast_statement *call = parse_flow_new(parser, STATEMENT_CALL, word.text.at);

    call->name = parser_name_of(parser, &word);
    if (!parse_flow_arguments(parser, &call->arguments))
        return NULL;
    return parser_accept_punctuator(parser, ';') ? call : parse_flow_reject_call(parser, call);
}

static struct ast_statement *parse_flow_local(struct parser *parser)
{
    struct ast_statement *statement =
        parse_flow_new(parser, STATEMENT_LOCAL, parser_peek(parser)->text.at);

    statement->local = parse_field(parser, true);
    return statement->local ? statement : NULL;
}

/* Rejects keywords of C, C++ and Charm++.  Returns whether there was one. */
static bool parse_flow_reject_keyword(struct parser *parser)
{
    static const struct parser_foreign_keyword words[] = {
        {"break", "the body of an entry cannot contain jumps", "end the loop by its condition"},
        {"continue", "the body of an entry cannot contain jumps",
         "put the rest of the loop into an `if'"},
        {"goto", "the body of an entry cannot contain jumps", "use `if', `while' and `for'"},
        {"return", "the body of an entry cannot contain `return'",
         "put the rest of the body into an `if'"},
        {"switch", "the body of an entry cannot contain `switch'", "use `if' and `else'"},
        {"do", "the body of an entry cannot contain `do'", "use `while'"},
        {"using", "C has no namespaces", in_serial},
        {"delete", "C has no `delete'", in_serial},
    };

    return parser_reject_foreign(parser, words, sizeof words / sizeof *words);
}

/* Handles a word that begins no statement. */
static struct ast_statement *parse_flow_unknown(struct parser *parser)
{
    const char *suggestion = parser_nearest_keyword(parser, parse_statement_keywords);
    bool reported = parser_error(parser, "%s is not a statement", parser_describe_next(parser));

    if (suggestion) {
        if (reported)
            diagnostic_hint("did you mean `%s'?", suggestion);
        return parse_flow_by_keyword(parser, suggestion);
    }
    if (reported)
        diagnostic_hint(in_serial);
    return NULL;
}

/* Returns whether a declaration follows, and not a misspelt `when a, b { }'. */
static bool parse_flow_at_local(struct parser *parser)
{
    struct lexer_token third = parser_peek_ahead(parser, 2);

    if (ident_is_type_keyword(parser_peek(parser)->text))
        return true;
    return parse_flow_at_declaration(parser) &&
           !(parser_is_punctuator(&third, ',') &&
             parser_nearest_keyword(parser, parse_statement_keywords));
}

static struct ast_statement *parse_flow_other(struct parser *parser)
{
    struct lexer_token after = parser_peek_ahead(parser, 1);

    if (parser_at_keyword(parser, "atomic") &&
        (parser_is_punctuator(&after, '{') || after.kind == TOKEN_STRING)) {
        if (parser_error(parser, "`atomic' is not supported"))
            diagnostic_hint("write `serial': the code runs without interruption, but it is not an "
                            "atomic operation");
        return parse_flow_by_keyword(parser, "serial");
    }
    if (parse_flow_reject_keyword(parser))
        return NULL;
    if (parser_at_keyword(parser, "entry") ||
        parse_at_class(parser)) /* at the beginning of a line they would end the list */
        return parse_flow_unknown(parser);
    if (parser_is_punctuator(&after, '('))
        return parse_flow_call(parser);
    return parse_flow_at_local(parser) ? parse_flow_local(parser) : parse_flow_unknown(parser);
}

static struct ast_statement *parse_flow_reject_token(struct parser *parser)
{
    bool directive = parser_peek(parser)->kind == TOKEN_DIRECTIVE;

    if (parser_error(parser, "expected a statement, found %s", parser_describe_next(parser)))
        diagnostic_hint(directive ? "directives belong inside `serial { }', or outside of classes"
                                  : in_serial);
    return NULL;
}

static struct ast_statement *parse_flow_any(struct parser *parser)
{
    const struct lexer_token *token = parser_peek(parser);
    int                       rule =
        token->kind == TOKEN_IDENTIFIER ? text_index_in(token->text, parse_statement_keywords) : -1;

    if (rule >= 0)
        return parse_flow_by_keyword(parser, parse_statement_keywords[rule]);
    if (token->kind == TOKEN_IDENTIFIER)
        return parse_flow_other(parser);
    if (parser_at_punctuator(parser, ';'))
        return parse_flow_new(parser, STATEMENT_BLOCK, parser_next(parser).text.at);
    return parser_accept_punctuator(parser, '{') ? parse_block(parser)
                                                 : parse_flow_reject_token(parser);
}

static struct ast_statement *parse_flow_statement(struct parser *parser)
{
    struct ast_statement *statement;

    if (parser->depth == PARSER_NESTING_MAX) {
        parser_error(parser, "more than %d nested statements", PARSER_NESTING_MAX);
        parser_give_up(parser);
        return NULL;
    }
    parser->depth++;
    statement = parse_flow_any(parser);
    assert(parser->depth > 0);
    parser->depth--;
    return statement;
}
