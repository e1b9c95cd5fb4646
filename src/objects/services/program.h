/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the start of a program on PE 0, and its read-only variables.
 *
 * Until the variables have their values a PE has a *gate*: its table of handlers is another one, in
 * which all that run code of the program (its own handlers, and those of the runtime that
 * core/pe/builtin.h marks) keep their message instead.  The others work as always.  Being a table,
 * the gate costs nothing when there is none.
 *
 * The values go down a tree of processes, as one message to the first PE of each, which writes them
 * and then orders the other PEs of its process, down a tree of those, to open their gates:
 *
 *      kind       VALUES or OPEN, 8 bytes
 *      creations  8 bytes: how many; of each 8 bytes with its length, then its bytes
 *      VALUES:    each variable in the order of registration: its bytes; of a block, 8 bytes
 *                 with its length, then its bytes
 *
 * The creations are those of the collections that the program has created on PE 0 by then.  They
 * take this way and no other, so each PE has them before its gate opens, and runs them before all
 * messages that the gate has kept: what the program creates first exists first, on each PE, for all
 * that follows from the start of the program.
 *
 * The values are read when `begin` returns, or when it first waits for what messages bring about
 * (core/sched/wait.h): then they are final, and it is an error that ends the job if `begin` leaves
 * others.
 *
 * Ordering.  One PE of a process writes the variables; the message that opens the gate of another
 * PE is sent after that, and sending and receiving are a release and an acquire (base/inbox.h), so
 * code that runs after the gate sees the values.
 */
#ifndef SKI_PROGRAM_H
#define SKI_PROGRAM_H

#include <skua/message.h>
#include <skua/program.h>

#include "objects/model/lifecycle.h"

#define SKI_READONLY_MIN 16

/** The observer of this module (model/lifecycle.h): the gate of a PE. */
extern const struct ski_lifecycle ski_program_lifecycle;

struct ski_pe;

/** Publishes the read-only variables, since `begin` of skua_program() waits: the values are kept,
 * to be compared with the final ones. */
void ski_program_before_wait(struct ski_pe *self);

/** Returns the bytes that ski_program_save() writes. */
size_t ski_program_saved_bytes(void);

/** Writes the values of the read-only variables for a checkpoint. */
void ski_program_save(void *to);

/** Sets the read-only variables of this process to @p bytes that ski_program_save() wrote.  Returns
 *  false if they have other lengths here. */
bool ski_program_restore(const void *from, size_t bytes);

/** Handler: values of the read-only variables, or the order to open the gate. */
void ski_on_readonly(skua_msg *msg);

#endif
