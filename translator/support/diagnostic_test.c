/* SPDX-License-Identifier: Apache-2.0 */
/* diagnostic_test.c - rendering and counting of diagnostics; suggestions. */
#include "support/diagnostic.h"

#include <string.h>

#include "support/bump.h"
#include "support/source.h"
#include "tests/tap.h"

static const char *const words[] = {"when", "while", "serial", "overlap", "if", NULL};

static bool diagnostic_test_nearest_is(const char *word, const char *meant)
{
    const char *near = diagnostic_nearest((struct text){word, strlen(word)}, words);

    return near ? meant && !strcmp(near, meant) : !meant;
}

/* Returns the rendered diagnostic about a byte of @p text, valid until the next call. */
static const char *diagnostic_test_render(const char *text, size_t length, size_t at,
                                          size_t underlined)
{
    static char    buffer[4096];
    FILE          *memory = fmemopen(buffer, sizeof buffer, "w");
    struct source *source = source_from_memory("a.ci", text, length);

    memset(buffer, 0, sizeof buffer);
    diagnostic_begin(memory);
    diagnostic_error_at(source_locate(source, text + at), underlined, "wrong: %d", 3);
    diagnostic_hint("do %s", "this");
    fclose(memory);
    diagnostic_begin(NULL);
    return buffer;
}

static void diagnostic_test_lines(void)
{
    static char long_line[10000];

    OK(!strcmp(diagnostic_test_render("a\nbcd e\n", 8, 2, 3), "a.ci:2:1: error: wrong: 3\n"
                                                              "    2 | bcd e\n"
                                                              "      | ^~~\n"
                                                              "      = do this\n"),
       "a line");
    OK(strstr(diagnostic_test_render("\ta\tb", 4, 3, 1), "    1 | \ta\tb\n      | \t \t^\n"),
       "tabs are repeated");
    OK(strstr(diagnostic_test_render("\xc3\xa4 b", 4, 3, 9), "      |   ^\n"),
       "a character is one column");
    OK(strstr(diagnostic_test_render("a\033\xff", 3, 1, 1), "    1 | a??\n      |  ^\n"),
       "nothing for terminals");
    OK(strstr(diagnostic_test_render("a", 1, 1, 1), "    1 | a\n      |  ^\n"), "behind the end");
    OK(strstr(diagnostic_test_render("a\n", 2, 2, 5), "a.ci:2:1: error"), "on the last line");
    memset(long_line, 'x', sizeof long_line);
    OK(strlen(diagnostic_test_render(long_line, sizeof long_line - 1, 5000, 7000)) < 600,
       "of a long line a part");
}

static void diagnostic_test_counting(void)
{
    char          *text;
    size_t         length;
    FILE          *memory = open_memstream(&text, &length);
    struct source *source = source_from_memory("a.ci", "a", 1);

    diagnostic_begin(memory);
    for (int i = 0; i < 30; i++) {
        diagnostic_error_at(source_locate(source, source->text.at), 1, "number %d", i);
        diagnostic_hint("hint %d", i);
    }
    diagnostic_warning_at(source_locate(source, source->text.at), 1, "a warning");
    fclose(memory);
    OK(diagnostic_error_count() == 30, "errors are counted");
    OK(strstr(text, "number 19") && strstr(text, "hint 19"), "20 are shown");
    OK(!strstr(text, "number 20") && !strstr(text, "hint 20"), "the next is not, nor its hint");
    free(text);
    diagnostic_begin(NULL);
    OK(diagnostic_error_count() == 0, "counting begins anew");
}

int main(void)
{
    OK(diagnostic_test_nearest_is("whem", "when") && diagnostic_test_nearest_is("wehn", "when") &&
           diagnostic_test_nearest_is("wen", "when"),
       "near words");
    OK(diagnostic_test_nearest_is("seral", "serial") &&
           diagnostic_test_nearest_is("sreial", "serial") &&
           diagnostic_test_nearest_is("srial", "serial"),
       "more of them");
    OK(diagnostic_test_nearest_is("when", "when"), "the word itself");
    OK(diagnostic_test_nearest_is("frobnicate", NULL) && diagnostic_test_nearest_is("fi", NULL) &&
           diagnostic_test_nearest_is("", NULL),
       "words that are not close get no suggestion");
    OK(diagnostic_test_nearest_is(
           "overlapoverlapoverlapoverlapoverlapoverlapoverlapoverlapoverlapoverlap", NULL),
       "nor does a word that is longer than all names");
    diagnostic_test_lines();
    diagnostic_test_counting();
    bump_free_all();
    return tap_end();
}
