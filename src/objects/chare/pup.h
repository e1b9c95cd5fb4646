/* SPDX-License-Identifier: Apache-2.0 */
/* pup.h - measuring, packing and unpacking objects by the function of their class. */
#ifndef SKI_PUP_H
#define SKI_PUP_H

#include "objects/chare/class.h"

size_t ski_pup_measure(const struct ski_class *of, void *self);
void   ski_pup_pack(const struct ski_class *of, void *self, void *to, size_t bytes);

/** @p bytes came from elsewhere: ends the job if they are not what the class unpacks. */
void ski_pup_unpack(const struct ski_class *of, void *self, const void *from, size_t bytes);

/** Bytes that there still are to unpack. */
size_t ski_pup_left(const skua_pup *p);

#endif
