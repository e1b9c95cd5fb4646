/* SPDX-License-Identifier: Apache-2.0 */
/* lexer_test.c - see lexer.h. */
#include "lexer.h"

#include <string.h>

#include "arena.h"
#include "diagnostic.h"
#include "source.h"
#include "tests/tap.h"
#include "text.h"

static struct lexer lexer;

static void begin(const char *text)
{
    diagnostic_begin(NULL);
    lexer = lexer_at_start(source_of("a.ci", text, strlen(text)));
}

static bool next_is(enum token_kind kind, const char *text)
{
    struct token token = lexer_next(&lexer);

    return token.kind == kind && text_is(token.text, text);
}

static bool next_comment_is(const char *comment)
{
    struct token token = lexer_next(&lexer);

    return comment ? token.comment.at && text_is(token.comment, comment) : !token.comment.at;
}

static void test_kinds(void)
{
    begin("a_1 2D 0x1p-3+ \"s\\\"t\" ;;\n # define A \\\n 3\nb");
    OK(next_is(TOKEN_WORD, "a_1") && next_is(TOKEN_NUMBER, "2D"), "words and numbers");
    OK(next_is(TOKEN_NUMBER, "0x1p-3") && next_is(TOKEN_MARK, "+"), "an exponent");
    OK(next_is(TOKEN_STRING, "\"s\\\"t\""), "a string");
    OK(next_is(TOKEN_MARK, ";") && next_is(TOKEN_MARK, ";"), "marks");
    OK(next_is(TOKEN_HASH, "# define A \\\n 3"), "a # line that goes on");
    OK(next_is(TOKEN_WORD, "b") && next_is(TOKEN_END, "") && next_is(TOKEN_END, ""), "the end");
    OK(!error_count(), "no errors");
}

static void test_comments(void)
{
    begin("/* a */ b /* behind */ c // behind\n/* d\n */\n// e\nd\n/* far */\n\ne\n/* f */\n\n// "
          "g\nf");
    OK(next_comment_is("/* a */"), "on the same line");
    OK(next_comment_is(NULL), "but not behind another token");
    OK(next_comment_is("/* d\n */\n// e"), "several lines");
    OK(next_comment_is(NULL), "not after an empty line");
    OK(next_comment_is("// g"), "the last group");
    begin("a b\nc");
    lexer_next(&lexer);
    OK(!lexer_next(&lexer).first && lexer_next(&lexer).first, "the first token of a line");
}

static void test_errors(void)
{
    begin("a @@ b # c \"d\ne /* f");
    OK(next_is(TOKEN_WORD, "a") && next_is(TOKEN_WORD, "b") && error_count() == 1,
       "what cannot stand there is skipped, with one error");
    OK(next_is(TOKEN_WORD, "c") && error_count() == 2, "a # within a line, too");
    OK(next_is(TOKEN_STRING, "\"d") && error_count() == 3, "a string ends with its line");
    OK(next_is(TOKEN_WORD, "e") && next_is(TOKEN_END, "") && error_count() == 4,
       "a comment that does not end");
    OK(lexer.cut, "is remembered");
    begin("\"a");
    lexer.quiet = true;
    OK(lexer_next(&lexer).broken && !error_count(), "a quiet one says nothing");
}

int main(void)
{
    test_kinds();
    test_comments();
    test_errors();
    arena_free();
    return tap_end();
}
