/* SPDX-License-Identifier: Apache-2.0 */
/* parse_class.c - chares, groups, arrays; their entries and their state. */
#include "arena.h"
#include "code.h"
#include "diagnostic.h"
#include "parsing.h"
#include "text.h"

/* In the order of enum class_kind. */
const char *const class_words[] = {"mainchare", "chare",     "group", "nodegroup",
                                   "array",     "interface", NULL};

/* In the order of their bits. */
static const char *const attribute_words[] = {
    "threaded",   "sync",       "expedited", "immediate", "inline",    "local", "reductiontarget",
    "createhere", "createhome", "nokeep",    "notrace",   "aggregate", NULL,
};

static const char *const member_words[] = {"entry", "state", NULL};

/* ---- attributes ---------------------------------------------------------------------------- */

static bool is_attribute(const struct token *token)
{
    return token->kind == TOKEN_WORD && text_among(token->text, attribute_words) >= 0;
}

/* Attributes of an entry that stand before or behind it, or without brackets.  False: there are
 * none. */
static bool refuse_misplaced(struct parser *parser)
{
    if (!at_mark(parser, '[') && !is_attribute(look(parser)))
        return false;
    if (complain(parser, "attributes stand in brackets behind the word `entry'"))
        hint("such as `entry [threaded] void run();'");
    return true;
}

static void complain_attribute(struct parser *parser)
{
    const char *near = meant(parser, attribute_words);

    if (!complain(parser, "there is no attribute %s", seen(parser)))
        return;
    if (near)
        hint("did you mean `%s'?", near);
    else if (at_word(parser, "migratable"))
        hint("classes have it, before their kind: `[migratable] array [1D] Block'");
    else if (at_word(parser, "exclusive"))
        hint("an object runs one entry at a time, always");
    else if (at_word(parser, "python") || at_word(parser, "whenidle") || at_word(parser, "appwork"))
        hint("Charm++ has it, Skua has not");
    else
        hint("there are threaded, sync, expedited, immediate, inline, local, reductiontarget, "
             "createhere, createhome, nokeep, notrace and aggregate");
}

static bool parse_aggregate(struct parser *parser, struct entry *entry)
{
    const char *open = look(parser)->text.at;

    if (!take_mark(parser, '('))
        return true;
    return take_code(parser, 0, &entry->aggregate) && expect_closed(parser, open);
}

static bool parse_attribute(struct parser *parser, struct entry *entry)
{
    int number =
        look(parser)->kind == TOKEN_WORD ? text_among(look(parser)->text, attribute_words) : -1;

    if (look(parser)->kind != TOKEN_WORD)
        return complain(parser, "expected an attribute, not %s", seen(parser)), false;
    if (number < 0) {
        complain_attribute(parser);
        take(parser);
        return true; /* as if it had not been there */
    }
    if (entry->attributes & 1u << number)
        complain(parser, "%s twice", seen(parser));
    take(parser);
    entry->attributes |= 1u << number;
    return (1 << number) != ATTRIBUTE_AGGREGATE || parse_aggregate(parser, entry);
}

static bool parse_attributes(struct parser *parser, struct entry *entry)
{
    const char *open = look(parser)->text.at;

    if (!take_mark(parser, '['))
        return true;
    do
        if (!parse_attribute(parser, entry))
            return false;
    while (take_mark(parser, ','));
    return expect_closed(parser, open);
}

/* ---- entries ------------------------------------------------------------------------------- */

static bool is_class_name(const struct parser *parser, struct text name)
{
    return parser->class.text.at && text_equal(name, parser->class.text);
}

static bool parse_destructor(struct parser *parser, struct entry *entry)
{
    entry->kind = ENTRY_DESTRUCTOR;
    if (!expect_name(parser, &entry->name, "the name of the class behind `~'"))
        return false;
    if (!is_class_name(parser, entry->name.text)) {
        if (complain_at(parser, entry->name.text.at, entry->name.text.length,
                        "a destructor has the name of its class"))
            hint("write `~%.*s()'", (int)parser->class.text.length, parser->class.text.at);
    }
    if (!parse_parameters(parser, &entry->parameters, false))
        return false;
    if (entry->parameters)
        complain_at(parser, entry->name.text.at, entry->name.text.length,
                    "a destructor has no parameters");
    return true;
}

