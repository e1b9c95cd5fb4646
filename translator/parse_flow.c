/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_flow.c - structured control flow: the statements in the body of an entry.
 *
 * A statement is known by its first word; what begins with another is a declaration, a call,
 * or a mistake, and of mistakes the common ones are told apart: a misspelt word, C that
 * belongs into `serial', jumps that cannot be.
 */
#include "arena.h"
#include "code.h"
#include "diagnostic.h"
#include "parsing.h"
#include "text.h"

static struct statement *parse_statement(struct parser *parser);

static struct statement *new_statement(const struct parser *parser, enum statement_kind kind,
                                       const char *at)
{
    struct statement *statement = ARENA_NEW(struct statement);

    statement->kind  = kind;
    statement->place = place_of(parser, at);
    return statement;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Only `when' may stand in a `case'; what else does is read, and dropped. */
static struct statement *parse_alternative(struct parser *parser)
{
    static const char *const words[] = {"when", NULL};
    const char              *from    = look(parser)->text.at;
    bool                     when    = meant(parser, words); /* misspelt, perhaps */

    if (!when && complain(parser, "only `when' can stand in a `case', not %s", seen(parser)))
        hint("the statements of an alternative follow its `when a(int n) { ... }'");
    if (when)
        return parse_statement(parser);
    if (!parse_statement(parser))
        skip_to_next(parser, from, statement_words);
    return NULL;
}

/* Statements, and the brace that closes @p open. */
static struct statement *parse_list(struct parser *parser, const char *open, bool alternatives)
{
    struct statement *first = NULL, **next = &first;

    while (!at_end(parser) && !at_mark(parser, '}')) {
        const char *from = look(parser)->text.at;

        if (take_mark(parser, ';'))
            continue;
        if (look(parser)->first && (at_word(parser, "entry") || at_class(parser)))
            break;
        *next = alternatives ? parse_alternative(parser) : parse_statement(parser);
        if (*next)
            next = &(*next)->next;
        else if (!alternatives)
            skip_to_next(parser, from, statement_words);
    }
    expect_closed(parser, open);
    return first;
}

struct statement *parse_block(struct parser *parser)
{
    const char       *open  = parser->behind - 1;
    struct statement *block = new_statement(parser, STATEMENT_BLOCK, open);

    block->body = parse_list(parser, open, false);
    return block;
}

/* The statement that belongs to another; always one. */
static struct statement *parse_inner(struct parser *parser)
{
    const char       *from  = look(parser)->text.at;
    struct statement *inner = parse_statement(parser);

    if (inner)
        return inner;
    skip_to_next(parser, from, statement_words);
    return new_statement(parser, STATEMENT_BLOCK, from);
}

/* ---- statements: their word was taken -------------------------------------------------------- */

static bool parse_serial(struct parser *parser, struct statement *statement)
{
    if (look(parser)->kind == TOKEN_STRING) {
        struct text text = take(parser).text;

        statement->label = (struct text){text.at + 1, text.length > 1 ? text.length - 2 : 0};
    }
    if (!take_mark(parser, '{')) {
        if (complain(parser, "expected `{' behind `serial', not %s", seen(parser)))
            hint("C stands in braces, always: `serial { n = 0; }'");
        return false;
    }
    return take_block(parser, &statement->code);
}

/* NAME [ "[" code "]" ] [ "(" [ parameters ] ")" ] */
static struct trigger *parse_trigger(struct parser *parser)
{
    struct trigger *trigger = ARENA_NEW(struct trigger);
    const char     *open;

    if (!expect_name(parser, &trigger->name, "the name of an entry"))
        return NULL;
    trigger->place = trigger->name.place;
    open           = look(parser)->text.at;
    if (take_mark(parser, '[')) {
        if (!take_code(parser, 0, &trigger->reference) || !expect_closed(parser, open))
            return NULL;
        if (!trigger->reference.text.at)
            complain_at(parser, open, 1, "expected a reference number in `[ ]'");
    }
    trigger->bare = !at_mark(parser, '(');
    if (!trigger->bare && !parse_parameters(parser, &trigger->parameters, true))
        return NULL;
    return trigger;
}

static bool parse_when(struct parser *parser, struct statement *statement)
{
    struct trigger **next = &statement->triggers;

    if (look(parser)->kind != TOKEN_WORD || text_among(look(parser)->text, statement_words) >= 0) {
        if (complain(parser, "expected the name of an entry behind `when', not %s", seen(parser)))
            hint("`when' waits for a message: `when ghost(int n, double x[n]) { ... }'");
        if (at_mark(parser, ';'))
            return false;
    } else {
        do {
            *next = parse_trigger(parser);
            if (!*next)
                return false;
            next = &(*next)->next;
        } while (take_mark(parser, ','));
    }
    if (!take_mark(parser, ';'))
        statement->body = parse_inner(parser);
    return true;
}

