/* SPDX-License-Identifier: Apache-2.0 */
/* writer_test.c - text is flattened, broken into lines and numbered for the compiler. */
#include "emit/writer.h"

#include "support/bump.h"
#include "tests/tap.h"

static bool writer_test_is(struct writer *writer, const char *text)
{
    bool same = text_is((struct text){writer->at, writer->length}, text);

    if (!same)
        printf("# got: %.*s\n", (int)writer->length, writer->at);
    writer_free(writer);
    return same;
}

static bool writer_test_flat(const char *text, const char *flat)
{
    struct writer writer = {NULL, 0, 0};

    writer_put_flat(&writer, text_of(text));
    return writer_test_is(&writer, flat);
}

static struct writer writer_test_finished(struct writer *writer)
{
    struct writer finished = writer_finish(writer, "a.ci.c");

    writer_free(writer);
    return finished;
}

static void writer_test_lines(void)
{
    const char         text[] = "x\n  y;\n";
    struct source     *source = source_from_memory("a.ci", text, strlen(text));
    struct source_code code   = {{text + 2, 4}, source_locate(source, text + 2)};
    struct writer      writer = {NULL, 0, 0}, finished;

    writer_put(&writer, "first\n");
    writer_put_code(&writer, code);
    writer_put(&writer, "last\n");
    finished = writer_test_finished(&writer);
    OK(writer_test_is(&finished, "first\n#line 2 \"a.ci\"\n  y;\n#line 5 \"a.ci.c\"\nlast\n"),
       "user code has the line of its source, what follows that of the generated file");
}

static void writer_test_breaks(void)
{
    struct writer writer = {NULL, 0, 0}, finished;
    char          long_name[90];

    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    writer_put(&writer, "    f(%s, another_argument);\n", long_name);
    finished = writer_test_finished(&writer);
    OK(writer_test_is(&finished, bump_printf("    f(%s,\n        another_argument);\n", long_name)),
       "a long line is broken after a comma");
    writer_put(&writer, "\"%s, another_argument\";\n", long_name);
    finished = writer_test_finished(&writer);
    OK(writer_test_is(&finished, bump_printf("\"%s, another_argument\";\n", long_name)),
       "but not in a string");
    writer_put(&writer, "#define f(%s, another_argument)\n", long_name);
    finished = writer_test_finished(&writer);
    OK(writer_test_is(&finished, bump_printf("#define f(%s, another_argument)\n", long_name)),
       "and not in a directive");
}

int main(void)
{
    struct writer one = {NULL, 0, 0}, two = {NULL, 0, 0};

    OK(writer_test_flat(" const  int\n\t*", "const int *"), "white space becomes a single blank");
    OK(writer_test_flat("a/* b */c // d\n", "a c"), "and so do comments");
    OK(writer_test_flat("\"a  /* b\" 'c'", "\"a  /* b\" 'c'"), "but nothing in strings");
    writer_put(&one, "%s-%d", "a", 1);
    writer_put(&two, "b");
    writer_append(&two, &one);
    OK(writer_test_is(&one, "a-1") && writer_test_is(&two, "ba-1"), "texts are appended");
    for (int i = 0; i < 1000; i++)
        writer_put(&one, "%d,", i % 10);
    OK(one.length == 2000 && one.at[1998] == '9', "a text grows");
    writer_free(&one);
    writer_put_comment(&one, text_of("/* a\n     * b */"), 2);
    OK(writer_test_is(&one, "  /* a\n   * b */\n"), "a comment is reindented");
    writer_test_lines();
    writer_test_breaks();
    bump_free_all();
    return tap_end();
}
