/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - generates the programs of this test: a class with structured entries.
 *
 * Output goes to the body of the current entry.  Entries can be begun inside each other; they are
 * written one after the other.  Only when-entries that some `when` mentions are declared and fed.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The parameters of when-entries (model.h). */
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

/* An entry being generated. */
struct body {
    struct body *outer;
    FILE        *to;
    char        *text;
    size_t       bytes;
    char         name[NAMES][24]; /* readable expressions, youngest last */
    unsigned     names;
    int          indent;
};

struct program {
    const char  *name, *message; /* names of the class and of the message type */
    uint64_t     random;
    bool         inlined; /* all entries are [inline]: the program may send to itself */
    struct body *body;
    FILE        *to; /* completed entries */
    char        *text;
    size_t       bytes;
    unsigned     when_entries; /* a, b, c, ... */
    enum shape   when_entry[26];
    bool         used[26];
    unsigned     variables, notes; /* so far */
};

/** Returns a random number from 0 to @p n - 1. */
unsigned draw(struct program *p, unsigned n);

/** Begins a program. */
void program_begin(struct program *p);

/** Writes the class with the feed @p feed, "run 1 2, a 0 5", and frees all memory. */
void program_end(struct program *p, FILE *to, const char *feed);

/** Begins an entry with two integer parameters, d and w followed by a number. */
void entry_begin(struct program *p, const char *name);

/** Ends the current entry. */
void entry_end(struct program *p);

/** Writes a line of the body.  A brace at its end or beginning changes the indentation. */
void line(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Returns the number of a new variable name. */
unsigned new_variable(struct program *p);

/** Adds a readable expression.  Its scope ends when `names` of the body is reset. */
void readable(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Writes a serial that notes the youngest names in scope, at most 7. */
void put_note(struct program *p);

/** Returns `a[reference](int k3, int v3)`; @p reference NULL: any message. */
const char *when_entry_text(struct program *p, unsigned when_entry, const char *reference);

/** Returns true if the when-entry has a reference number. */
bool has_reference(const struct program *p, unsigned when_entry);

/** Writes what precedes the classes of a file. */
void file_begin(FILE *to, const char *module, const char *message);

/** Writes what follows the classes of a file. */
void file_end(FILE *to);

#endif
