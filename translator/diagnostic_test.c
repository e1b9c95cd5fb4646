/* SPDX-License-Identifier: Apache-2.0 */
/* diagnostic_test.c - see diagnostic.h. */
#include "diagnostic.h"

#include <string.h>

#include "arena.h"
#include "source.h"
#include "tests/tap.h"

static const char *const words[] = {"when", "while", "serial", "overlap", "if", NULL};

static bool means(const char *word, const char *meant)
{
    const char *near = nearest((struct text){word, strlen(word)}, words);

    return near ? meant && !strcmp(near, meant) : !meant;
}

/* What is said about a byte of a text, in memory that stays. */
static const char *said(const char *text, size_t length, size_t at, size_t underlined)
{
    static char    buffer[4096];
    FILE          *memory = fmemopen(buffer, sizeof buffer, "w");
    struct source *source = source_of("a.ci", text, length);

    memset(buffer, 0, sizeof buffer);
    diagnostic_begin(memory);
    error_at(source_place(source, text + at), underlined, "wrong: %d", 3);
    hint("do %s", "this");
    fclose(memory);
    diagnostic_begin(NULL);
    return buffer;
}

static void test_lines(void)
{
    static char long_line[10000];

    OK(!strcmp(said("a\nbcd e\n", 8, 2, 3), "a.ci:2:1: error: wrong: 3\n"
                                            "    2 | bcd e\n"
                                            "      | ^~~\n"
                                            "      = do this\n"),
       "a line");
    OK(strstr(said("\ta\tb", 4, 3, 1), "    1 | \ta\tb\n      | \t \t^\n"), "tabs are repeated");
    OK(strstr(said("\xc3\xa4 b", 4, 3, 9), "      |   ^\n"), "a character is one column");
    OK(strstr(said("a\033\xff", 3, 1, 1), "    1 | a??\n      |  ^\n"), "nothing for terminals");
    OK(strstr(said("a", 1, 1, 1), "    1 | a\n      |  ^\n"), "behind the end");
    OK(strstr(said("a\n", 2, 2, 5), "a.ci:2:1: error"), "on the last line");
    memset(long_line, 'x', sizeof long_line);
    OK(strlen(said(long_line, sizeof long_line - 1, 5000, 7000)) < 600, "of a long line a part");
}

static void test_counting(void)
{
    char          *text;
    size_t         length;
    FILE          *memory = open_memstream(&text, &length);
    struct source *source = source_of("a.ci", "a", 1);

    diagnostic_begin(memory);
    for (int i = 0; i < 30; i++) {
        error_at(source_place(source, source->text.at), 1, "number %d", i);
        hint("hint %d", i);
    }
    warning_at(source_place(source, source->text.at), 1, "a warning");
    fclose(memory);
    OK(error_count() == 30, "errors are counted");
    OK(strstr(text, "number 19") && strstr(text, "hint 19"), "20 are shown");
    OK(!strstr(text, "number 20") && !strstr(text, "hint 20"), "the next is not, nor its hint");
    free(text);
    diagnostic_begin(NULL);
    OK(error_count() == 0, "counting begins anew");
}

int main(void)
{
    OK(means("whem", "when") && means("wehn", "when") && means("wen", "when"), "near words");
    OK(means("seral", "serial") && means("sreial", "serial") && means("srial", "serial"),
       "more of them");
    OK(means("when", "when"), "the word itself");
    OK(means("frobnicate", NULL) && means("fi", NULL) && means("", NULL), "words that are not");
    OK(means("overlapoverlapoverlapoverlapoverlapoverlapoverlapoverlapoverlapoverlap", NULL),
       "nor one that is longer than any");
    test_lines();
    test_counting();
    arena_free();
    return tap_end();
}
