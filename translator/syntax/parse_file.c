/* SPDX-License-Identifier: Apache-2.0 */
/* parse_file.c - see parse_file.h: the grammar of files, modules and the declarations in them. */
#include "syntax/parse_file.h"

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "support/text.h"
#include "syntax/c_code.h"
#include "syntax/grammar.h"
#include "syntax/parser.h"
#include "syntax/recovery.h"

/* The keywords that begin a declaration. */
static const char *const item_words[] = {
    "extern", "include", "readonly",  "message", "struct",    "code",     "mainchare",
    "chare",  "group",   "nodegroup", "array",   "interface", "initnode", NULL,
};

static const char *const module_words[] = {"module", "mainmodule", NULL};

/* ---- items -------------------------------------------------------------------------------- */

static struct ast_item *parse_file_new_item(const struct parser *parser, enum ast_item_kind kind,
                                            const struct lexer_token *first)
{
    struct ast_item *item = BUMP_NEW(struct ast_item);

    item->kind     = kind;
    item->location = parser_locate(parser, first->text.at);
    item->comment  = first->comment;
    return item;
}

static struct ast_item *parse_file_directive(struct parser *parser)
{
    struct lexer_token line = parser_next(parser);
    struct ast_item   *item = parse_file_new_item(parser, ITEM_DIRECTIVE, &line);

    item->is.code = (struct source_code){line.text, item->location};
    return item;
}

static const char extern_module[] =
    "write only the name, without quotes and `.ci': `extern module M;' imports M.ci";

/* "extern" "module" NAME ";" */
static struct ast_item *parse_file_extern(struct parser *parser)
{
    struct lexer_token word = parser_next(parser);
    struct ast_item   *item = parse_file_new_item(parser, ITEM_EXTERN, &word);

    if (!parser_accept_keyword(parser, "module")) {
        if (parser_error(parser, "expected `module' after `extern', found %s",
                         parser_describe_next(parser)))
            diagnostic_hint("`extern module M;' imports M.ci; for C write `code { extern ... }'");
        return NULL;
    }
    if (parser_peek(parser)->kind == TOKEN_STRING) {
        if (parser_error(parser, "expected the name of a module, found a string"))
            diagnostic_hint(extern_module);
        return NULL;
    }
    if (!parser_expect_name(parser, &item->is.module, "the name of a module"))
        return NULL;
    if (parser_at_punctuator(parser, '.')) {
        if (parser_error(parser, "expected `;' after the name of the module, found `.'"))
            diagnostic_hint(extern_module);
        return NULL;
    }
    return parser_expect_semicolon(parser, "the name of the module") ? item : NULL;
}

/* Parses "<" path ">", whose first bracket was the last token. */
static bool parse_file_path(struct parser *parser, struct source_code *code)
{
    const char *from = parser->last_end - 1, *at = from, *end = text_end(parser->source->text);

    while (at < end && *at != '>' && *at != '\n')
        at++;
    if (at == end || *at != '>')
        return parser_error_at(parser, from, 1, "this `<' is not closed"), false;
    *code = (struct source_code){text_between(from, at + 1), parser_locate(parser, from)};
    c_code_add_span(parser, code->text, false);
    parser_resume_at(parser, at + 1);
    return true;
}

/* "include" ( STRING | "<" path ">" ) ";" */
static struct ast_item *parse_file_include(struct parser *parser)
{
    struct lexer_token word = parser_next(parser), what = *parser_peek(parser);
    struct ast_item   *item = parse_file_new_item(parser, ITEM_INCLUDE, &word);

    if (what.kind == TOKEN_STRING) {
        parser_next(parser);
        item->is.code = (struct source_code){what.text, parser_locate(parser, what.text.at)};
    } else if (!parser_accept_punctuator(parser, '<')) {
        if (parser_error(parser, "expected \"file.h\" or <file.h> after `include', found %s",
                         parser_describe_next(parser)))
            diagnostic_hint(
                "write the name of a file in quotes; to import a module, write `extern module M;'");
        return NULL;
    } else if (!parse_file_path(parser, &item->is.code)) {
        return NULL;
    }
    return parser_expect_semicolon(parser, "the name of the file") ? item : NULL;
}

