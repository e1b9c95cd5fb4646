/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.c - any bytes as an interface file: nothing but errors may come of it.
 *
 * Built with clang and -DSKUA_FUZZ=ON it is a libFuzzer program: skuac-fuzz CORPUS-FOLDER.
 * Else replay.c calls it for each file that is named.  A file without errors is laid out as
 * well, and must then be understood as before.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "checker.h"
#include "diagnostic.h"
#include "dump.h"
#include "format.h"
#include "fuzz.h"
#include "parser.h"
#include "source.h"

/* What --tree prints, without places: those are ` @LINE:COLUMN' at the end of a line. */
static char *tree_text(const struct tree *tree)
{
    char  *text, *to;
    size_t length;
    FILE  *memory = open_memstream(&text, &length);

    dump(memory, tree);
    fclose(memory);
    to = text;
    for (char *line = text, *end; *line; line = end + 1) {
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
    return text;
}

static struct tree *laid_out(const struct tree *tree, char **text)
{
    size_t length;
    FILE  *memory = open_memstream(text, &length);

    format(memory, tree);
    fclose(memory);
    return parse(source_of("fuzz.ci", *text, length));
}

/* Twice: the second time nothing may change. */
static void try_format(const struct tree *tree)
{
    char        *once, *twice, *before = tree_text(tree), *after;
    struct tree *again = laid_out(tree, &once);

    if (error_count())
        fprintf(stderr, "laying it out broke it:\n%s", once);
    assert(!error_count());
    after = tree_text(again);
    laid_out(again, &twice);
    if (strcmp(before, after) || strcmp(once, twice))
        fprintf(stderr, "before:\n%safter:\n%sonce:\n%stwice:\n%s", before, after, once, twice);
    assert(!strcmp(before, after));
    assert(!strcmp(once, twice));
    free(before);
    free(after);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char        *text = malloc(length + 1);
    struct tree *tree;

    if (length)
        memcpy(text, bytes, length);
    text[length] = 0;
    diagnostic_begin(NULL);
    tree = parse(source_of("fuzz.ci", text, length));
    if (!error_count()) {
        try_format(tree);
        check(tree);
    }
    arena_free();
    free(text);
    return 0;
}
