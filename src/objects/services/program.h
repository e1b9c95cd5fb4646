/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the begin of a program on PE 0, and its read-only variables.
 *
 * Until the variables are there a PE has a *gate*: its table of handlers is another one,
 * in which all that run code of the program (its own handlers, and those of the runtime that
 * core/pe/builtin.h marks) keep their message instead.  The others work as always.  Being
 * a table, the gate costs nothing where and when there is none.
 *
 * The values go down a tree of processes, as one message to the first PE of each, which
 * writes them and then tells the other PEs of its process, down a tree of those, to open
 * their gates:
 *
 *      kind       VALUES or OPEN, 8 bytes
 *      creations  8 bytes: how many; of each 8 bytes with its length, then its bytes
 *      VALUES:    each variable in the order of registration: its bytes; of a block, 8 bytes
 *                 with its length, then its bytes
 *
 * The creations are those of the collections that the program has created on PE 0 by then.
 * They take this way and no other, so each PE has them before its gate opens, and runs them
 * before everything that the gate has kept: what the program creates first is there first,
 * on each PE, for all that follows from the begin of the program.
 *
 * The values are taken when `begin` returns, or when it first waits for what messages bring
 * about (core/sched/wait.h): then they are final, and it is an error that ends the job if `begin`
 * leaves others.
 *
 * Ordering.  One PE of a process writes the variables; the message that opens the gate of
 * another is sent after that, and sending and receiving are a release and an acquire
 * (base/inbox.h), so what runs behind the gate sees the values without further ado.
 */
#ifndef SKI_PROGRAM_H
#define SKI_PROGRAM_H

#include <skua/message.h>
#include <skua/program.h>

#define SKI_READONLY_LEAST 16

struct ski_gate;
struct ski_pe;

/** The program creates a collection on PE 0 before it has begun elsewhere: @p msg, of
 *  SKI_HANDLER_CREATE, goes along with the values. */
void ski_program_creates(struct ski_pe *self, skua_msg *msg);

/** Publishes the read-only variables, since `begin` of skua_program() waits: the values are kept, to
 *  be compared with those that it leaves. */
void ski_program_before_wait(struct ski_pe *self);

/** Gives back what a gate that never opened holds; NULL: there is none. */
void ski_gate_free(struct ski_gate *gate);

void ski_on_readonly(skua_msg *msg);

#endif