static struct ast_item *parse_file_readonly(struct parser *parser)
{
    struct lexer_token word = parser_next(parser);
    struct ast_item   *item = parse_file_new_item(parser, ITEM_READONLY, &word);

    item->is.readonly = parse_field(parser, false);
    return item->is.readonly ? item : NULL;
}

/* NAME "{" { field } "}" [ ";" ], or NAME ";", which sets *@p bare. */
static bool parse_file_record(struct parser *parser, struct source_name *name,
                              struct ast_field **fields, bool message, bool *bare)
{
    const char *open;

    if (parser_at_punctuator(parser, '[')) {
        if (parser_error(parser, "expected a name, found `['"))
            diagnostic_hint("only classes and entries can have attributes");
        return false;
    }
    if (!parser_expect_name(parser, name,
                            message ? "the name of a message" : "the name of a struct"))
        return false;
    *bare = parser_accept_punctuator(parser, ';');
    if (*bare)
        return true;
    open = parser_peek(parser)->text.at;
    if (!parser_expect_punctuator(parser, '{', "the name"))
        return false;
    *fields = parse_fields(parser, open, false);
    parser_accept_punctuator(parser, ';');
    return true;
}

static struct ast_item *parse_file_message(struct parser *parser)
{
    struct lexer_token  word    = parser_next(parser);
    struct ast_item    *item    = parse_file_new_item(parser, ITEM_MESSAGE, &word);
    struct ast_message *message = item->is.message = BUMP_NEW(struct ast_message);
    bool                bare;

    message->comment = word.comment;
    return parse_file_record(parser, &message->name, &message->fields, true, &bare) ? item : NULL;
}

static struct ast_item *parse_file_struct(struct parser *parser)
{
    struct lexer_token word   = parser_next(parser);
    struct ast_item   *item   = parse_file_new_item(parser, ITEM_RECORD, &word);
    struct ast_record *record = item->is.record = BUMP_NEW(struct ast_record);

    record->comment = word.comment;
    return parse_file_record(parser, &record->name, &record->fields, false, &record->external)
               ? item
               : NULL;
}

/* "code" "{" code "}" */
static struct ast_item *parse_file_code(struct parser *parser)
{
    struct lexer_token word = parser_next(parser);
    struct ast_item   *item = parse_file_new_item(parser, ITEM_CODE, &word);

    return parser_expect_punctuator(parser, '{', "`code'") && c_code_block(parser, &item->is.code)
               ? item
               : NULL;
}

/* "initnode" [ "void" ] NAME "(" [ "void" ] ")" ";" */
static struct ast_item *parse_file_init(struct parser *parser)
{
    struct lexer_token word = parser_next(parser);
    struct ast_item   *item = parse_file_new_item(parser, ITEM_INIT, &word);

    parser_accept_keyword(parser, "void");
    if (!parser_expect_name(parser, &item->is.function, "the name of a function") ||
        !parser_expect_punctuator(parser, '(', "the name"))
        return NULL;
    parser_accept_keyword(parser, "void");
    return parser_expect_punctuator(parser, ')', "`('") && parser_expect_semicolon(parser, "`)'")
               ? item
               : NULL;
}

static struct ast_item *parse_file_class(struct parser *parser, const char *as)
{
    struct lexer_token first = *parser_peek(parser);
    struct ast_item   *item  = parse_file_new_item(parser, ITEM_CLASS, &first);

    item->is.class = parse_class(parser, as);
    return item->is.class ? item : NULL;
}

/* Parses a declaration by the rule of the keyword @p word, whatever the next token is. */
static struct ast_item *parse_file_by_keyword(struct parser *parser, const char *word)
{
    static const struct {
        const char *word;
        struct ast_item *(*parse)(struct parser *parser);
    } rules[] = {
        {"extern", parse_file_extern},     {"include", parse_file_include},
        {"readonly", parse_file_readonly}, {"message", parse_file_message},
        {"struct", parse_file_struct},     {"code", parse_file_code},
        {"initnode", parse_file_init},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(word, rules[i].word))
            return rules[i].parse(parser);
    return parse_file_class(parser, word);
}

/* ---- errors ------------------------------------------------------------------------------- */

