/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - skuac: translates interface files to C.
 *
 * Exit codes: 0 success, 1 errors in the input, 2 wrong usage, or a file that cannot be read or
 * written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/checker.h"
#include "cmdline.h"
#include "deps.h"
#include "emit/emit.h"
#include "imports.h"
#include "print/ast_dump.h"
#include "print/format.h"
#include "support/bump.h"
#include "support/diagnostic.h"
#include "support/file_replace.h"
#include "support/source.h"
#include "syntax/parse_file.h"

static int skuac_failed(const char *path)
{
    fprintf(stderr, "skuac: %s: %s\n", path, strerror(errno));
    return 2;
}

static int skuac_format(const struct cmdline *options, const char *path,
                        const struct ast_tree *tree)
{
    struct file_replace rewrite;

    if (diagnostic_error_count())
        return 1;
    if (!options->in_place) {
        format_print(stdout, tree);
        return 0;
    }
    rewrite = file_replace_begin(path);
    if (!rewrite.to)
        return skuac_failed(path);
    format_print(rewrite.to, tree);
    return file_replace_commit(&rewrite) ? 0 : skuac_failed(path);
}

/* A file of nothing is most likely the wrong one, or one that was not written to its end. */
static void skuac_warn_nothing(struct source *source)
{
    diagnostic_warning_at(source_locate(source, source->text.at), 1,
                          "the file has no module: the files that are generated declare nothing");
    diagnostic_hint("write `module NAME { ... }' with the declarations of the program");
}

static int skuac_translate(const struct cmdline *options, struct source *source)
{
    struct ast_tree *tree = parse_file(source);
    struct import   *imports;

    if (options->task == TASK_FORMAT)
        return skuac_format(options, source->path, tree);
    imports = imports_load(tree, options->folders);
    if (options->task == TASK_TREE)
        ast_dump(stdout, tree);
    if (options->task == TASK_DEPS && !diagnostic_error_count())
        deps_print(stdout, source->path, options->directory, imports);
    if (options->task != TASK_TRANSLATE)
        return diagnostic_error_count() != 0;
    if (diagnostic_error_count() || !check_tree(tree))
        return 1;
    if (!tree->modules)
        skuac_warn_nothing(source);
    return emit_save(tree, options->directory) ? 0 : 2;
}

static int skuac_run(const struct cmdline *options, const char *path)
{
    struct source *source = source_read(path);

    if (!source)
        return skuac_failed(path);
    diagnostic_begin(stderr);
    return skuac_translate(options, source);
}

/* Returns whether each file generates files of its own, which have its base name. */
static bool skuac_files_differ(const struct cmdline *options)
{
    for (char **a = options->files; *a; a++)
        for (char **b = options->files; b != a; b++) {
            const char *name = source_base_name(*a);

            if (strcmp(*a, *b) == 0 || strcmp(name, source_base_name(*b)) != 0)
                continue;
            fprintf(stderr,
                    "skuac: %s and %s generate the same files, %s.h and %s.c; translate them to "
                    "different directories (--help)\n",
                    *b, *a, name, name);
            return false;
        }
    return true;
}

/* Runs in exit(), where the C library would write the last output and drop an error. */
static void skuac_check_stdout(void)
{
    bool failed = ferror(stdout);

    errno = 0; /* that of an earlier error is not known any more */
    if (fflush(stdout) == 0 && !failed)
        return;
    fprintf(stderr, "skuac: cannot write to standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    _exit(2);
}

int main(int argc, char **argv)
{
    struct cmdline options;
    int            worst = 0;

    atexit(skuac_check_stdout);
    options = cmdline_parse(argc, argv);
    if (options.task == TASK_TRANSLATE && !skuac_files_differ(&options))
        return 2;
    for (char **path = options.files; *path; path++) {
        int code = skuac_run(&options, *path);

        worst = code > worst ? code : worst;
    }
    bump_free_all();
    return worst;
}
