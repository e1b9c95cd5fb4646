/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.c - any bytes as an interface file: the translator reports errors or writes C.
 *
 * Built with clang and -DSKUA_FUZZ=ON it is a libFuzzer program: skuac-fuzz CORPUS-FOLDER.
 * Else replay.c calls it for each file that is named.  An input goes through everything that
 * skuac does but for files: it is parsed and checked with all diagnostics rendered, laid out and
 * understood again, and translated.  What follows a byte 0x1e is a second file, whose modules
 * the first can use as if it had named them.
 *
 * What must hold of any input: diagnostics contain nothing that a terminal would obey; laying a
 * file out changes nothing that is said, and laying it out again changes nothing at all; a
 * translation is not empty, and the next one of the same tree does not differ from it.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bump.h"
#include "check/checker.h"
#include "support/diagnostic.h"
#include "print/ast_dump.h"
#include "emit/emit.h"
#include "print/format.h"
#include "fuzz.h"
#include "imports.h"
#include "syntax/parse_file.h"
#include "support/source.h"

#define SEPARATOR 0x1e

/* What is written to a stream in memory. */
struct fuzz_text {
    FILE  *stream;
    char  *at;
    size_t length;
};

static void fuzz_text_begin(struct fuzz_text *text)
{
    text->stream = open_memstream(&text->at, &text->length);
    assert(text->stream);
}

static void fuzz_text_end(struct fuzz_text *text)
{
    fclose(text->stream);
}

/* ---- laying out ---------------------------------------------------------------------------- */

/* What --tree prints, without places: those are ` @LINE:COLUMN' at the end of a line. */
static char *fuzz_tree_text(const struct ast_tree *tree)
{
    struct fuzz_text text;
    char            *to;

    fuzz_text_begin(&text);
    ast_dump(text.stream, tree);
    fuzz_text_end(&text);
    to = text.at;
    for (char *line = text.at, *end; *line; line = end + 1) {
        char *at;

        end = strchr(line, '\n');
        for (at = end; at > line && strchr("0123456789:", at[-1]);)
            at--;
        at = at > line + 1 && at[-1] == '@' && at[-2] == ' ' ? at - 2 : end;
        memmove(to, line, (size_t)(at - line));
        to += at - line;
        *to++ = '\n';
    }
    *to = 0;
    return text.at;
}

static struct ast_tree *fuzz_reformat(const struct ast_tree *tree, char **text)
{
    struct fuzz_text formatted;

    fuzz_text_begin(&formatted);
    format_print(formatted.stream, tree);
    fuzz_text_end(&formatted);
    *text = formatted.at;
    return parse_file(source_from_memory("fuzz.ci", formatted.at, formatted.length));
}

/* Twice: the second time nothing may change. */
static void fuzz_try_format(const struct ast_tree *tree)
{
    char            *once, *twice, *before = fuzz_tree_text(tree), *after;
    struct ast_tree *again = fuzz_reformat(tree, &once);

    if (diagnostic_error_count())
        fprintf(stderr, "laying it out broke it:\n%s", once);
    assert(!diagnostic_error_count());
    after = fuzz_tree_text(again);
    fuzz_reformat(again, &twice);
    if (strcmp(before, after) || strcmp(once, twice))
        fprintf(stderr, "before:\n%safter:\n%sonce:\n%stwice:\n%s", before, after, once, twice);
    assert(!strcmp(before, after));
    assert(!strcmp(once, twice));
    free(before);
    free(after);
    free(once);
    free(twice);
}

/* ---- translating --------------------------------------------------------------------------- */

static void fuzz_expect_equal(struct writer *once, struct writer *again)
{
    assert(once->length > 0 && once->length == again->length);
    assert(!memcmp(once->at, again->at, once->length));
    writer_free(once);
    writer_free(again);
}

static void fuzz_try_emit(const struct ast_tree *tree)
{
    struct writer header, source, header_again, source_again;

    emit_to_memory(tree, &header, &source);
    emit_to_memory(tree, &header_again, &source_again);
    fuzz_expect_equal(&header, &header_again);
    fuzz_expect_equal(&source, &source_again);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Tabs and ends of lines are the only control characters. */
static void fuzz_check_rendered(const struct fuzz_text *text)
{
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->at[i];

        assert(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f));
    }
    assert(text->length == 0 || text->at[text->length - 1] == '\n');
}

/* The first file, and the modules of a second one if there is one. */
static struct ast_tree *fuzz_parse_input(const char *text, size_t length)
{
    const char      *cut  = memchr(text, SEPARATOR, length);
    size_t           own  = cut ? (size_t)(cut - text) : length;
    struct ast_tree *tree = parse_file(source_from_memory("fuzz.ci", text, own));

    if (!diagnostic_error_count())
        fuzz_try_format(tree);
    if (cut)
        imports_add(tree, parse_file(source_from_memory("other.ci", cut + 1, length - own - 1)));
    return tree;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char            *text = malloc(length + 1);
    struct fuzz_text rendered;
    struct ast_tree *tree;

    assert(text);
    if (length)
        memcpy(text, bytes, length);
    text[length] = 0;
    fuzz_text_begin(&rendered);
    diagnostic_begin(rendered.stream);
    tree = fuzz_parse_input(text, length);
    if (!diagnostic_error_count() && check_tree(tree))
        fuzz_try_emit(tree);
    diagnostic_begin(NULL);
    fuzz_text_end(&rendered);
    fuzz_check_rendered(&rendered);
    free(rendered.at);
    bump_free_all();
    free(text);
    return 0;
}
