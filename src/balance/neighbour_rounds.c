/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_rounds.c - see neighbour_rounds.h. */
#include "balance/neighbour_rounds.h"

#include <stdlib.h>
#include <string.h>

#include <skua/topology.h>

#include "balance/decision.h"
#include "balance/load_gather.h"
#include "balance/move_orders.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "strategy/local_rounds.h"
#include "strategy/neighbours.h"
#include "strategy/problem.h"
#include "strategy/strategy.h"

#define NEIGHBOUR_ROUNDS_MAX 64
#define NEIGHBOUR_LOAD_MAX   (SKI_PROBLEM_MAX * 1e12) /* of 2^32 objects, at the least speed */

/* The start of the rounds on the wire. */
struct neighbour_start {
    uint32_t round; /* of the balancing */
    uint32_t flags; /* SKI_GATHER_...   */
    char     name[SKI_STRATEGY_NAME];
};

enum { NEIGHBOUR_LOAD, NEIGHBOUR_COUNT, NEIGHBOUR_KINDS };

/* The message of a PE to a neighbour. */
struct neighbour_update {
    uint32_t round; /* of the balancing                        */
    uint16_t step;  /* the round between neighbours, from 0 on */
    uint16_t kind;  /* NEIGHBOUR_...                           */
    double   load;  /* all its time                            */
    double   idle;
    double   speed;
    int32_t  host;
    uint32_t count; /* of objects that come */
};

_Static_assert(sizeof(struct neighbour_start) == SKI_NEIGHBOUR_START_MIN &&
                   sizeof(struct neighbour_update) == SKI_NEIGHBOUR_UPDATE_MIN,
               "see neighbour_rounds.h");

/* The updates of the neighbours in one round. */
struct neighbour_step {
    int                     loads, counts; /* how many have */
    bool                    has[SKUA_NEIGHBOURS_MAX][NEIGHBOUR_KINDS];
    struct neighbour_update load[SKUA_NEIGHBOURS_MAX];
    uint32_t                count; /* of objects that come, from all */
};

/* The rounds of a PE. */
struct ski_neighbour_rounds {
    int                        pes; /* neighbours */
    int                        pe[SKUA_NEIGHBOURS_MAX];
    struct ski_strategy_choice choice;
    uint32_t                   round; /* of the balancing */
    bool                       begun;
    bool                       decided; /* in this step */
    uint16_t                   step, steps;
    struct neighbour_step      parity[2]; /* of this step and the next */
};

static void neighbour_continue(struct ski_balance *balance);

/* ---- a round --------------------------------------------------------------------------- */

static struct neighbour_step *neighbour_step_of(struct ski_neighbour_rounds *rounds, unsigned step)
{
    return &rounds->parity[step % 2];
}

/* Sends the message of this step to neighbour @p i. */
static void neighbour_send_update(struct ski_balance *balance, int i,
                                  const struct neighbour_update *update)
{
    skua_send_copy(balance->rounds->pe[i], (skua_handler){SKI_HANDLER_NEIGHBOUR_UPDATE}, update,
                   sizeof *update);
}

/* Begins a step: lists the objects here, and reports their load to the neighbours. */
static void neighbour_begin_step(struct ski_balance *balance)
{
    struct ski_neighbour_rounds *rounds = balance->rounds;
    const struct ski_gathered   *here   = ski_load_gather_local(balance);
    struct neighbour_update      update = {
             .round = rounds->round, .step = rounds->step, .kind = NEIGHBOUR_LOAD};

    update.load  = here->pe->pe.background;
    update.idle  = here->pe->pe.idle;
    update.speed = here->pe->pe.speed;
    update.host  = here->pe->pe.host;
    for (uint32_t i = 0; i < here->objects; i++)
        update.load += here->object[i].load / here->pe->pe.speed;
    rounds->decided = false;
    for (int i = 0; i < rounds->pes; i++)
        neighbour_send_update(balance, i, &update);
}

/* Makes the problem of this PE and its neighbours and calls the strategy; to[i] is an index of
 * @p pe.  Returns whether the result may be used. */
