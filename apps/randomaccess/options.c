/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG2_LEAST 4
#define LOG2_MOST  44

static const char help[] =
    "usage: skuarun -n PES randomaccess [options]\n"
    "\n"
    "The RandomAccess benchmark of HPC Challenge: 4 * 2^M updates at random places of a\n"
    "table of 2^M words of 64 bits that all PEs share.\n"
    "\n"
    "  --log2=M          words in the table, as a power of two (default: 24)\n"
    "  --memory=PART     the largest table that fits into this part of the memory of all\n"
    "                    hosts, such as 0.5\n"
    "  --no-verify       do not repeat the updates to see whether they were right\n"
    "  --series=NAME     print the rate as a line of JSON, too\n"
    "  --help            this text\n";

/* Says it and ends the job. */
static bool stop(int code, const char *format, const char *what)
{
    fprintf(code ? stderr : stdout, format, what);
    skua_exit(code);
    return false;
}

static bool read_log2(struct options *options, const char *text)
{
    char *end;
    long  log2 = strtol(text, &end, 10);

    options->log2 = (int)log2;
    return *text && !*end && log2 >= LOG2_LEAST && log2 <= LOG2_MOST;
}

static bool read_memory(struct options *options, const char *text)
{
    char  *end;
    double part  = strtod(text, &end);
    double words = part * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) *
                   skua_hosts() / sizeof(uint64_t);

    options->log2 = LOG2_LEAST;
    while (options->log2 < LOG2_MOST && (double)(UINT64_C(2) << options->log2) <= words)
        options->log2++;
    return *text && !*end && part > 0 && part <= 1;
}

/* The value of "--name=value", or NULL. */
static const char *value(const char *argument, const char *name)
{
    size_t length = strlen(name);

    return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                           : NULL;
}

static bool read_one(struct options *options, const char *argument)
{
    const char *text;

    if ((text = value(argument, "--log2")))
        return read_log2(options, text);
    if ((text = value(argument, "--memory")))
        return read_memory(options, text);
    if ((text = value(argument, "--series")))
        snprintf(options->series, sizeof options->series, "%s", text);
    else if (strcmp(argument, "--no-verify") == 0)
        options->verify = false;
    else
        return false;
    return true;
}

bool options_read(struct options *options, int argc, char **argv)
{
    *options = (struct options){.log2 = 24, .verify = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return stop(0, "%s", help);
        if (!read_one(options, argv[i]))
            return stop(2, "randomaccess: %s: not understood (randomaccess --help)\n", argv[i]);
    }
    return true;
}
