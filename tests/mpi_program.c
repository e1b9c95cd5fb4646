/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_program.c - a Skua program that also calls MPI, run by mpi.sh.
 *
 * A token passes through all PEs, then each PE takes part in a non-blocking collective of MPI,
 * which it starts and tests in a handler: a blocking wait in MPI would stop the messages of Skua.
 *
 * usage: mpi_program mpi-first | skua-first | careless | single
 *   mpi-first    MPI_Init_thread, collectives, skua_main(), collectives, MPI_Finalize
 *   skua-first   skua_main(); the program initialises MPI in there, unless Skua has; MPI is
 * finalised by the side that initialised it careless     skua-first, with MPI_Finalize unless
 * MPI_Finalized single       mpi-first, with MPI_Init for one thread, which the driver mpi refuses
 */
#include <mpi.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAPS 50

static skua_handler token_handler, meet_handler, look_handler, met_handler;
static MPI_Request  request;
static int          mine, sum; /* operand and result of the collective in progress */
static int          met;       /* used on PE 0 */
static int          ours;      /* the program has initialised MPI */

/* Checks the sum of all ranks plus one, computed by MPI. */
static int expected(void)
{
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks * (ranks + 1) / 2;
}

static void begin_mpi(int level)
{
    int initialised, given;

    MPI_Initialized(&initialised);
    if (initialised)
        return;
    MPI_Init_thread(NULL, NULL, level, &given);
    ours = 1;
}

static void end_mpi(int careless)
{
    int over = 0;

    if (careless)
        MPI_Finalized(&over);
    if (ours || (careless && !over))
        MPI_Finalize();
}

static void collective(const char *when)
{
    int rank, all;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rank++;
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != expected())
        fprintf(stderr, "wrong sum %s: %d\n", when, all);
}

/* ---- messages ------------------------------------------------------------------------- */

static void on_token(skua_msg *msg)
{
    int *steps = skua_msg_data(msg);

    if (++*steps <= LAPS * skua_pes()) {
        skua_send((skua_pe() + 1) % skua_pes(), token_handler, msg);
        return;
    }
    skua_msg_free(msg);
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, meet_handler, NULL, 0);
}

static void on_meet(skua_msg *msg)
{
    mine = skua_pe() + 1;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    skua_send(skua_pe(), look_handler, msg);
}

static void on_look(skua_msg *msg)
{
    int done;

    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) {
        skua_send(skua_pe(), look_handler, msg);
        return;
    }
    if (sum != expected())
        skua_abort("the sum of MPI is %d", sum);
    skua_send(0, met_handler, msg);
}

static void on_met(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++met == skua_pes())
        skua_exit(0);
}

static void start(int argc, char **argv)
{
    int zero = 0;

    (void)argc, (void)argv;
    begin_mpi(MPI_THREAD_MULTIPLE);
    if (skua_pe() == 0)
        skua_send_copy(0, token_handler, &zero, sizeof zero);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int         code;

    token_handler = skua_handler_register("token", on_token);
    meet_handler  = skua_handler_register("meet", on_meet);
    look_handler  = skua_handler_register("look", on_look);
    met_handler   = skua_handler_register("met", on_met);
    if (strcmp(mode, "mpi-first") == 0 || strcmp(mode, "single") == 0) {
        begin_mpi(strcmp(mode, "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
        collective("before");
    }
    code = skua_main(argc, argv, start);
    if (ours)
        collective("after");
    end_mpi(strcmp(mode, "careless") == 0);
    printf("code %d; MPI was initialised by the %s\n", code, ours ? "program" : "runtime");
    return code;
}
