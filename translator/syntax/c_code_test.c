/* SPDX-License-Identifier: Apache-2.0 */
/* c_code_test.c - embedded C ends where it should, and unbalanced brackets are reported. */
#include "syntax/c_code.h"

#include "support/bump.h"
#include "support/diagnostic.h"
#include "tests/tap.h"

static struct ast_tree tree;

static struct parser c_code_test_parser(const char *text)
{
    struct source *source = source_from_memory("a.ci", text, strlen(text));

    diagnostic_begin(NULL);
    return (struct parser){.source     = source,
                           .tree       = &tree,
                           .lexer      = lexer_start(source),
                           .last_end   = text,
                           .code_spans = &tree.code_spans};
}

/* Returns whether the expression at the beginning of @p text is @p code, followed by @p next. */
static bool c_code_test_expression(const char *text, unsigned stops, const char *code, char next)
{
    struct parser      parser = c_code_test_parser(text);
    struct source_code found;
    bool               valid = c_code_expression(&parser, stops, &found);

    return valid && !diagnostic_error_count() && text_is(found.text, code) &&
           parser_at_punctuator(&parser, next);
}

static void c_code_test_expressions(void)
{
    OK(c_code_test_expression("a, b", C_CODE_STOP_COMMA, "a", ','), "a comma ends an expression");
    OK(c_code_test_expression("f(a, b)[c, d], e", C_CODE_STOP_COMMA, "f(a, b)[c, d]", ','),
       "but not inside brackets");
    OK(c_code_test_expression("a, b)", 0, "a, b", ')'), "nor where it may not");
    OK(c_code_test_expression(" /* x */ a + 1 /* y */ ]", 0, "a + 1", ']'),
       "surrounding comments are excluded");
    OK(c_code_test_expression("a ? b : c : d", C_CODE_STOP_COLON, "a ? b : c", ':'),
       "a conditional operator has a colon of its own");
    OK(c_code_test_expression("\")\" ')' )", 0, "\")\" ')'", ')'), "quoted brackets do not count");
    OK(c_code_test_expression("1'000 + f('(') )", 0, "1'000 + f('(')", ')'),
       "nor do those in quotes after a number with separators");
    OK(c_code_test_expression("R\"x() \" )y\")x\" + 1 )", 0, "R\"x() \" )y\")x\" + 1", ')'),
       "a raw string ends with its delimiter");
    OK(c_code_test_expression("(int){1; }; b", C_CODE_STOP_SEMICOLON, "(int){1; }", ';'),
       "semicolons in braces do not count");
}

static void c_code_test_blocks(void)
{
    const char        *text   = "{ if (a) { b('}'); } /* } */ } c";
    struct parser      parser = c_code_test_parser(text);
    struct source_code code;

    parser_next(&parser);
    OK(c_code_block(&parser, &code) && text_is(code.text, " if (a) { b('}'); } /* } */ "),
       "a block ends with its brace");
    OK(parser_at_keyword(&parser, "c") && !diagnostic_error_count(), "which is taken");
    parser = c_code_test_parser("{ a");
    parser_next(&parser);
    OK(!c_code_block(&parser, &code) && diagnostic_error_count() == 1 && parser_at_end(&parser),
       "a block that is not closed is one error");
}

static void c_code_test_errors(void)
{
    struct parser      parser = c_code_test_parser("f(a; b");
    struct source_code code;

    OK(!c_code_expression(&parser, C_CODE_STOP_SEMICOLON, &code) && diagnostic_error_count() == 1 &&
           parser_at_punctuator(&parser, ';'),
       "a semicolon ends an expression with an open bracket");
    parser = c_code_test_parser("a\nwhen b");
    OK(c_code_expression(&parser, C_CODE_STOP_SEMICOLON, &code) && text_is(code.text, "a") &&
           parser_at_keyword(&parser, "when"),
       "a statement on the next line ends an expression without a semicolon");
    parser = c_code_test_parser("(a { b ] ) c");
    parser_next(&parser);
    c_code_skip_brackets(&parser);
    OK(parser_at_keyword(&parser, "c") && !diagnostic_error_count(),
       "skipping to the closing bracket reports nothing");
}

int main(void)
{
    c_code_test_expressions();
    c_code_test_blocks();
    c_code_test_errors();
    bump_free_all();
    return tap_end();
}