/* "(" code ")" */
static bool parse_condition(struct parser *parser, struct statement *statement)
{
    const char *open = look(parser)->text.at;

    if (!expect_mark(parser, '(', statement->kind == STATEMENT_IF ? "`if'" : "`while'") ||
        !take_code(parser, 0, &statement->condition) || !expect_closed(parser, open))
        return false;
    if (!statement->condition.text.at)
        complain_at(parser, open, 1, "expected a condition in `( )'");
    return true;
}

static bool parse_if(struct parser *parser, struct statement *statement)
{
    if (!parse_condition(parser, statement))
        return false;
    statement->body = parse_inner(parser);
    if (take_word(parser, "else"))
        statement->otherwise = parse_inner(parser);
    return true;
}

static bool parse_while(struct parser *parser, struct statement *statement)
{
    if (!parse_condition(parser, statement))
        return false;
    statement->body = parse_inner(parser);
    return true;
}

/* Takes words of a type from @p ahead; returns how many, and the token behind them. */
static unsigned skip_words(struct lexer *ahead, struct token *token)
{
    unsigned words = 0;

    for (; token->kind == TOKEN_WORD && text_among(token->text, statement_words) < 0 &&
           !(token->first && words > 1);
         words++)
        *token = lexer_next(ahead);
    return words;
}

/* Whether `type NAME' or `type *NAME' follows, and then what may follow a name. */
static bool at_declaration(struct parser *parser)
{
    struct token token = *look(parser);
    struct lexer ahead = parser->lexer;
    unsigned     words;

    ahead.quiet = true;
    words       = skip_words(&ahead, &token);
    if (words && token_is_mark(&token, '*')) {
        while (token_is_mark(&token, '*'))
            token = lexer_next(&ahead);
        words += skip_words(&ahead, &token);
    }
    if (words < 2)
        return false;
    return token.kind == TOKEN_END || token.first ||
           (token.kind == TOKEN_MARK && strchr("=;,[}", *token.text.at));
}

/* type NAME "=" code, of a `for' */
static bool parse_for_variable(struct parser *parser, struct statement *statement)
{
    struct words words = take_words(parser);

    if (words.count < 2 && !at_mark(parser, '*'))
        return complain(parser, "expected the name of a variable, not %s", seen(parser)), false;
    statement->local       = ARENA_NEW(struct field);
    statement->local->type = type_of(parser, &words, !at_mark(parser, '*'));
    statement->local->name = name_of(parser, &words.last);
    if (at_mark(parser, '*')) {
        while (take_mark(parser, '*'))
            statement->local->stars++;
        if (!expect_name(parser, &statement->local->name, "a name"))
            return false;
    }
    if (!expect_mark(parser, '=', "the variable")) {
        skip_closed(parser, ')');
        return false;
    }
    if (!take_code(parser, STOP_COMMA | STOP_SEMICOLON, &statement->local->value))
        return false;
    if (at_mark(parser, ',')) {
        if (complain(parser, "a `for' declares one variable"))
            hint("declare others before it");
        skip_closed(parser, ')');
        return false;
    }
    return true;
}

/* "(" [ type NAME "=" ] code ";" code ";" code ")" */
static bool parse_for(struct parser *parser, struct statement *statement)
{
    const char *open = look(parser)->text.at;
    bool        right;

    if (!expect_mark(parser, '(', "`for'"))
        return false;
    if (at_declaration(parser))
        right = parse_for_variable(parser, statement);
    else
        right = take_code(parser, STOP_SEMICOLON, &statement->first);
    if (!right || !expect_mark(parser, ';', "what a `for' begins with") ||
        !take_code(parser, STOP_SEMICOLON, &statement->condition) ||
        !expect_mark(parser, ';', "the condition of a `for'") ||
        !take_code(parser, 0, &statement->step) || !expect_closed(parser, open))
        return false;
    statement->body = parse_inner(parser);
    return true;
}

/* "[" NAME "]" */
static bool parse_forall_name(struct parser *parser, struct statement *statement)
{
    const char *open = look(parser)->text.at;

    if (!take_mark(parser, '[')) {
        if (complain(parser, "expected `[' behind `forall', not %s", seen(parser)))
            hint("such as `forall [i] (0 : n - 1, 1) { ... }'");
        return false;
    }
    return expect_name(parser, &statement->name, "the name of a variable") &&
           expect_closed(parser, open);
}

