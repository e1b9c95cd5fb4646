/* SPDX-License-Identifier: Apache-2.0 */
/* indent_test.c - comments and C code move as a whole. */
#include "print/indent.h"

#include "tests/tap.h"

static char buffer[1000];

static struct indent_output indent_test_begin(void)
{
    memset(buffer, 0, sizeof buffer);
    return (struct indent_output){.to = fmemopen(buffer, sizeof buffer, "w")};
}

static bool indent_test_block(const char *code, unsigned margin, const char *expected)
{
    struct indent_output out = indent_test_begin();

    indent_put(&out, text_of("{"));
    indent_block(&out, text_of(code), margin);
    fclose(out.to);
    return !strcmp(buffer, expected);
}

static bool indent_test_comment(const char *text, unsigned from, unsigned to, const char *expected)
{
    struct indent_output out = indent_test_begin();

    indent_spaces(&out, to);
    indent_comment(&out, text_of(text), from);
    fclose(out.to);
    return !strcmp(buffer, expected);
}

int main(void)
{
    OK(indent_test_block("\n      a;\n        b;\n", 4, "{\n    a;\n      b;"),
       "the least indented line begins at the margin");
    OK(indent_test_block("\n\n  a;\n\n\n  b;\n\n", 4, "{\n    a;\n\n\n    b;"),
       "empty lines stay only between others");
    OK(indent_test_block("\n\ta;\n        b;\n", 2, "{\n  a;\n  b;"), "a tab is eight columns");
    OK(indent_test_block("\n  a;\n#if x\n  b;\n", 4, "{\n    a;\n#if x\n    b;"),
       "directives stay at the left");
    OK(indent_test_block("\n  s = \"a\\\n   b\";\n", 4, "{\n    s = \"a\\\n   b\";"),
       "a line that begins in a string stays");
    OK(indent_test_comment("/* a\n       * b */", 6, 2, "  /* a\n   * b */"),
       "a comment moves to the left");
    OK(indent_test_comment("/* a\n   b */", 0, 4, "    /* a\n       b */"), "and to the right");
    OK(indent_is_multiline(text_of(" a\n")) && !indent_is_multiline(text_of(" a ")) &&
           !indent_is_multiline(text_of(" \n ")),
       "code with a newline needs lines of its own");
    return tap_end();
}
