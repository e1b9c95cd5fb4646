/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler_table.h - a table with a function for every number of a handler.
 *
 * A number has 16 bits and the table an entry for each, so that no message has to be checked before
 * its function is called.  A program has few handlers; all other entries hold one function.  The
 * table consists of private mappings of one small file: only the pages that are written take
 * memory of the process, not 512 KiB.
 */
#ifndef SKI_HANDLER_TABLE_H
#define SKI_HANDLER_TABLE_H

#include <skua/message.h>

#define SKI_HANDLERS_MAX (UINT16_MAX + 1)

/** Returns a table of SKI_HANDLERS_MAX entries, all of which hold @p fn and may be written. */
skua_handler_fn *ski_handler_table_create(skua_handler_fn fn);

/** Frees a table; NULL: there is none. */
void ski_handler_table_destroy(skua_handler_fn *table);

#endif
