/* SPDX-License-Identifier: Apache-2.0 */
/* source_test.c - locations and lines of a source; the bump allocator. */
#include "support/source.h"

#include <errno.h>
#include <string.h>

#include "support/bump.h"
#include "support/text.h"
#include "tests/tap.h"

/* Compares the location of every byte with a straightforward count. */
static bool source_test_all_locations(const struct source *source)
{
    unsigned line = 1, column = 1;

    for (size_t i = 0; i <= source->text.length; i++) {
        struct source_location location = source_locate(source, source->text.at + i);

        if (location.line != line || location.column != column || location.source != source)
            return false;
        column = source->text.at[i] == '\n' ? 1 : column + 1;
        line += source->text.at[i] == '\n';
    }
    return true;
}

int main(void)
{
    static const char *const texts[] = {"",          "\n", "a", "a\n", "a\nb", "\n\n\nabc\n\n",
                                        "a\r\nb\r\n"};
    struct source           *source;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        source = source_from_memory("a.ci", texts[i], strlen(texts[i]));
        OK(source_test_all_locations(source), "locations in text %zu", i);
    }
    OK(source->lines == 3 && text_is(source_line(source, 2), "b"),
       "lines exclude their terminators");
    OK(text_is(source_line(source, 3), ""), "the last is empty");
    OK(!source_read("no/such/file") && errno == ENOENT, "a file that does not exist");
    OK(!source_read(".") && errno == EISDIR, "a folder");
    source = source_read(__FILE__);
    OK(!source || (source->lines > 40 && source_test_all_locations(source)), "a file");
    OK(!strcmp(bump_printf("%d%s", 1, "a"), "1a"), "strings of the arena");
    for (int i = 0; i < 1000; i++)
        memset(bump_alloc((size_t)i * 97), 1, (size_t)i * 97);
    OK(!*(char *)bump_alloc(1), "memory of the arena is zeroed");
    bump_free_all();
    bump_free_all();
    return tap_end();
}
