/* SPDX-License-Identifier: Apache-2.0 */
/*
 * global_copy.h - copies between two global addresses (skua_copy()).
 *
 * If the process of the caller reaches the source by load and store, the copy is a put.  Else the
 * PE that has the source is asked to put its memory to the destination, so the data travel once.
 * That put is an operation of its own there; its end is reported to the caller by the reply of an
 * active message (am_reply.h).  The caller counts the copy as an operation on the destination, and
 * sends its signal: a signal has the caller as its source.
 *
 * Copies are not ordered with other operations: one that goes through another PE could keep an
 * order only by waiting.
 */
#ifndef SKI_GLOBAL_COPY_H
#define SKI_GLOBAL_COPY_H

/** The fewest bytes of a request to copy. */
#define SKI_COPY_LEAST 72

#endif
