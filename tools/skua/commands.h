/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of `skua`.  Each gets the command line from its own name on and returns
 * the exit code. */
#ifndef SKUA_COMMANDS_H
#define SKUA_COMMANDS_H

/** skua info: prints what this installation and this host provide. */
int command_info(int argc, char **argv);

/** skua info --peers: prints how the processes of the job that it runs in reach each other. */
int peers_main(int argc, char **argv);

/** skua info --memory: prints the memory of the job that it runs in. */
int memory_cost_main(int argc, char **argv);

/** skua bench: runs a benchmark. */
int command_bench(int argc, char **argv);

/** skua balance: runs load balancing strategies on recorded loads. */
int command_balance(int argc, char **argv);

/** skua checkpoint: lists and checks checkpoints. */
int command_checkpoint(int argc, char **argv);

/** skua resize: requests another number of PEs from a running job. */
int command_resize(int argc, char **argv);

/** skua tour: starts the tour under skuarun; returns only if that fails. */
int command_tour(int argc, char **argv);

#endif
