/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - variables of the environment that drivers set for the libraries below are
 * restored when a process leaves its job: the environment belongs to the program.
 */
#ifndef SKI_ENVIRONMENT_H
#define SKI_ENVIRONMENT_H

/* Copies of the variables with some prefixes. */
struct ski_environment {
    const char *const *prefix;   /* as passed */
    char             **variable; /* "NAME=value" each, up to NULL */
};

/** Copies the variables whose names begin with one of @p prefix, which NULL ends. */
void ski_environment_save(struct ski_environment *saved, const char *const *prefix);

/** Restores the former values of the variables with these prefixes, and frees the copies. */
void ski_environment_restore(struct ski_environment *saved);

#endif