/* "[" NAME "]" "(" code ":" code [ "," code ] ")" */
static bool parse_forall(struct parser *parser, struct statement *statement)
{
    const char *open;

    if (!parse_forall_name(parser, statement))
        return false;
    open = look(parser)->text.at;
    if (!expect_mark(parser, '(', "`forall [ ]'") ||
        !take_code(parser, STOP_COLON | STOP_COMMA, &statement->first) ||
        !expect_mark(parser, ':', "the first number") ||
        !take_code(parser, STOP_COMMA, &statement->last))
        return false;
    if (take_mark(parser, ',') && !take_code(parser, 0, &statement->step))
        return false;
    if (!statement->first.text.at || !statement->last.text.at)
        complain_at(parser, open, 1, "expected the first and the last number: `(0 : n - 1)'");
    if (!expect_closed(parser, open))
        return false;
    statement->body = parse_inner(parser);
    return true;
}

static bool parse_several(struct parser *parser, struct statement *statement)
{
    bool        alternatives = statement->kind == STATEMENT_CASE;
    const char *open         = look(parser)->text.at;

    if (!expect_mark(parser, '{', alternatives ? "`case'" : "`overlap'"))
        return false;
    statement->body = parse_list(parser, open, alternatives);
    return true;
}

static bool refuse_else(struct parser *parser, struct statement *statement)
{
    if (complain_at(parser, parser->behind - 4, 4, "this `else' has no `if'"))
        hint("between an `if' with its statement and `else' there is nothing, and no `;'");
    statement->kind = STATEMENT_BLOCK;
    statement->body = parse_inner(parser);
    return true;
}

static const struct rule {
    const char         *word;
    enum statement_kind kind;
    bool (*parse)(struct parser *parser, struct statement *statement);
} rules[] = {
    {"serial", STATEMENT_SERIAL, parse_serial},
    {"when", STATEMENT_WHEN, parse_when},
    {"if", STATEMENT_IF, parse_if},
    {"for", STATEMENT_FOR, parse_for},
    {"while", STATEMENT_WHILE, parse_while},
    {"forall", STATEMENT_FORALL, parse_forall},
    {"overlap", STATEMENT_OVERLAP, parse_several},
    {"case", STATEMENT_CASE, parse_several},
    {"else", STATEMENT_IF, refuse_else},
};

/* In the order of the rules. */
const char *const statement_words[] = {"serial", "when",    "if",   "for",  "while",
                                       "forall", "overlap", "case", "else", NULL};

/* By the rule of @p word, whatever the next token is. */
static struct statement *parse_as(struct parser *parser, const char *word)
{
    struct text        text      = {word, strlen(word)};
    const struct rule *rule      = &rules[text_among(text, statement_words)];
    struct statement  *statement = new_statement(parser, rule->kind, take(parser).text.at);

    return rule->parse(parser, statement) ? statement : NULL;
}

/* ---- what begins with another word ----------------------------------------------------------- */

static bool parse_arguments(struct parser *parser, struct argument **next)
{
    const char *open = take(parser).text.at;

    if (take_mark(parser, ')'))
        return true;
    do {
        *next = ARENA_NEW(struct argument);
        if (!take_code(parser, STOP_COMMA, &(*next)->value))
            return false;
        if (!(*next)->value.text.at)
            return complain(parser, "expected an argument, not %s", seen(parser)), false;
        next = &(*next)->next;
    } while (take_mark(parser, ','));
    return expect_closed(parser, open);
}

static bool is_c_mark(const struct token *token)
{
    return token->kind == TOKEN_MARK && strchr("=+-*/%.[<>&|^!?:~", *token->text.at);
}

static const char in_serial[] = "C belongs into `serial { }'";

/* `name(...)' was no call: a statement misspelt, or C. */
static struct statement *refuse_call(struct parser *parser, struct statement *call)
{
    static const char *const words[] = {"if", "for", "while", NULL};
    struct name              name    = call->name;
    const char              *near    = nearest(name.text, words);

