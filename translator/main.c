/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - skuac: interface files to C.  Exit codes: 0 fine, 1 errors in the input, 2 wrong
 * usage, or a file that cannot be read or written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "checker.h"
#include "deps.h"
#include "diagnostic.h"
#include "dump.h"
#include "emit.h"
#include "format.h"
#include "modules.h"
#include "options.h"
#include "parser.h"
#include "rewrite.h"
#include "source.h"

static int failed(const char *path)
{
    fprintf(stderr, "skuac: %s: %s\n", path, strerror(errno));
    return 2;
}

static int format_file(const struct options *options, const char *path, const struct tree *tree)
{
    struct rewrite rewrite;

    if (error_count())
        return 1;
    if (!options->in_place) {
        format(stdout, tree);
        return 0;
    }
    rewrite = rewrite_begin(path);
    if (!rewrite.to)
        return failed(path);
    format(rewrite.to, tree);
    return rewrite_end(&rewrite) ? 0 : failed(path);
}

static int translate(const struct options *options, struct source *source)
{
    struct tree   *tree = parse(source);
    struct needed *needed;

    if (options->task == TASK_FORMAT)
        return format_file(options, source->path, tree);
    needed = modules_load(tree, options->folders);
    if (options->task == TASK_TREE)
        dump(stdout, tree);
    if (options->task == TASK_DEPS && !error_count())
        deps(stdout, source->path, options->directory, needed);
    if (options->task != TASK_TRANSLATE)
        return error_count() != 0;
    if (error_count() || !check(tree))
        return 1;
    return emit(tree, options->directory) ? 0 : 2;
}

static int run_file(const struct options *options, const char *path)
{
    struct source *source = source_read(path);

    if (!source)
        return failed(path);
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
