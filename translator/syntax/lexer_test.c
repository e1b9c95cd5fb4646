/* SPDX-License-Identifier: Apache-2.0 */
/* lexer_test.c - token kinds, documentation comments, and lexical errors. */
#include "syntax/lexer.h"

#include <string.h>

#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "support/text.h"
#include "tests/tap.h"

static struct lexer lexer;

static void lexer_test_begin(const char *text)
{
    diagnostic_begin(NULL);
    lexer = lexer_start(source_from_memory("a.ci", text, strlen(text)));
}

static bool lexer_test_next_is(enum lexer_token_kind kind, const char *text)
{
    struct lexer_token token = lexer_next(&lexer);

    return token.kind == kind && text_is(token.text, text);
}

static bool lexer_test_next_comment_is(const char *comment)
{
    struct lexer_token token = lexer_next(&lexer);

    return comment ? token.comment.at && text_is(token.comment, comment) : !token.comment.at;
}

static void lexer_test_kinds(void)
{
    lexer_test_begin("a_1 2D 0x1p-3+ \"s\\\"t\" ;;\n # define A \\\n 3\nb");
    OK(lexer_test_next_is(TOKEN_IDENTIFIER, "a_1") && lexer_test_next_is(TOKEN_NUMBER, "2D"),
       "words and numbers");
    OK(lexer_test_next_is(TOKEN_NUMBER, "0x1p-3") && lexer_test_next_is(TOKEN_PUNCTUATOR, "+"),
       "an exponent");
    OK(lexer_test_next_is(TOKEN_STRING, "\"s\\\"t\""), "a string");
    OK(lexer_test_next_is(TOKEN_PUNCTUATOR, ";") && lexer_test_next_is(TOKEN_PUNCTUATOR, ";"),
       "marks");
    OK(lexer_test_next_is(TOKEN_DIRECTIVE, "# define A \\\n 3"), "a # line with a continuation");
    OK(lexer_test_next_is(TOKEN_IDENTIFIER, "b") && lexer_test_next_is(TOKEN_END, "") &&
           lexer_test_next_is(TOKEN_END, ""),
       "the end");
    OK(!diagnostic_error_count(), "no errors");
}

static void lexer_test_comments(void)
{
    lexer_test_begin(
        "/* a */ b /* behind */ c // behind\n/* d\n */\n// e\nd\n/* far */\n\ne\n/* f */\n\n// "
        "g\nf");
    OK(lexer_test_next_comment_is("/* a */"), "on the same line");
    OK(lexer_test_next_comment_is(NULL), "but not after another token");
    OK(lexer_test_next_comment_is("/* d\n */\n// e"), "several lines");
    OK(lexer_test_next_comment_is(NULL), "not after an empty line");
    OK(lexer_test_next_comment_is("// g"), "the last group");
    lexer_test_begin("a b\nc");
    lexer_next(&lexer);
    OK(!lexer_next(&lexer).first && lexer_next(&lexer).first, "the first token of a line");
}

static void lexer_test_errors(void)
{
    lexer_test_begin("a @@ b # c \"d\ne /* f");
    OK(lexer_test_next_is(TOKEN_IDENTIFIER, "a") && lexer_test_next_is(TOKEN_IDENTIFIER, "b") &&
           diagnostic_error_count() == 1,
       "invalid bytes are skipped with one error");
    OK(lexer_test_next_is(TOKEN_IDENTIFIER, "c") && diagnostic_error_count() == 2,
       "a # within a line, too");
    OK(lexer_test_next_is(TOKEN_STRING, "\"d") && diagnostic_error_count() == 3,
       "a string ends with its line");
    OK(lexer_test_next_is(TOKEN_IDENTIFIER, "e") && lexer_test_next_is(TOKEN_END, "") &&
           diagnostic_error_count() == 4,
       "an unterminated comment");
    OK(lexer.in_comment, "is remembered");
    lexer_test_begin("\"a");
    lexer.quiet = true;
    OK(lexer_next(&lexer).broken && !diagnostic_error_count(), "a quiet lexer reports nothing");
}

int main(void)
{
    lexer_test_kinds();
    lexer_test_comments();
    lexer_test_errors();
    bump_free_all();
    return tap_end();
}
