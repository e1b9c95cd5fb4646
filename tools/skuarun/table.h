/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - what the processes tell each other (boot.h, the control connection):
 * values under (process, key), and who waits for those that are not there yet.
 *
 * The launcher keeps all of them, and an agent those that its processes have put or
 * asked for, so that the launcher is asked once by each host.
 */
#ifndef SKUARUN_TABLE_H
#define SKUARUN_TABLE_H

#include "boot/boot.h"

#define TABLE_KEYS 64 /* that a process may have, on average */

struct table;

/** Tell @p asker: @p head is a SKI_CONTROL_VALUE. */
typedef void table_answer(void *arg, int asker, const struct ski_control *head, const char *value);

/** A table for @p most keys, of all processes together. */
struct table *table_create(size_t most, table_answer *answer, void *arg);
void          table_destroy(struct table *table);

/** Keep a value and answer who waits for it.  False: there is one, or no room. */
bool table_put(struct table *table, const struct ski_control *head, const char *value);

enum table_found {
    TABLE_NO_ROOM,
    TABLE_ANSWERED,
    TABLE_FIRST, /* to wait for it  */
    TABLE_WAITS, /* as others do    */
};

/** Answer @p asker, now or when the value is put. */
enum table_found table_get(struct table *table, const struct ski_control *head, int asker);

#endif
