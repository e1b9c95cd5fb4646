/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <unistd.h>

#define LOG2_LEAST 4
#define LOG2_MOST  44

/* The largest table that fits into a part of the memory of all hosts. */
static int log2_of(double part)
{
    double words = part * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) *
                   skua_hosts() / sizeof(uint64_t);
    int log2 = LOG2_LEAST;

    while (log2 < LOG2_MOST && (double)(UINT64_C(2) << log2) <= words)
        log2++;
    return log2;
}

bool options_read(struct options *options, int argc, char **argv)
{
    int64_t               log2   = 24;
    double                memory = 0;
    bool                  trust  = false;
    const struct argument list[] = {
        {"log2", ARGUMENT_NUMBER, &log2, LOG2_LEAST, LOG2_MOST, "M",
         "words in the table, as a power of two (default: 24)"},
        {"memory", ARGUMENT_REAL, &memory, 0, 1, "PART",
         "the largest table that fits into this part of the memory of all\nhosts, such as 0.5"},
        {"no-verify", ARGUMENT_FLAG, &trust, 0, 0, NULL,
         "do not repeat the updates to see whether they were right"},
        {"series", ARGUMENT_WORD, options->series, 0, 0, "NAME",
         "print the rate as a line of JSON, too"},
        {0},
    };
    const struct arguments arguments = {
        "randomaccess",
        "The RandomAccess benchmark of HPC Challenge: 4 * 2^M updates at random places of a\n"
        "table of 2^M words of 64 bits that all PEs share.",
        list};

    if (!arguments_read(&arguments, argc, argv))
        return false;
    options->log2   = memory > 0 ? log2_of(memory) : (int)log2;
    options->verify = !trust;
    return true;
}