/* `entry run();`: is it a constructor, or is a type missing? */
static void complain_no_type(struct parser *parser, const struct entry *entry)
{
    char *class               = arena_string(parser->class.text);
    const char *const names[] = {class, NULL};
    struct name       name    = entry->name;

    if (!complain_at(parser, name.text.at, name.text.length, "entry `%.*s' has no type",
                     (int)name.text.length, name.text.at))
        return;
    if (*class && nearest(name.text, names))
        hint("a constructor has the name of its class: `%s'", class);
    else
        hint("write `entry void %.*s(...)'", (int)name.text.length, name.text.at);
}

static void set_result(struct entry *entry, struct code type, unsigned stars)
{
    if (stars || !text_is(type.text, "void")) {
        entry->result       = type;
        entry->result_stars = stars;
    }
}

/* NAME, behind "type *". */
static bool parse_name_after_stars(struct parser *parser, struct entry *entry,
                                   const struct words *words)
{
    unsigned stars = 0;

    while (take_mark(parser, '*'))
        stars++;
    if (words->count)
        set_result(entry, type_of(parser, words, false), stars);
    return !parse_reference(parser) && expect_name(parser, &entry->name, "the name of an entry");
}

/* [ type ] NAME */
static bool parse_type_and_name(struct parser *parser, struct entry *entry)
{
    struct token after = look_further(parser, 1);
    struct words words;

    if (is_attribute(look(parser)) && after.kind == TOKEN_WORD && refuse_misplaced(parser))
        return false;
    words = take_words(parser);
    if (at_mark(parser, '[') && refuse_misplaced(parser))
        return false;
    if (!words.count || at_mark(parser, '*'))
        return parse_name_after_stars(parser, entry, &words);
    entry->name = name_of(parser, &words.last);
    if (words.count > 1)
        set_result(entry, type_of(parser, &words, true), 0);
    if (is_class_name(parser, entry->name.text)) {
        entry->kind = ENTRY_CONSTRUCTOR;
        if (words.count > 1)
            complain_at(parser, words.first.text.at, words.first.text.length,
                        "a constructor has no type");
    } else if (words.count == 1 && at_mark(parser, '(')) {
        complain_no_type(parser, entry);
    }
    return true;
}

/* ";" | block [ ";" ] */
static bool parse_body(struct parser *parser, struct entry *entry)
{
    if (take_mark(parser, '{')) {
        entry->body = parse_block(parser);
        take_mark(parser, ';');
        return true;
    }
    if (at_mark(parser, '=')) {
        if (complain(parser, "expected `;' or `{'"))
            hint("a body of structured code follows the parameters, without a `='");
        return false;
    }
    return !refuse_misplaced(parser) && expect_semicolon(parser, "the entry");
}

struct entry *parse_entry(struct parser *parser)
{
    struct entry *entry = ARENA_NEW(struct entry);
    struct token  word  = take(parser);
    bool          right;

    entry->comment = word.comment;
    entry->place   = place_of(parser, word.text.at);
    if (!parse_attributes(parser, entry))
        return NULL;
    if (take_mark(parser, '~'))
        right = parse_destructor(parser, entry);
    else
        right = parse_type_and_name(parser, entry) &&
                parse_parameters(parser, &entry->parameters, false);
    return right && parse_body(parser, entry) ? entry : NULL;
}

/* ---- members ------------------------------------------------------------------------------- */

