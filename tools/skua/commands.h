/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - what `skua` can do; each takes its own part of the command line. */
#ifndef SKUA_COMMANDS_H
#define SKUA_COMMANDS_H

int command_info(int argc, char **argv);
int print_peers(int argc, char **argv); /* of skua info */
int command_bench(int argc, char **argv);
int command_tour(int argc, char **argv);

#endif
