/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.h - packing and unpacking an object by the function of its class.
 *
 * One function of a class (`pup`) measures, packs and unpacks its objects, by what it is called
 * for.
 */
#ifndef SKI_PUP_H
#define SKI_PUP_H

#include "objects/model/class.h"

/** Bytes that the object @p self packs into. */
size_t ski_pup_measure(const struct ski_class *of, void *self);

/** Pack the object @p self into @p bytes at @p to, as many as it measures; ends the job if its
 * class packs fewer or more. */
void ski_pup_pack(const struct ski_class *of, void *self, void *to, size_t bytes);

/** Unpack the object @p self from @p bytes that came from another PE; ends the job if its class
 *  unpacks fewer or more. */
void ski_pup_unpack(const struct ski_class *of, void *self, const void *from, size_t bytes);

/** Bytes that are left to unpack. */
size_t ski_pup_left(const skua_pup *p);

#endif
