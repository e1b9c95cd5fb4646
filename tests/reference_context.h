/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_context.h - the declarations that the examples in comments of the public headers use.
 *
 * tests/reference.sh compiles each example after this header.
 */
#ifndef SKUA_TESTS_REFERENCE_CONTEXT_H
#define SKUA_TESTS_REFERENCE_CONTEXT_H

#include <skua/skua.h>
#include <stdio.h>

extern skua_ref     ref, neighbour;
extern skua_entry   entry, face;
extern skua_handler handler;
extern skua_msg    *msg;
extern skua_layout  inner, ghost;
extern const void  *data;
extern size_t       bytes;
extern int          pe, step, head;
extern double      *x;
extern skua_counter free_again;

enum { ROWS = 8, COLUMNS = 16 };

void use(const void *head, const void *part);

struct block {
    size_t  n;
    double *u;
    char   *name;
};

#endif
