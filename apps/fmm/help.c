/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - see help.h. */
#include "help.h"

void help_reset(struct solver *s)
{
    struct help_board *board = s->board;

    for (int r = 0; r < ROUNDS; r++) {
        atomic_store_explicit(&board->round[r].tasks, 0, memory_order_relaxed);
        atomic_store_explicit(&board->round[r].next, 0, memory_order_relaxed);
        atomic_store_explicit(&board->round[r].complete, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&board->over, false, memory_order_relaxed);
}

/* Takes the next task of a round and computes it for @p s, whose board it is.  Returns false if
 * there is none left. */
static bool help_take(struct solver *s, struct help_board *board, enum round round, int32_t tasks)
{
    int32_t task = atomic_fetch_add_explicit(&board->round[round].next, 1, memory_order_relaxed);

    if (task >= tasks)
        return false;
    solve_task(s, round, task);
    atomic_fetch_add_explicit(&board->round[round].complete, 1, memory_order_release);
    return true;
}

void help_run(struct solver *s, enum round round)
{
    int32_t tasks = solve_tasks(s, round);

    if (round == ROUND_NEAR) { /* nothing in these structs changes any more */
        s->board->solver = *s;
        s->board->work   = *s->work;
    }
    atomic_store_explicit(&s->board->round[round].tasks, tasks, memory_order_release);
    while (help_take(s, s->board, round, tasks))
        continue;
}

void help_finish(struct solver *s, enum round round)
{
    double from = s->comm->time();

    while (atomic_load_explicit(&s->board->round[round].complete, memory_order_acquire) <
           solve_tasks(s, round))
        s->comm->yield(s->comm);
    s->seconds[PHASE_WAIT] += s->comm->time() - from;
}

/* A round of another PE. */
struct help_choice {
    struct help_board *board;
    enum round         round;
    int32_t            tasks, left;
};

/* Finds the round with the most tasks left.  Returns false if all PEs are done. */
static bool help_choose(struct solver *s, struct help_choice *most)
{
    bool found = false;

    most->left = 0;
    for (int i = 1; i < s->comm->pes; i++) {
        struct help_board *board = s->comm->board(s->comm, (s->comm->pe + i) % s->comm->pes);

        if (!board || atomic_load_explicit(&board->over, memory_order_relaxed))
            continue;
        found = true;
        for (int r = 0; r < ROUNDS; r++) {
            int32_t tasks = atomic_load_explicit(&board->round[r].tasks, memory_order_acquire);
            int32_t left =
                tasks - atomic_load_explicit(&board->round[r].next, memory_order_relaxed);

            if (left > most->left)
                *most = (struct help_choice){board, (enum round)r, tasks, left};
        }
    }
    return found;
}

/* Computes a task of another PE with the tree and the tables of this one, which are the same. */
static void help_with(struct solver *s, const struct help_choice *choice)
{
    struct solver     other = choice->board->solver;
    struct solve_work work  = choice->board->work;

    other.work       = &work;
    other.comm       = s->comm;
    other.tree       = s->tree;
    other.expansion  = s->expansion;
    other.translator = s->translator;
    help_take(&other, choice->board, choice->round, choice->tasks);
    s->comm->poll(s->comm);
}

void help_others(struct solver *s)
{
    struct help_choice choice;
    double             from = s->comm->time();

    atomic_store_explicit(&s->board->over, true, memory_order_relaxed);
    while (s->comm->shares && help_choose(s, &choice))
        if (choice.left > 0)
            help_with(s, &choice);
        else
            s->comm->yield(s->comm);
    s->seconds[PHASE_HELP] += s->comm->time() - from;
}
