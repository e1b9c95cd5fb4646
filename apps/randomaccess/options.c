/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <unistd.h>

#define LOG2_MIN 4
#define LOG2_MAX 44

/* Returns log2 of the largest table that fits into a fraction of the memory of all hosts. */
static int log2_of(double part)
{
    double words = part * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) *
                   skua_hosts() / sizeof(uint64_t);
    int log2 = LOG2_MIN;

    while (log2 < LOG2_MAX && (double)(UINT64_C(2) << log2) <= words)
        log2++;
    return log2;
}

bool options_read(struct randomaccess_options *options, int argc, char **argv)
{
    int64_t               log2      = 24;
    double                memory    = 0;
    bool                  no_verify = false;
    const struct argument list[]    = {
           {"log2", ARGUMENT_NUMBER, &log2, LOG2_MIN, LOG2_MAX, "M",
            "the table has 2^M words (default: 24)"},
           {"memory", ARGUMENT_REAL, &memory, 0, 1, "FRACTION",
            "use the largest table that fits into this fraction of the\nmemory of all hosts, such as "
               "0.5"},
           {"no-verify", ARGUMENT_FLAG, &no_verify, 0, 0, NULL,
            "do not repeat the updates and check the table"},
           ARGUMENT_SERIES(options->series),
           {0},
    };
    const struct arguments arguments = {
        "randomaccess",
        "The RandomAccess benchmark of HPC Challenge: 4 * 2^M random updates of a table of 2^M\n"
        "words of 64 bits that is distributed over all PEs.",
        list};

    if (!arguments_read(&arguments, argc, argv))
        return false;
    options->log2   = memory > 0 ? log2_of(memory) : (int)log2;
    options->verify = !no_verify;
    return true;
}
