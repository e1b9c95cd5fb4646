/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - command lines of applications.  Each option is declared once; --help and the checks
 * follow from that.  `--name value` and `--name=value` are equivalent.
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum argument_kind {
    ARGUMENT_FLAG,   /* --name              bool                                     */
    ARGUMENT_NUMBER, /* --name=12           int64_t, within bounds                   */
    ARGUMENT_SIZES,  /* --name=64,64,32     three int64_t, within bounds             */
    ARGUMENT_REAL,   /* --name=0.5          double, within bounds                    */
    ARGUMENT_LIST,   /* --name=8,64,512     struct argument_list, each within bounds */
    ARGUMENT_WORD,   /* --name=word         char[ARGUMENT_WORD_BYTES]                */
    ARGUMENT_TEXT    /* --name=text         const char *, into argv                  */
};

#define ARGUMENT_WORD_BYTES 32
#define ARGUMENT_LIST_MAX   32

struct argument_list {
    int64_t at[ARGUMENT_LIST_MAX];
    int     count;
};

struct argument {
    const char        *name;
    enum argument_kind kind;
    void              *to;
    int64_t            least, most;
    const char        *value, *help; /* "K", "blocks per PE"; \n separates lines */
};

/** Options that most applications have: --series=NAME, into char[ARGUMENT_WORD_BYTES], and
 *  --repeat=R, into an int64_t. */
#define ARGUMENT_SERIES(to)                                                                        \
    {                                                                                              \
        "series", ARGUMENT_WORD, (to), 0, 0, "NAME", "also print results as lines of JSON"         \
    }
#define ARGUMENT_REPEAT(to, what)                                                                  \
    {                                                                                              \
        "repeat", ARGUMENT_NUMBER, (to), 1, 1000000, "R", what                                     \
    }

struct arguments {
    const char            *program, *summary;
    const struct argument *argument; /* the last one has no name */
};

/** Parses the options. Prints the help or an error, ends the job and returns false if the program
 *  must not run; if all PEs call it, PE 0 alone prints. */
bool arguments_read(const struct arguments *arguments, int argc, char **argv);

/** Prints an error about options that contradict each other and ends the job with status 2. Returns
 *  false; if all PEs call it, PE 0 alone prints. */
__attribute__((format(printf, 2, 3))) bool arguments_refuse(const char *program, const char *format,
                                                            ...);

/** Selects the variants, of @p count, that are set in @p only, or all of them if none is set. */
void arguments_select(bool *selected, const bool *only, int count);

#endif