static bool parse_state(struct parser *parser, struct class *class)
{
    struct token  word = take(parser);
    const char   *open = look(parser)->text.at;
    struct field *fields;

    if (at_mark(parser, '[')) {
        if (complain(parser, "a `state' has no attributes"))
            hint("`transient' stands before a field that is not packed: `transient int *cache;'");
        return false;
    }
    if (!expect_mark(parser, '{', "`state'"))
        return false;
    fields = parse_fields(parser, open, true);
    take_mark(parser, ';');
    if (class->has_state) {
        if (complain_at(parser, word.text.at, word.text.length, "a class has one `state'"))
            hint_at(class->state_place, "the first is here");
        return true;
    }
    class->has_state   = true;
    class->state_place = place_of(parser, word.text.at);
    class->state       = fields;
    return true;
}

/* `public:` and its like. */
static bool take_access(struct parser *parser)
{
    struct token after = look_further(parser, 1);

    if (!token_is_mark(&after, ':') || (!at_word(parser, "public") && !at_word(parser, "private") &&
                                        !at_word(parser, "protected")))
        return false;
    if (complain(parser, "%s is C++", seen(parser)))
        hint("an interface file has no such sections: leave it out");
    take(parser);
    take(parser);
    return true;
}

/* Something that is no member.  False: what it is cannot be guessed, and is skipped. */
static bool parse_unknown_member(struct parser *parser, struct class *class, struct entry **entry)
{
    struct token after = look_further(parser, 1);
    const char  *near  = meant(parser, member_words);

    if (take_access(parser))
        return true;
    if (refuse_misplaced(parser) ||
        !complain(parser, "expected `entry', `state' or `}', not %s", seen(parser)))
        return false;
    if (near) {
        hint("did you mean `%s'?", near);
        if (!strcmp(near, "state"))
            return parse_state(parser, class);
        *entry = parse_entry(parser);
        return *entry;
    }
    if (look(parser)->kind == TOKEN_HASH)
        hint("# lines stand between the declarations of a module");
    else if (after.kind == TOKEN_WORD || token_is_mark(&after, '(') || token_is_mark(&after, '*'))
        hint("what objects can be sent begins with `entry'; their variables belong into "
             "`state { }'");
    return false;
}

static void parse_members(struct parser *parser, struct class *class, const char *open)
{
    struct entry **next = &class->entries;

    while (!at_end(parser) && !at_mark(parser, '}')) {
        const char *from = look(parser)->text.at;
        bool        right;

        if (take_mark(parser, ';'))
            continue;
        if (look(parser)->first && at_class(parser))
            break;
        if (at_word(parser, "entry"))
            right = (*next = parse_entry(parser));
        else if (at_word(parser, "state"))
            right = parse_state(parser, class);
        else
            right = parse_unknown_member(parser, class, next);
        if (*next)
            next = &(*next)->next;
        if (!right)
            skip_to_next(parser, from, member_words);
    }
    expect_closed(parser, open);
}

/* ---- classes ------------------------------------------------------------------------------- */

static bool is_class_word(const struct token *token)
{
    return token->kind == TOKEN_WORD && text_among(token->text, class_words) >= 0;
}

bool at_class(struct parser *parser)
{
    struct token after;

    if (!is_class_word(look(parser)))
        return false;
    after = look_further(parser, 1);
    return after.kind == TOKEN_WORD || (at_word(parser, "array") && token_is_mark(&after, '['));
}

/* [ "[" "migratable" "]" ] */
static bool parse_migratable(struct parser *parser, struct class *class)
{
    static const char *const words[] = {"migratable", NULL};
    const char              *open    = look(parser)->text.at;

    if (!take_mark(parser, '['))
        return true;
    class->migratable = true;
    if (!at_word(parser, "migratable")) {
        bool entrys = is_attribute(look(parser));

        if (complain(parser, "there is no attribute %s of classes", seen(parser)))
            hint(meant(parser, words) ? "did you mean `migratable'?"
                 : entrys             ? "entries have it: `entry [threaded] void run();'"
                                      : "there is `migratable'");
        if (entrys || look(parser)->kind != TOKEN_WORD)
            return false;
    }
    take(parser);
    return expect_closed(parser, open);
}

