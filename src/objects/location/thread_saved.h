/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_saved.h - user threads of elements in a checkpoint.
 *
 * A thread that could move to another host with its element (thread_migration.h) can be in a
 * checkpoint, too: its stack is restored at its address, and so is the element.  In the record of
 * the element (model/saved_element.h) they are
 *
 *      struct threads_saved | code objects | struct thread_saved | bytes of the stack | ...
 *
 * The stack holds return addresses, so the program and the libraries that it points into must be at
 * the same addresses (core/pe/code_map.h).  These code objects are in the record, and are compared
 * where the element is restored.
 *
 * What a thread waits for is restored with it: a wait list of its element, or of a thread of its
 * element.  A completion of another object that sets a future on the stack finds it by its address.
 */
#ifndef SKI_THREAD_SAVED_H
#define SKI_THREAD_SAVED_H

#include "objects/model/lifecycle.h"

/** The observer of threads of elements in checkpoints (model/lifecycle.h). */
extern const struct ski_lifecycle ski_thread_saved_lifecycle;

/** Writes to @p why why the entries of @p object that have not returned cannot be saved.  Returns
 *  whether they can. */
bool ski_thread_saved_possible(struct ski_object *object, char *why, size_t room);

/** Calls @p fn for the block of @p object, if it has one, and the slots of its threads. */
void ski_thread_saved_blocks(const struct ski_object *object,
                             void (*fn)(const void *block, void *arg), void *arg);

#endif
