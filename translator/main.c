/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - skuac: interface files to C.  Exit codes: 0 fine, 1 errors in the input, 2 wrong
 * usage, or a file that cannot be read or written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "checker.h"
#include "diagnostic.h"
#include "dump.h"
#include "emit.h"
#include "options.h"
#include "parser.h"
#include "source.h"

static int translate(const struct options *options, struct source *source)
{
    struct tree *tree = parse(source);

    if (options->task == TASK_TREE) {
        dump(stdout, tree);
        return error_count() != 0;
    }
    if (error_count() || !check(tree))
        return 1;
    return emit(tree, options->directory) ? 0 : 2;
}

static int run_file(const struct options *options, const char *path)
{
    struct source *source = source_read(path);

    if (!source) {
        fprintf(stderr, "skuac: %s: %s\n", path, strerror(errno));
        return 2;
    }
    diagnostic_begin(stderr);
    return translate(options, source);
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv);
    int            worst   = 0;

    for (char **path = options.files; *path; path++) {
        int code = run_file(&options, *path);

        worst = code > worst ? code : worst;
    }
    arena_free();
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "skuac: the output: %s\n", strerror(errno));
        return 2;
    }
    return worst;
}