/* Rejects keywords of C, C++ and Charm++.  Returns whether there was one. */
static bool parse_file_reject_keyword(struct parser *parser)
{
    static const struct parser_foreign_keyword words[] = {
        {"namespace", "C has no namespaces", "generated names begin with the name of the class"},
        {"using", "C has no namespaces", "remove it"},
        {"template", "C has no templates", "declare a class for each type that is needed"},
        {"class", "a class is declared as a `chare', a `group' or an `array'",
         "such as `array [1D] Block'"},
        {"union", "an interface file cannot declare unions",
         "declare it in a header, and include that"},
        {"enum", "an interface file cannot declare enumerations",
         "declare it in a header, and include that"},
        {"typedef", "an interface file cannot declare typedefs",
         "declare it in a header, and include that"},
        {"initproc", "`initproc' is not supported",
         "`initnode f();' calls f in each process before the program starts; for each PE, use the "
         "constructor of a group"},
        {"initcall", "`initcall' is not supported",
         "`initnode f();' calls f in each process before the program starts"},
        {"import", "`import' is not supported", "`extern module M;' imports M.ci"},
        {"module", "modules cannot be nested", "`extern module M;' imports M.ci"},
        {"PUPable", "`PUPable' is not supported",
         "objects with a `state { }' can always be packed"},
        {"state", "`state' must be inside a class", "such as `chare Main { state { int n; } }'"},
        {"serial", "`serial' must be inside the body of an entry",
         "for C outside of entries write `code { }'"},
    };

    return parser_reject_foreign(parser, words, sizeof words / sizeof *words);
}

/* Rejects an entry outside of a class; it is parsed and dropped. */
static void parse_file_reject_entry(struct parser *parser)
{
    const char *from = parser_peek(parser)->text.at;

    if (parser_error(parser, "an entry must be inside a class"))
        diagnostic_hint(
            "such as `chare Main { entry void run(); }'; is there a surplus `}' before it?");
    if (!parse_entry(parser))
        recovery_skip_to_next(parser, from, item_words);
}

/* Handles anything else: a misspelt keyword, or C. */
static struct ast_item *parse_file_unknown(struct parser *parser)
{
    const char        *suggestion = parser_nearest_keyword(parser, item_words);
    struct lexer_token after      = parser_peek_ahead(parser, 1);
    bool               reported;

    if (parse_file_reject_keyword(parser))
        return NULL;
    reported =
        parser_error(parser, "expected a declaration, found %s", parser_describe_next(parser));
    if (suggestion && !parser_is_punctuator(&after, '(')) {
        if (reported)
            diagnostic_hint("did you mean `%s'?", suggestion);
        return parse_file_by_keyword(parser, suggestion);
    }
    if (reported && parser_peek(parser)->kind == TOKEN_IDENTIFIER)
        diagnostic_hint("C belongs in `code { }', or in a header: `include \"file.h\";'");
    return NULL;
}

/* ---- modules ------------------------------------------------------------------------------ */

static struct ast_item *parse_file_item(struct parser *parser)
{
    const struct lexer_token *token = parser_peek(parser);
    int word = token->kind == TOKEN_IDENTIFIER ? text_index_in(token->text, item_words) : -1;

    if (word >= 0)
        return parse_file_by_keyword(parser, item_words[word]);
    if (token->kind == TOKEN_DIRECTIVE)
        return parse_file_directive(parser);
    return parser_at_punctuator(parser, '[') ? parse_file_class(parser, NULL)
                                             : parse_file_unknown(parser);
}

/* Returns whether a module begins: then the closing brace of the current one is missing. */
static bool parse_file_at_module(struct parser *parser)
{
    struct lexer_token name = parser_peek_ahead(parser, 1), brace = parser_peek_ahead(parser, 2);

    return (parser_at_keyword(parser, "module") || parser_at_keyword(parser, "mainmodule")) &&
           name.kind == TOKEN_IDENTIFIER && parser_is_punctuator(&brace, '{');
}

static void parse_file_items(struct parser *parser, struct ast_item **next, const char *open)
{
    while (!parser_at_end(parser) && !parser_at_punctuator(parser, '}') &&
           !parse_file_at_module(parser)) {
        const char *from = parser_peek(parser)->text.at;

        if (parser_accept_punctuator(parser, ';'))
            continue;
        if (parser_at_keyword(parser, "entry")) {
            parse_file_reject_entry(parser);
            continue;
        }
        *next = parse_file_item(parser);
        if (*next)
            next = &(*next)->next;
        else
            recovery_skip_to_next(parser, from, item_words);
    }
    parser_expect_closer(parser, open);
}

