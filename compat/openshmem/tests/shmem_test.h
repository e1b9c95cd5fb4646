/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_test.h - the parts of the test of OpenSHMEM. Each runs on every PE, and together they call
 * every routine of shmem.h.
 */
#ifndef SHMEM_TEST_H
#define SHMEM_TEST_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

extern int me, pes, next, prev; /* this PE, the number of PEs, the neighbours in a ring */

/* Ends the job with a line that names the check if a check fails. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "PE %d, %s:%d: this does not hold: %s\n", me, __FILE__, __LINE__,      \
                    #condition);                                                                   \
            shmem_global_exit(1);                                                                  \
        }                                                                                          \
    } while (0)

void test_rma(void);
void test_amo(void);
void test_wait(void);
void test_polling(void);
void test_teams(void);
void test_collectives(void);
void test_memory(void);
void test_locks(void);
void test_threads(void);

#endif
