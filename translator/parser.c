/* SPDX-License-Identifier: Apache-2.0 */
/* parser.c - see parser.h: files, modules and what stands in them. */
#include "parser.h"

#include "arena.h"
#include "code.h"
#include "diagnostic.h"
#include "parsing.h"
#include "source.h"
#include "text.h"

/* What begins an item: the rules, and the kinds of classes. */
static const char *const item_words[] = {
    "extern", "include", "readonly",  "message", "struct",    "code",     "mainchare",
    "chare",  "group",   "nodegroup", "array",   "interface", "initnode", NULL,
};

static const char *const module_words[] = {"module", "mainmodule", NULL};

/* ---- items --------------------------------------------------------------------------------- */

static struct item *new_item(const struct parser *parser, enum item_kind kind,
                             const struct token *first)
{
    struct item *item = ARENA_NEW(struct item);

    item->kind    = kind;
    item->place   = place_of(parser, first->text.at);
    item->comment = first->comment;
    return item;
}

static struct item *parse_hash(struct parser *parser)
{
    struct token line = take(parser);
    struct item *item = new_item(parser, ITEM_HASH, &line);

    item->is.code = (struct code){line.text, item->place};
    return item;
}

static const char extern_module[] =
    "the name alone, without quotes and `.ci': `extern module M;' uses what M.ci declares";

/* "extern" "module" NAME ";" */
static struct item *parse_extern(struct parser *parser)
{
    struct token word = take(parser);
    struct item *item = new_item(parser, ITEM_EXTERN, &word);

    if (!take_word(parser, "module")) {
        if (complain(parser, "expected `module' behind `extern', not %s", seen(parser)))
            hint("`extern module M;' uses what M.ci declares; for C write `code { extern ... }'");
        return NULL;
    }
    if (look(parser)->kind == TOKEN_STRING) {
        if (complain(parser, "expected the name of a module, not a string"))
            hint(extern_module);
        return NULL;
    }
    if (!expect_name(parser, &item->is.module, "the name of a module"))
        return NULL;
    if (at_mark(parser, '.')) {
        if (complain(parser, "expected `;' behind the name of the module, not `.'"))
            hint(extern_module);
        return NULL;
    }
    return expect_semicolon(parser, "the name of the module") ? item : NULL;
}

/* "<" path ">", of which the first was taken. */
static bool parse_path(struct parser *parser, struct code *code)
{
    const char *from = parser->behind - 1, *at = from, *end = text_end(parser->source->text);

    while (at < end && *at != '>' && *at != '\n')
        at++;
    if (at == end || *at != '>')
        return complain_at(parser, from, 1, "this `<' is not closed"), false;
    *code = (struct code){text_between(from, at + 1), place_of(parser, from)};
    add_piece(parser, code->text, false);
    parser->lexer.at = parser->behind = at + 1;
    parser->looked                    = false;
    return true;
}

/* "include" ( STRING | "<" path ">" ) ";" */
static struct item *parse_include(struct parser *parser)
{
    struct token word = take(parser), what = *look(parser);
    struct item *item = new_item(parser, ITEM_INCLUDE, &word);

    if (what.kind == TOKEN_STRING) {
        take(parser);
        item->is.code = (struct code){what.text, place_of(parser, what.text.at)};
    } else if (!take_mark(parser, '<')) {
        if (complain(parser, "expected \"file.h\" or <file.h> behind `include', not %s",
                     seen(parser)))
            hint("a file is named in quotes, a module by `extern module M;'");
        return NULL;
    } else if (!parse_path(parser, &item->is.code)) {
        return NULL;
    }
    return expect_semicolon(parser, "the name of the file") ? item : NULL;
}

static struct item *parse_readonly(struct parser *parser)
{
    struct token word = take(parser);
    struct item *item = new_item(parser, ITEM_READONLY, &word);

    item->is.readonly = parse_field(parser, false);
    return item->is.readonly ? item : NULL;
}

/* NAME "{" { field } "}" [ ";" ]; a message also NAME ";". */
static bool parse_record(struct parser *parser, struct name *name, struct field **fields,
                         bool message)
{
    const char *open;

    if (at_mark(parser, '[')) {
        if (complain(parser, "expected a name, not `['"))
            hint("only classes and entries have attributes");
        return false;
    }
    if (!expect_name(parser, name, message ? "the name of a message" : "the name of a struct"))
        return false;
    if (message && take_mark(parser, ';'))
        return true;
    open = look(parser)->text.at;
    if (!expect_mark(parser, '{', "the name"))
        return false;
    *fields = parse_fields(parser, open, false);
    take_mark(parser, ';');
    return true;
}

static struct item *parse_message(struct parser *parser)
{
    struct token    word    = take(parser);
    struct item    *item    = new_item(parser, ITEM_MESSAGE, &word);
    struct message *message = item->is.message = ARENA_NEW(struct message);