static bool neighbour_call(struct ski_balance *balance, skua_strategy_pe *pe, int32_t *to)
{
    struct ski_neighbour_rounds *rounds  = balance->rounds;
    struct ski_gathered         *here    = &balance->gather.sum;
    struct neighbour_step       *step    = neighbour_step_of(rounds, rounds->step);
    skua_strategy_problem        problem = {.size = sizeof problem, .pes = rounds->pes + 1};
    char                         text[SKI_STRATEGY_TEXT];

    pe[0] = here->pe->pe;
    for (int i = 0; i < rounds->pes; i++)
        pe[i + 1] = (skua_strategy_pe){.background = step->load[i].load,
                                       .idle       = step->load[i].idle,
                                       .speed      = step->load[i].speed,
                                       .host       = step->load[i].host,
                                       .pe         = rounds->pe[i]};
    for (uint32_t i = 0; i < here->objects; i++)
        here->object[i].pe = 0;
    problem.hosts = skua_hosts();
    ski_decision_use_hops(&problem);
    problem.objects = here->objects;
    problem.pe      = pe;
    problem.object  = here->object;
    problem.seed    = ski_local_seed(rounds->round, rounds->step, balance->self->pe);
    if (ski_strategy_decide(rounds->choice.strategy, &problem, to, text))
        return true;
    ski_log(SKI_LOG_ERROR, "%s: no object of PE %d moves", text, balance->self->pe);
    balance->moves.refused++;
    return false;
}

/* Calls the strategy, sends objects away, and reports to each neighbour how many come to it. */
static void neighbour_decide(struct ski_balance *balance)
{
    struct ski_neighbour_rounds *rounds  = balance->rounds;
    uint32_t                     objects = balance->gather.sum.objects;
    skua_strategy_pe             pe[SKUA_NEIGHBOURS_MAX + 1];
    int32_t                     *to = ski_calloc(objects + (size_t)1, sizeof *to);
    struct neighbour_update      update[SKUA_NEIGHBOURS_MAX];

    rounds->decided = true;
    for (int i = 0; i < rounds->pes; i++)
        update[i] = (struct neighbour_update){
            .round = rounds->round, .step = rounds->step, .kind = NEIGHBOUR_COUNT};
    if (neighbour_call(balance, pe, to))
        for (uint32_t i = 0; i < objects; i++)
            if (to[i] > 0)
                update[to[i] - 1].count += ski_move_orders_follow(balance, i, pe[to[i]].pe);
    free(to);
    for (int i = 0; i < rounds->pes; i++)
        neighbour_send_update(balance, i, &update[i]);
}

/* Ends a step: all that was sent here has arrived. */
static void neighbour_end_step(struct ski_balance *balance)
{
    struct ski_neighbour_rounds *rounds = balance->rounds;

    *neighbour_step_of(rounds, rounds->step) = (struct neighbour_step){0};
    rounds->step++;
    if (rounds->step < rounds->steps) {
        neighbour_begin_step(balance);
        return;
    }
    rounds->begun = false;
    ski_move_orders_settle(balance);
}

/* Does what can be done now: decides, or ends a step and begins the next. */
static void neighbour_continue(struct ski_balance *balance)
{
    struct ski_neighbour_rounds *rounds = balance->rounds;
    struct neighbour_step       *step;

    while (rounds && rounds->begun) {
        step = neighbour_step_of(rounds, rounds->step);
        if (!rounds->decided && step->loads == rounds->pes)
            neighbour_decide(balance);
        if (!rounds->decided || step->counts < rounds->pes ||
            balance->moves.arrived < balance->moves.expected)
            return;
        neighbour_end_step(balance);
    }
}

/* ---- messages -------------------------------------------------------------------------- */

static struct ski_neighbour_rounds *neighbour_rounds_get(struct ski_balance *balance)
{
    if (!balance->rounds) {
        balance->rounds = ski_calloc(1, sizeof *balance->rounds);
        balance->rounds->pes =
            ski_neighbours_of(balance->self->pe, balance->self->pes, balance->rounds->pe);
    }
    return balance->rounds;
}