    if (near && (at_mark(parser, '{') || look(parser)->kind == TOKEN_WORD)) {
        if (complain_at(parser, name.text.at, name.text.length, "`%.*s' is not a statement",
                        (int)name.text.length, name.text.at))
            hint("did you mean `%s'?", near);
        call->body = parse_inner(parser);
        return call;
    }
    if (is_c_mark(look(parser))) {
        if (complain(parser, "expected `;' behind the call, not %s", seen(parser)))
            hint(in_serial);
        return NULL;
    }
    return expect_semicolon(parser, "the call") ? call : NULL;
}

static struct statement *parse_call(struct parser *parser)
{
    struct token      word = take(parser);
    struct statement *call = new_statement(parser, STATEMENT_CALL, word.text.at);

    call->name = name_of(parser, &word);
    if (!parse_arguments(parser, &call->arguments))
        return NULL;
    return take_mark(parser, ';') ? call : refuse_call(parser, call);
}

static struct statement *parse_local(struct parser *parser)
{
    struct statement *statement = new_statement(parser, STATEMENT_LOCAL, look(parser)->text.at);

    statement->local = parse_field(parser, true);
    return statement->local ? statement : NULL;
}

/* Words of C, C++ and Charm++ that are not ours.  False: it is none of them. */
static bool refuse_word(struct parser *parser)
{
    static const struct {
        const char *word, *why, *hint;
    } words[] = {
        {"break", "structured code cannot jump", "let the condition of the loop end it"},
        {"continue", "structured code cannot jump", "put the rest of the loop into an `if'"},
        {"goto", "structured code cannot jump", "use `if', `while' and `for'"},
        {"return", "structured code cannot return",
         "an entry ends with its body; put the rest of "
         "it into an `if'"},
        {"switch", "structured code has no `switch'", "use `if' and `else'"},
        {"do", "structured code has no `do'", "use `while'"},
        {"using", "C has no namespaces", in_serial},
        {"delete", "C has no `delete'", in_serial},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (at_word(parser, words[i].word)) {
            if (complain(parser, "%s", words[i].why))
                hint("%s", words[i].hint);
            return true;
        }
    return false;
}

/* A word that begins nothing. */
static struct statement *parse_unknown(struct parser *parser)
{
    const char *near = meant(parser, statement_words);
    bool        said = complain(parser, "%s is not a statement", seen(parser));

    if (near) {
        if (said)
            hint("did you mean `%s'?", near);
        return parse_as(parser, near);
    }
    if (said)
        hint(in_serial);
    return NULL;
}

/* A declaration, unless it could also be a misspelt `when a, b { }'. */
static bool at_local(struct parser *parser)
{
    struct token third = look_further(parser, 2);

    if (is_type_word(look(parser)->text))
        return true;
    return at_declaration(parser) &&
           !(token_is_mark(&third, ',') && meant(parser, statement_words));
}

static struct statement *parse_other(struct parser *parser)
{
    struct token after = look_further(parser, 1);

    if (at_word(parser, "atomic") && (token_is_mark(&after, '{') || after.kind == TOKEN_STRING)) {
        if (complain(parser, "`atomic' is called `serial' here"))
            hint("it runs without interruption, but it is no atomic operation");
        return parse_as(parser, "serial");
    }
    if (refuse_word(parser))
        return NULL;
    if (at_word(parser, "entry") || at_class(parser)) /* at the beginning of a line they end it */
        return parse_unknown(parser);
    if (token_is_mark(&after, '('))
        return parse_call(parser);
    return at_local(parser) ? parse_local(parser) : parse_unknown(parser);
}

static struct statement *refuse_mark(struct parser *parser)
{
    bool hash = look(parser)->kind == TOKEN_HASH;

    if (complain(parser, "expected a statement, not %s", seen(parser)))
        hint(hash ? "# lines stand inside of `serial { }', or outside of classes" : in_serial);
    return NULL;
}

static struct statement *parse_any(struct parser *parser)
{
    const struct token *token = look(parser);
    int rule = token->kind == TOKEN_WORD ? text_among(token->text, statement_words) : -1;

    if (rule >= 0)
        return parse_as(parser, statement_words[rule]);
    if (token->kind == TOKEN_WORD)
        return parse_other(parser);
    if (at_mark(parser, ';'))
        return new_statement(parser, STATEMENT_BLOCK, take(parser).text.at);
    return take_mark(parser, '{') ? parse_block(parser) : refuse_mark(parser);
}

static struct statement *parse_statement(struct parser *parser)
{
    struct statement *statement;

    if (parser->depth == NESTING) {
        complain(parser, "more than %d statements in each other", NESTING);
        give_up(parser);
        return NULL;
    }
    parser->depth++;
    statement = parse_any(parser);
    parser->depth--;
    return statement;
}
