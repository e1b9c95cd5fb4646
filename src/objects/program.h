/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the begin of a program on PE 0, and its read-only variables.
 *
 * Until the variables are there a PE has a *gate*: its table of handlers is another one,
 * in which all that run code of the program (its own handlers, and those of the runtime that
 * core/builtin.h marks) keep their message instead.  The others work as always.  Being
 * a table, the gate costs nothing where and when there is none.
 *
 * The values go down a tree of processes, as one message to the first PE of each, which
 * writes them and then tells the other PEs of its process, down a tree of those, to open
 * their gates:
 *
 *      kind    VALUES or OPEN, 8 bytes
 *      VALUES: each variable in the order of registration: its bytes; of a block, 8 bytes
 *              with its length, then its bytes
 *
 * The values are taken when `begin` returns, or when it first waits for what messages bring
 * about (core/wait.h): then they are final, and it is an error that ends the job if `begin`
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

#define SKI_READONLY_LEAST 8

void ski_on_readonly(skua_msg *msg);

#endif