/* Starts the rounds of this PE, and of its subtree. */
static void neighbour_begin(struct ski_balance *balance, const struct neighbour_start *start)
{
    struct ski_neighbour_rounds *rounds = neighbour_rounds_get(balance);

    ski_balance_send_down(balance, SKI_HANDLER_NEIGHBOUR_START, start, sizeof *start);
    if (!ski_strategy_choose(&rounds->choice, start->name))
        ski_fatal("the balancer of PE %d chose a strategy \"%s\", which PE %d does not have",
                  SKI_BALANCE_ROOT, start->name, balance->self->pe);
    rounds->round         = start->round;
    rounds->begun         = true;
    rounds->step          = 0;
    rounds->steps         = (uint16_t)rounds->choice.strategy->rounds;
    rounds->steps         = rounds->steps > NEIGHBOUR_ROUNDS_MAX ? NEIGHBOUR_ROUNDS_MAX
                            : rounds->steps > 0                  ? rounds->steps
                                                                 : 1;
    balance->gather.round = start->round;
    balance->gather.flags = start->flags | SKI_GATHER_LOADS;
    balance->on_arrived   = neighbour_continue;
    neighbour_begin_step(balance);
    neighbour_continue(balance);
}

void ski_neighbour_rounds_start(struct ski_balance               *balance,
                                const struct ski_strategy_choice *choice, uint32_t round,
                                unsigned flags)
{
    struct neighbour_start start = {.round = round, .flags = flags};

    memcpy(start.name, choice->name, sizeof start.name);
    neighbour_begin(balance, &start);
}

void ski_on_neighbour_start(skua_msg *msg)
{
    struct neighbour_start start   = *(struct neighbour_start *)skua_msg_data(msg);
    struct ski_balance    *balance = ski_balance_accept_down(msg);

    if (!balance)
        return;
    start.name[sizeof start.name - 1] = 0;
    skua_msg_free(msg);
    neighbour_begin(balance, &start);
}

/* Returns the number of the neighbour that is PE @p pe, or -1. */
static int neighbour_find(const struct ski_neighbour_rounds *rounds, int pe)
{
    for (int i = 0; i < rounds->pes; i++)
        if (rounds->pe[i] == pe)
            return i;
    return -1;
}

/* Returns whether a message is due: one of this step, or the load of the next.  Before the rounds
 * begin here a neighbour can only send its first load. */
static bool neighbour_is_due(const struct ski_neighbour_rounds *rounds,
                             const struct neighbour_update     *update)
{
    if (!rounds->begun)
        return update->round != rounds->round && update->step == 0 &&
               update->kind == NEIGHBOUR_LOAD;
    return update->round == rounds->round &&
           (update->step == rounds->step ||
            (update->step == rounds->step + 1 && update->kind == NEIGHBOUR_LOAD));
}

/* Returns whether the message of neighbour @p from is valid. */
static bool neighbour_update_valid(struct ski_neighbour_rounds *rounds, int from,
                                   const struct neighbour_update *update)
{
    return from >= 0 && update->kind < NEIGHBOUR_KINDS && neighbour_is_due(rounds, update) &&
           !neighbour_step_of(rounds, update->step)->has[from][update->kind] &&
           (unsigned)update->host < (unsigned)skua_hosts() && update->load >= 0 &&
           update->load <= NEIGHBOUR_LOAD_MAX && update->idle >= 0 &&
           update->idle <= SKI_PROBLEM_MAX &&
           (update->kind != NEIGHBOUR_LOAD ||
            (update->speed >= 1 / SKI_PROBLEM_MAX && update->speed <= SKI_PROBLEM_MAX));
}

void ski_on_neighbour_update(skua_msg *msg)
{
    struct neighbour_update      update  = *(struct neighbour_update *)skua_msg_data(msg);
    struct ski_balance          *balance = ski_balance_accept(msg);
    struct ski_neighbour_rounds *rounds;
    struct neighbour_step       *step;
    int                          from;

    if (!balance)
        return;
    rounds = neighbour_rounds_get(balance);
    from   = neighbour_find(rounds, msg->source);
    if (!neighbour_update_valid(rounds, from, &update)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    step                         = neighbour_step_of(rounds, update.step);
    step->has[from][update.kind] = true;
    if (update.kind == NEIGHBOUR_LOAD) {
        step->load[from] = update;
        step->loads++;
    } else {
        step->counts++;
        balance->moves.expected += update.count;
    }
    neighbour_continue(balance);
}
