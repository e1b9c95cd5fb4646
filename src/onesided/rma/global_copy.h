/* SPDX-License-Identifier: Apache-2.0 */
/*
 * global_copy.h - copies between two global addresses (skua_copy()).
 *
 * If the process of the caller reaches the source by load and store, the copy is a put.  Else a
 * request makes the PE that has the source put it to the destination, so the data cross the network
 * once.  That put is an operation of its own there, and carries the signal, whose source is the
 * caller; its end, or that it was refused, is reported to the caller by the reply of an active
 * message (am_reply.h).  The caller counts the copy as an operation on the destination.
 *
 * Copies are not ordered with other operations: one that goes through another PE could keep an
 * order only by waiting: two PEs that serve copies for each other would wait for each other.
 */
#ifndef SKI_GLOBAL_COPY_H
#define SKI_GLOBAL_COPY_H

/** The fewest bytes of a request to copy. */
#define SKI_COPY_MIN 80

#endif