/* Parses ( "module" | "mainmodule" ) NAME "{" { item } "}" [ ";" ], whatever the first word is. */
static struct ast_module *parse_file_module(struct parser *parser)
{
    struct ast_module *module = BUMP_NEW(struct ast_module);
    struct lexer_token word   = parser_next(parser);
    const char        *open;

    module->comment  = word.comment;
    module->location = parser_locate(parser, word.text.at);
    module->main     = word.text.length > strlen("modules");
    if (!parser_expect_name(parser, &module->name, "the name of a module"))
        return NULL;
    open = parser_peek(parser)->text.at;
    if (!parser_expect_punctuator(parser, '{', "the name of the module"))
        return NULL;
    parse_file_items(parser, &module->items, open);
    parser_accept_punctuator(parser, ';');
    return module;
}

/* ---- files -------------------------------------------------------------------------------- */

static bool parse_file_at_outside(struct parser *parser)
{
    return parser_peek(parser)->kind == TOKEN_DIRECTIVE || parser_at_keyword(parser, "include");
}

/* Parses directives and includes outside of modules into a module without a name. */
static struct ast_module *parse_file_outside(struct parser *parser)
{
    struct ast_module *module = BUMP_NEW(struct ast_module);
    struct ast_item  **next   = &module->items;

    module->location = parser_locate(parser, parser_peek(parser)->text.at);
    while (parse_file_at_outside(parser)) {
        *next = parser_peek(parser)->kind == TOKEN_DIRECTIVE ? parse_file_directive(parser)
                                                             : parse_file_include(parser);
        if (!*next)
            recovery_skip_to_next(parser, NULL, module_words);
        else
            next = &(*next)->next;
    }
    return module;
}

/* Handles a construct that is not a module. */
static struct ast_module *parse_file_unknown_module(struct parser *parser)
{
    const char *from       = parser_peek(parser)->text.at,
               *suggestion = parser_nearest_keyword(parser, module_words);

    if (parser_at_punctuator(parser, '}')) {
        parser_error(parser, "unmatched `}'");
        parser_next(parser);
        return NULL;
    }
    if (parser_peek(parser)->kind == TOKEN_IDENTIFIER &&
        text_index_in(parser_peek(parser)->text, item_words) >= 0) {
        if (parser_error(parser, "%s must be inside a module", parser_describe_next(parser)))
            diagnostic_hint("write `module NAME { ... }' around it");
        if (parse_file_item(parser))
            return NULL;
    } else if (parser_at_keyword(parser, "entry")) {
        parse_file_reject_entry(parser);
        return NULL;
    } else if (!parse_file_reject_keyword(parser) &&
               parser_error(parser, "expected `module' or `mainmodule', found %s",
                            parser_describe_next(parser)) &&
               suggestion) {
        diagnostic_hint("did you mean `%s'?", suggestion);
        return parse_file_module(parser);
    }
    recovery_skip_to_next(parser, from, module_words);
    return NULL;
}

static void parse_file_modules(struct parser *parser)
{
    struct ast_module **next = &parser->tree->modules;

    while (!parser_at_end(parser)) {
        if (parser_accept_punctuator(parser, ';'))
            continue;
        if (parse_file_at_outside(parser))
            *next = parse_file_outside(parser);
        else if (parser_at_keyword(parser, "module") || parser_at_keyword(parser, "mainmodule"))
            *next = parse_file_module(parser);
        else
            *next = parse_file_unknown_module(parser);
        if (*next)
            next = &(*next)->next;
    }
}

struct ast_tree *parse_file(struct source *source)
{
    struct parser parser = {.source   = source,
                            .tree     = BUMP_NEW(struct ast_tree),
                            .lexer    = lexer_start(source),
                            .last_end = source->text.at};
    const char   *nul    = memchr(source->text.at, 0, source->text.length);

    parser.tree->source = source;
    parser.code_spans   = &parser.tree->code_spans;
    if (nul)
        parser_error_at(&parser, nul, 1, "not a text file: it contains a NUL byte");
    else
        parse_file_modules(&parser);
    return parser.tree;
}
