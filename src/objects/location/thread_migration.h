/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_migration.h - elements that migrate with user threads inside.
 *
 * An element of a class that has threaded entries and can migrate is in the isomalloc range, and
 * so are the threads of these entries with their stacks (core/sched/thread_move.h).  All of them
 * keep their addresses, so what a stack refers to is valid on the next PE: its own frames, the
 * element, other threads of the element.
 *
 * Such an element leaves as soon as nothing runs in it but threads that wait in something that
 * moves. The rest of the migration is that of any element (migration.h): the class packs it, and
 * the threads are baggage:
 *
 *      struct thread_packed | bytes of the stack, to another host | struct thread_packed | ...
 *
 * The header of the element moves as well, in the memory of the same host even while this PE still
 * uses it.  So a stub takes its place here (ski_element_replace()) before the element is sent.
 *
 * Between processes the code must be at the same addresses.  The first time that threads are to
 * move to a process, this PE sends its code map (core/pe/code_map.h) there, and the element waits
 * for the answer.  If the maps differ, the element stays where it is, and an error is logged once.
 */
#ifndef SKI_THREAD_MIGRATION_H
#define SKI_THREAD_MIGRATION_H

#include <skua/message.h>

#include "core/isomalloc/isomalloc.h"
#include "objects/model/lifecycle.h"

struct ski_boot;
struct skua_thread;
struct ski_object_threads;

/** The observer of elements that migrate with threads (model/lifecycle.h). */
extern const struct ski_lifecycle ski_thread_migration_lifecycle;

/** Maps the isomalloc range in a process whose program has classes that need it. */
void ski_thread_migration_open(const struct ski_boot *boot);

/** Resets the isomalloc range. */
void ski_thread_migration_close(void);

/** Returns whether all entries of an element that have not returned are threads that may move with
 * it; also true if none runs. */
bool ski_thread_migration_possible(const struct ski_object *object);

/** Returns whether an element that is to migrate, and in which only movable threads run, can leave
 * now. */
bool ski_thread_migration_may_depart(const struct ski_object *object);

/** Returns whether the memory at @p at moves with @p arg, an object that is here. */
bool ski_thread_migration_moves(const void *at, void *arg);

/** Returns whether all that wait in the list of @p thread move with its object, and the list as
 * well. */
bool ski_thread_migration_list_moves(const struct skua_thread *thread, struct ski_object *object);

/** Returns whether @p thread can continue in another process. */
bool ski_thread_migration_leaves_process(const struct skua_thread *thread);

/** Adds a thread to an element, in a slot that may arrive: the @p bytes of its stack at @p stack
 * are copied there, unless its memory is shared. */
void ski_thread_migration_add(struct ski_object *object, const struct ski_iso_move *move,
                              const char *stack, size_t bytes);

/** Continues the threads of an element that has been unpacked. */
void ski_thread_migration_continue(struct ski_object *object);

/** Returns the block of an element that departs, which is no longer here; at 0: the element is in
 * no block. */
struct ski_iso_move ski_thread_migration_block(struct ski_object *object);

/** Returns whether an element in @p block may arrive. */
bool ski_thread_migration_valid(const struct ski_collection *all, const struct ski_iso_move *block);

/** Returns the block of an element that arrives, which was found valid; NULL: it needs none. */
struct ski_object_threads *ski_thread_migration_arrive(const struct ski_collection *all,
                                                       const struct ski_iso_move   *block);

/** Gives the memory of an element and its threads, whose baggage is @p bytes at @p packed, back to
 * its owners: they have arrived after the end of their collection. */
void ski_thread_migration_discard(const struct ski_collection *all,
                                  const struct ski_iso_move *block, const void *packed,
                                  size_t bytes);

/** Handler: another process asks whether this one has the same code map. */
void ski_on_code_map(skua_msg *msg);

/** Handler: the answer of a process that was asked whether its code map is the same. */
void ski_on_code_map_answer(skua_msg *msg);

#define SKI_CODE_MAP_MIN        8
#define SKI_CODE_MAP_ANSWER_MIN 152

#endif
