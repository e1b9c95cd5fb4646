/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.c - runs the translator on arbitrary bytes: it reports errors or generates C.
 *
 * With clang and -DSKUA_FUZZ=ON this is a libFuzzer program, skuac-fuzz CORPUS-FOLDER; otherwise
 * replay.c calls it for the files on its command line.  An input passes through all of skuac
 * except file access: parser, checker, diagnostics, formatter and emitter.  A byte 0x1e separates
 * a second file whose modules the first one can use as if it imported them.
 *
 * Invariants for any input: diagnostics contain no control characters; formatting does not change
 * the AST and is idempotent; generated files are not empty and do not change when they are
 * generated again.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "check/checker.h"
#include "emit/emit.h"
#include "imports.h"
#include "print/ast_dump.h"
#include "print/format.h"
#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/source.h"
#include "syntax/parse_file.h"

#define SEPARATOR 0x1e

/* A stream in memory. */
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

/* ---- formatting --------------------------------------------------------------------------- */

/* Returns the output of --tree without locations, which end lines as ` @LINE:COLUMN'. */
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

/* Formats twice: the second time must not change anything. */
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

/* ---- code generation ---------------------------------------------------------------------- */

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

/* ---- inputs ------------------------------------------------------------------------------- */

/* Tabs and newlines are the only control characters allowed. */
static void fuzz_check_rendered(const struct fuzz_text *text)
{
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->at[i];

        assert(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f));
    }
    assert(text->length == 0 || text->at[text->length - 1] == '\n');
}

/* Parses the first file, and adds the modules of the second one if there is one. */
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
