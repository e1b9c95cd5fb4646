/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misbehave.h - the acts of test_misbehave, by subject.
 *
 * The argument of the program names an act.  A file has the acts of one subject.
 */
#ifndef MISBEHAVE_H
#define MISBEHAVE_H

#include <skua/skua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct misbehave_act {
    const char *name;
    void (*last)(void);   /* runs on the last PE */
    void (*others)(void); /* runs on the other PEs, or NULL */
};

struct misbehave_subject {
    const struct misbehave_act *acts;
    size_t                      count;
    void (*begin)(void); /* registers handlers and classes, or NULL */
};

extern const struct misbehave_subject misbehave_calls, misbehave_objects, misbehave_flows,
    misbehave_sections, misbehave_elements, misbehave_channels;

extern skua_handler misbehave_nothing; /* frees its message, and checks that of the act "large" */

#endif