    message->comment = word.comment;
    return parse_record(parser, &message->name, &message->fields, true) ? item : NULL;
}

static struct item *parse_struct(struct parser *parser)
{
    struct token   word   = take(parser);
    struct item   *item   = new_item(parser, ITEM_RECORD, &word);
    struct record *record = item->is.record = ARENA_NEW(struct record);

    record->comment = word.comment;
    return parse_record(parser, &record->name, &record->fields, false) ? item : NULL;
}

/* "code" "{" code "}" */
static struct item *parse_code(struct parser *parser)
{
    struct token word = take(parser);
    struct item *item = new_item(parser, ITEM_CODE, &word);

    return expect_mark(parser, '{', "`code'") && take_block(parser, &item->is.code) ? item : NULL;
}

/* "initnode" [ "void" ] NAME "(" [ "void" ] ")" ";" */
static struct item *parse_init(struct parser *parser)
{
    struct token word = take(parser);
    struct item *item = new_item(parser, ITEM_INIT, &word);

    take_word(parser, "void");
    if (!expect_name(parser, &item->is.function, "the name of a function") ||
        !expect_mark(parser, '(', "the name"))
        return NULL;
    take_word(parser, "void");
    return expect_mark(parser, ')', "`('") && expect_semicolon(parser, "`)'") ? item : NULL;
}

static struct item *parse_class_item(struct parser *parser, const char *as)
{
    struct token first = *look(parser);
    struct item *item  = new_item(parser, ITEM_CLASS, &first);

    item->is.class = parse_class(parser, as);
    return item->is.class ? item : NULL;
}

/* By the rule of @p word, whatever the next token is. */
static struct item *parse_as(struct parser *parser, const char *word)
{
    static const struct {
        const char *word;
        struct item *(*parse)(struct parser *parser);
    } rules[] = {
        {"extern", parse_extern},   {"include", parse_include}, {"readonly", parse_readonly},
        {"message", parse_message}, {"struct", parse_struct},   {"code", parse_code},
        {"initnode", parse_init},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(word, rules[i].word))
            return rules[i].parse(parser);
    return parse_class_item(parser, word);
}

/* ---- what is no item ------------------------------------------------------------------------ */

