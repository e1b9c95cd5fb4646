/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - writing programs for this test: a class with structured entries, and its names.
 *
 * What is written goes to the body of the entry that is begun; entries may be begun within each
 * other, and are written one after the other.  Only triggers that some `when` has named are
 * declared and fed.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How triggers differ in what they take (model.h). */
enum shape {
    SHAPE_TWO,
    SHAPE_ARRAY,
    SHAPE_SMALL,
    SHAPE_MESSAGE,
    SHAPE_NONE,
    SHAPE_PAIR,
    SHAPE_TEXT
};
#define SHAPES 7

#define NAMES 64

/* An entry that is being written. */
struct body {
    struct body *outer;
    FILE        *to;
    char        *text;
    size_t       bytes;
    char         name[NAMES][24]; /* expressions that may be read, the youngest last */
    unsigned     names;
    int          indent;
};

struct program {
    const char  *name, *message; /* of the class; of the message of the file              */
    uint64_t     random;
    bool         inlined; /* all entries are: then the program may send to itself  */
    struct body *body;
    FILE        *to; /* entries that are done */
    char        *text;
    size_t       bytes;
    unsigned     triggers; /* a, b, c, ... */
    enum shape   trigger[26];
    bool         used[26];
    unsigned     variables, notes; /* so far */
};

/** A number from 0 to below @p n. */
unsigned draw(struct program *p, unsigned n);

void program_begin(struct program *p);

/** Writes the class, to be sent @p feed: "run 1 2, a 0 5"; gives everything back. */
void program_end(struct program *p, FILE *to, const char *feed);

/** An entry with two numbers: parameters d and w with a number behind each. */
void entry_begin(struct program *p, const char *name);
void entry_end(struct program *p);

/** A line of the body; one with a brace at its end, or at its beginning, moves the indentation. */
void line(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A name that the program has not had; what may be read from now on.  The scope ends where
 *  `names` of the body is set back. */
unsigned new_variable(struct program *p);
void     readable(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A serial that notes what is in scope, at most 7 of it, the youngest. */
void put_note(struct program *p);

/** `a[reference](int k3, int v3)`; @p reference NULL: any. */
const char *trigger_text(struct program *p, unsigned trigger, const char *reference);

/** Whether it can be waited for by a reference. */
bool has_reference(const struct program *p, unsigned trigger);

/** What stands before the classes of a file, and behind them. */
void file_begin(FILE *to, const char *module, const char *message);
void file_end(FILE *to);

#endif
