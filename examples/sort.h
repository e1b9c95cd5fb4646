/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h - the functions of sort.c that sort.ci calls. */
#ifndef SORT_H
#define SORT_H

#include <stdbool.h>
#include <stdint.h>

bool read_options(int argc, char **argv);
void first_guesses(Main *m);
bool better_guesses(Main *m, const int64_t *counts);
void report(const Main *m, int n, const share *shares);

void make_keys(Sorter *s);
void send_parts(Sorter *s, int n, const uint64_t *splitters);
void receive_part(Sorter *s, int count, const uint64_t *keys);
void contribute_share(Sorter *s);

#endif