/* Words that people know from C, C++ and Charm++.  False: it is none of them. */
static bool refuse_word(struct parser *parser)
{
    static const struct {
        const char *word, *why, *hint;
    } words[] = {
        {"namespace", "C has no namespaces",
         "the names of a module begin with those of its "
         "classes"},
        {"using", "C has no namespaces", "leave it out"},
        {"template", "C has no templates", "write a class for each type that is needed"},
        {"class", "a class is a `chare', a `group' or an `array'", "such as `array [1D] Block'"},
        {"union", "an interface file has no unions", "declare it in a header that is included"},
        {"enum", "an interface file has no enumerations",
         "declare it in a header that is "
         "included"},
        {"typedef", "an interface file has no type definitions",
         "declare it in a header that is included"},
        {"initproc", "there is no `initproc'",
         "`initnode f();' is called in each process before the program begins; for each PE, make a "
         "group, whose constructor runs there"},
        {"initcall", "there is no `initcall'",
         "`initnode f();' is called in each process before "
         "the program begins"},
        {"import", "a module is not imported", "`extern module M;' uses what M.ci declares"},
        {"module", "modules do not stand in each other",
         "`extern module M;' uses what M.ci "
         "declares"},
        {"PUPable", "there is no `PUPable'", "objects with `state { }' are packed as they are"},
        {"state", "`state' belongs into a class", "such as `chare Main { state { int n; } }'"},
        {"serial", "`serial' belongs into the body of an entry", "C beside it: `code { }'"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (at_word(parser, words[i].word)) {
            if (complain(parser, "%s", words[i].why))
                hint("%s", words[i].hint);
            return true;
        }
    return false;
}

/* An entry that is in no class: read, and dropped. */
static void refuse_entry(struct parser *parser)
{
    const char *from = look(parser)->text.at;

    if (complain(parser, "an entry belongs into a class"))
        hint("such as `chare Main { entry void run(); }'; was a brace closed too early?");
    if (!parse_entry(parser))
        skip_to_next(parser, from, item_words);
}

/* Something else: a misspelt word, or C. */
static struct item *parse_unknown(struct parser *parser)
{
    const char  *near  = meant(parser, item_words);
    struct token after = look_further(parser, 1);
    bool         said;

    if (refuse_word(parser))
        return NULL;
    said = complain(parser, "expected a declaration, not %s", seen(parser));
    if (near && !token_is_mark(&after, '(')) {
        if (said)
            hint("did you mean `%s'?", near);
        return parse_as(parser, near);
    }
    if (said && look(parser)->kind == TOKEN_WORD)
        hint("C stands in `code { }', or in a header: `include \"file.h\";'");
    return NULL;
}

/* ---- modules ------------------------------------------------------------------------------- */

static struct item *parse_item(struct parser *parser)
{
    const struct token *token = look(parser);
    int                 word = token->kind == TOKEN_WORD ? text_among(token->text, item_words) : -1;

    if (word >= 0)
        return parse_as(parser, item_words[word]);
    if (token->kind == TOKEN_HASH)
        return parse_hash(parser);
    return at_mark(parser, '[') ? parse_class_item(parser, NULL) : parse_unknown(parser);
}

/* Whether a module begins: then the one before should have ended. */
static bool at_module(struct parser *parser)
{
    struct token name = look_further(parser, 1), brace = look_further(parser, 2);

    return (at_word(parser, "module") || at_word(parser, "mainmodule")) &&
           name.kind == TOKEN_WORD && token_is_mark(&brace, '{');
}

static void parse_items(struct parser *parser, struct item **next, const char *open)
{
    while (!at_end(parser) && !at_mark(parser, '}') && !at_module(parser)) {
        const char *from = look(parser)->text.at;

        if (take_mark(parser, ';'))
            continue;
        if (at_word(parser, "entry")) {
            refuse_entry(parser);
            continue;
        }
        *next = parse_item(parser);
        if (*next)
            next = &(*next)->next;
        else
            skip_to_next(parser, from, item_words);
    }
    expect_closed(parser, open);
}

/* ( "module" | "mainmodule" ) NAME "{" { item } "}" [ ";" ], whatever the first word is. */
static struct module *parse_module(struct parser *parser)
{
    struct module *module = ARENA_NEW(struct module);
    struct token   word   = take(parser);
    const char    *open;

    module->comment = word.comment;
    module->place   = place_of(parser, word.text.at);
    module->main    = word.text.length > strlen("modules");
    if (!expect_name(parser, &module->name, "the name of a module"))
        return NULL;
    open = look(parser)->text.at;
    if (!expect_mark(parser, '{', "the name of the module"))
        return NULL;
    parse_items(parser, &module->items, open);
    take_mark(parser, ';');
    return module;
}

/* ---- files --------------------------------------------------------------------------------- */

static bool at_outside(struct parser *parser)
{
    return look(parser)->kind == TOKEN_HASH || at_word(parser, "include");
}

/* # lines and includes outside of modules: a module without a name. */
static struct module *parse_outside(struct parser *parser)
{
    struct module *module = ARENA_NEW(struct module);
    struct item  **next   = &module->items;

    module->place = place_of(parser, look(parser)->text.at);
    while (at_outside(parser)) {
        *next = look(parser)->kind == TOKEN_HASH ? parse_hash(parser) : parse_include(parser);
        if (!*next)
            skip_to_next(parser, NULL, module_words);
        else
            next = &(*next)->next;
    }
    return module;
}

/* Something that is no module. */
static struct module *parse_unknown_module(struct parser *parser)
{
    const char *from = look(parser)->text.at, *near = meant(parser, module_words);

    if (at_mark(parser, '}')) {
        complain(parser, "this `}' closes nothing");
        take(parser);
        return NULL;
    }
    if (look(parser)->kind == TOKEN_WORD && text_among(look(parser)->text, item_words) >= 0) {
        if (complain(parser, "%s belongs into a module", seen(parser)))
            hint("write `module NAME { ... }' around it");
        if (parse_item(parser))
            return NULL;
    } else if (at_word(parser, "entry")) {
        refuse_entry(parser);
        return NULL;
    } else if (!refuse_word(parser) &&
               complain(parser, "expected `module' or `mainmodule', not %s", seen(parser)) &&
               near) {
        hint("did you mean `%s'?", near);
        return parse_module(parser);
    }
    skip_to_next(parser, from, module_words);
    return NULL;
}

static void parse_file(struct parser *parser)
{
    struct module **next = &parser->tree->modules;

    while (!at_end(parser)) {
        if (take_mark(parser, ';'))
            continue;
        if (at_outside(parser))
            *next = parse_outside(parser);
        else if (at_word(parser, "module") || at_word(parser, "mainmodule"))
            *next = parse_module(parser);
        else
            *next = parse_unknown_module(parser);
        if (*next)
            next = &(*next)->next;
    }
}

struct tree *parse(struct source *source)
{
    struct parser parser = {.source = source,
                            .tree   = ARENA_NEW(struct tree),
                            .lexer  = lexer_at_start(source),
                            .behind = source->text.at};
    const char   *nul    = memchr(source->text.at, 0, source->text.length);

    parser.tree->source = source;
    parser.pieces       = &parser.tree->pieces;
    if (nul)
        complain_at(&parser, nul, 1, "this file is no text: it has a NUL byte");
    else
        parse_file(&parser);
    return parser.tree;
}
