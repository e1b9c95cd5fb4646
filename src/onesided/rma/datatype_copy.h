/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype_copy.h - copies between the two sides of a transfer when this process reaches both.
 */
#ifndef SKI_DATATYPE_COPY_H
#define SKI_DATATYPE_COPY_H

#include "onesided/rma/datatype.h"

/** Copies the local data to @p remote. */
void ski_datatype_put(const struct ski_datatype *datatype, char *remote);

/** Copies the data at @p remote into the local memory. */
void ski_datatype_get(const struct ski_datatype *datatype, char *remote);

/** Copies the local data of an indexed or list datatype that has not been checked to @p offset in a
 *  piece of @p room bytes.  Each block is checked just before it is copied.  Returns false at a
 *  block that is outside of the piece, or whose sizes on the two sides differ; the blocks before
 *  it have been copied. */
bool ski_datatype_list_put(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room);

/** Copies from @p offset in a piece of @p room bytes to the local side of an indexed or list
 *  datatype that has not been checked.  Checks and returns as ski_datatype_list_put(). */
bool ski_datatype_list_get(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room);

#endif