static const char before_class[] = "attributes of a class stand before it: "
                                   "`[migratable] array [1D] Block'";

/* `chare [migratable] C` */
static bool refuse_class_attribute(struct parser *parser)
{
    if (!at_mark(parser, '['))
        return false;
    if (complain(parser, "expected the name of a class, not `['"))
        hint(before_class);
    return true;
}

/* `[1d]`, `[1]`, `[7D]` */
static void refuse_dimensions(struct parser *parser)
{
    char digit = *look(parser)->text.at;

    if (!complain(parser, "an array has 1D to 6D, or an index type"))
        return;
    if (digit >= '1' && digit <= '6')
        hint("write `array [%cD]'", digit);
    else
        hint("such as `array [2D]' or `array [struct node]'");
}

/* "[" ( "1D" | ... | "6D" | type ) "]" */
static bool parse_index(struct parser *parser, struct class *class)
{
    struct token open = *look(parser), what;

    if (!take_mark(parser, '[')) {
        if (complain(parser, "expected `[' behind `array', not %s", seen(parser)))
            hint("the dimensions stand in brackets, such as `array [2D] Block', or an index type: "
                 "`array [struct node] Block'");
        return false;
    }
    what = *look(parser);
    if (what.kind == TOKEN_NUMBER) {
        class->dims = (unsigned)(*what.text.at - '0');
        if (what.text.length != 2 || what.text.at[1] != 'D' || class->dims < 1 || class->dims > 6) {
            refuse_dimensions(parser);
            class->dims = 1;
        }
        take(parser);
        if (at_mark(parser, ',')) {
            if (complain(parser, "expected `]' behind the dimensions, not `,'"))
                hint(before_class);
            return false;
        }
    } else {
        if (!take_code(parser, 0, &class->index))
            return false;
        if (!class->index.text.at)
            complain(parser, "expected 1D to 6D, or an index type");
    }
    return expect_closed(parser, open.text.at);
}

static bool parse_bases(struct parser *parser, struct class *class)
{
    struct base **next = &class->bases;

    if (!take_mark(parser, ':'))
        return true;
    do {
        if (at_word(parser, "public") || at_word(parser, "private") || at_word(parser, "virtual")) {
            if (complain(parser, "%s is C++", seen(parser)))
                hint("the names of interfaces are enough");
            take(parser);
        }
        *next = ARENA_NEW(struct base);
        if (!expect_name(parser, &(*next)->name, "the name of an interface"))
            return false;
        next = &(*next)->next;
    } while (take_mark(parser, ','));
    return true;
}

/* Its kind, or what @p as says that it is. */
static bool parse_kind(struct parser *parser, struct class *class, const char *as)
{
    if (as || is_class_word(look(parser))) {
        struct text word = take(parser).text;

        class->kind =
            (enum class_kind)text_among(as ? (struct text){as, strlen(as)} : word, class_words);
        return class->kind != CLASS_ARRAY || parse_index(parser, class);
    }
    complain(parser, "expected a kind of class, such as `chare', not %s", seen(parser));
    return false;
}

struct class *parse_class(struct parser *parser, const char *as)
{
    struct class *class = ARENA_NEW(struct class);
    struct token word   = *look(parser);
    const char  *open;

    class->comment = word.comment;
    class->place   = place_of(parser, word.text.at);
    if (!parse_migratable(parser, class) || !parse_kind(parser, class, as) ||
        refuse_class_attribute(parser))
        return NULL;
    if (!expect_name(parser, &class->name, "the name of a class") || !parse_bases(parser, class))
        return NULL;
    open = look(parser)->text.at;
    if (take_mark(parser, ';'))
        return class;
    if (!expect_mark(parser, '{', "the name of the class"))
        return NULL;
    parser->class = class->name;
    parse_members(parser, class, open);
    parser->class = (struct name){0};
    take_mark(parser, ';');
    return class;
}
