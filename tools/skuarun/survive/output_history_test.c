/* SPDX-License-Identifier: Apache-2.0 */
/* output_history_test.c - output that comes again after a rollback is dropped, whatever the pieces
 * in which it arrives; from the first line that differs it is printed. */
#include "survive/output_history.h"

#include <stdio.h>
#include <string.h>

#include "boot/image_slots.h"
#include "tests/tap.h"

#define MARK(n) SKI_OUTPUT_MARK n SKI_OUTPUT_MARK_END

/* Feeds @p text in pieces of @p piece bytes.  Returns whether @p expected is printed, and *@p same
 * says whether nothing differed. */
static bool output_history_test_feed(struct output_history *h, const char *text, size_t piece,
                                     const char *expected, bool *same)
{
    struct buffer to     = {0};
    size_t        length = strlen(text), n;
    bool          equal;

    *same = true;
    for (size_t at = 0; at < length; at += n) {
        n = length - at < piece ? length - at : piece;
        *same &= output_history_filter(h, text + at, n, &to);
    }
    equal = buffer_bytes(&to) == strlen(expected) &&
            memcmp(buffer_bytes(&to) ? buffer_text(&to) : "", expected, buffer_bytes(&to)) == 0;
    buffer_free(&to);
    return equal;
}

static void test_output_repeats(size_t piece)
{
    struct output_history h = {0};
    bool                  same;

    OK(output_history_test_feed(&h, "one\n" MARK("1") "two\n" MARK("2") "three\nfo", piece,
                                "one\ntwo\nthree\nfo", &same) &&
           same,
       "pieces of %zu bytes: marks are taken out", piece);
    OK(output_history_rewind(&h, 2, 2) == 0, "back to 2");
    OK(output_history_test_feed(&h, "three\nfour\n", piece, "four\n", &same) && same,
       "what was printed is dropped");
    OK(output_history_rewind(&h, 2, 0) == 0 &&
           output_history_test_feed(&h, "thr", piece, "", &same),
       "it dies while it repeats");
    OK(output_history_rewind(&h, 1, 0) == 0 &&
           output_history_test_feed(&h, "two\n" MARK("2") "three\nfour\nfive\n" MARK("3"), piece,
                                    "five\n", &same) &&
           same,
       "back to 1");
    OK(output_history_rewind(&h, 2, 0) == 0 &&
           output_history_test_feed(&h, "three\nfoul\nsix\n", piece, "foul\nsix\n", &same) && !same,
       "from the line that differs on all is printed");
    OK(output_history_rewind(&h, 9, 0) == 0 &&
           output_history_test_feed(&h, "six\n", piece, "six\n", &same) && same,
       "a generation that was not marked: its output begins at the end");
    OK(output_history_rewind(&h, 9, 0) == 0 && output_history_test_feed(&h, "", piece, "", &same) &&
           output_history_rewind(&h, 10, 0) == 0 &&
           output_history_test_feed(&h, "six\nseven\n", piece, "seven\n", &same) && same,
       "it dies while it repeats, before it can mark a generation: what was printed is dropped");
    OK(output_history_rewind(&h, 1, 0) == 0 &&
           output_history_test_feed(&h, "two\n", piece, "two\n", &same) && same,
       "as with an unknown one");
    output_history_free(&h);
}

static void test_output_corners(void)
{
    struct output_history h = {0};
    bool                  same;

    OK(output_history_test_feed(&h, "ab" MARK("1") "cd", 3, "abcd", &same), "a mark in a line");
    OK(output_history_rewind(&h, 1, 4) == 2, "its beginning has to be printed still");
    OK(output_history_test_feed(&h, "cd\n", 1, "cd\n", &same) && same, "and its end comes again");
    output_history_free(&h);
    OK(output_history_test_feed(&h, "\033[1mbold\033_skua:generation:x\033", 2,
                                "\033[1mbold\033_skua:generation:x", &same),
       "other escape sequences pass");
    OK(output_history_test_feed(&h, "[0m\n", 2, "\033[0m\n", &same), "as soon as they differ");
    OK(output_history_rewind(&h, 0, 0) == 0 &&
           output_history_test_feed(&h, "\033[1mbold\033_skua:generation:x\033[0m\n", 5, "", &same),
       "and repeat from the beginning");
    output_history_free(&h);
}

static void test_output_overflow(void)
{
    static char           line[1 << 16];
    struct output_history h     = {0};
    struct buffer         to    = {0};
    bool                  same  = true;
    size_t                lines = OUTPUT_HISTORY_MAX / sizeof line + 1;

    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (size_t i = 0; i < lines; i++)
        same &= output_history_filter(&h, line, sizeof line, &to);
    OK(same && h.overflowed && buffer_bytes(&to) == lines * sizeof line, "more than is kept");
    buffer_free(&to);
    OK(output_history_test_feed(&h, MARK("1") "a\n", 7, "a\n", &same) && !h.overflowed,
       "the next mark begins a new history");
    OK(output_history_rewind(&h, 1, 0) == 0 &&
           output_history_test_feed(&h, "a\nb\n", 7, "b\n", &same),
       "which repeats");
    output_history_free(&h);
}

int main(void)
{
    for (size_t piece = 1; piece < 40; piece += 3)
        test_output_repeats(piece);
    test_output_corners();
    test_output_overflow();
    return tap_end();
}
