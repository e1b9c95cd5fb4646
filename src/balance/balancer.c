/* SPDX-License-Identifier: Apache-2.0 */
/* balancer.c - see balancer.h. */
#include "balance/balancer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/time.h>

#include "balance/balance_meta.h"
#include "balance/decision.h"
#include "balance/load_gather.h"
#include "balance/move_orders.h"
#include "balance/neighbour_rounds.h"
#include "balance/sync_point.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/params_check.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/measure/measure.h"
#include "objects/services/measure_table.h"
#include "strategy/problem.h"
#include "strategy/strategy.h"

/* The state of the root. */
enum balancer_state { BALANCER_IDLE, BALANCER_GATHERING, BALANCER_MOVING };

/* The state of the root. */
struct ski_balancer {
    enum balancer_state    state;
    unsigned               flags;    /* SKI_GATHER_... of the balancing that runs            */
    uint32_t               round;    /* its number                                           */
    double                 started;  /* when it began                                        */
    bool                   fresh;    /* `reported` has changed since it was read          */
    bool                   wanted;   /* an asynchronous balancing was requested              */
    bool                   pays;     /* the balancing that runs may move objects             */
    bool                   periodic; /* the timer of SKUA_BALANCE_PERIOD runs                */
    struct ski_sync_counts reported; /* the last report of all PEs                           */
    uint64_t               first_consumed; /* of the report that the balancing began with: the first
                                            * reading of sync_point.h                         */

    struct ski_strategy_choice choice;   /* of the balancing that runs */
    struct ski_balance_meta    meta;     /* whether it pays            */
    bool                       recorded; /* a problem was written to SKUA_BALANCE_RECORD */
    skua_balance_stats         stats;
};

/* A request on the wire. */
struct balance_request {
    uint32_t kind; /* enum ski_balance_request */
    char     name[SKI_STRATEGY_NAME];
};

/* The end of a balancing on the wire. */
struct balance_resume {
    uint32_t           point; /* the sync point that is passed; 0: none */
    uint32_t           unused;
    skua_balance_stats stats;
};

_Static_assert(sizeof(struct balance_request) == SKI_BALANCE_REQUEST_MIN, "see balancer.h");

/* The strategy that the program has chosen before skua_main(). */
static char balancer_given[SKI_STRATEGY_NAME] = "none";

/* The function that may delay the end of a balancing at a sync point, or NULL; set before PEs
 * begin. */
static ski_balancer_hold_fn balancer_hold;

static void balancer_next(struct ski_balance *balance);

/* ---- the end of a balancing ------------------------------------------------------------- */

/* A balancing has ended: passes it on, and resumes the elements here if it was at a sync point. */
static void balancer_resume(struct ski_balance *balance, const struct balance_resume *end)
{
    ski_balance_send_down(balance, SKI_HANDLER_BALANCE_RESUME, end, sizeof *end);
    balance->stats      = end->stats;
    balance->on_arrived = NULL;
    ski_load_gather_end(balance);
    ski_move_orders_end(balance);
    ski_measure_clear(balance->self, end->point ? NULL : ski_balance_syncs);
    if (end->point && !ski_sync_point_passed(balance, end->point))
        ski_sync_point_pass(balance, end->point);
}

void ski_on_balance_resume(skua_msg *msg)
{
    struct balance_resume end = {0};
    struct ski_balance   *balance;

    memcpy(&end, skua_msg_data(msg), msg->bytes < sizeof end ? msg->bytes : sizeof end);
    balance = ski_balance_accept_down(msg);
    if (!balance)
        return;
    if (msg->bytes != sizeof end || (end.point && end.point != balance->sync.number &&
                                     !ski_sync_point_passed(balance, end.point))) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    balancer_resume(balance, &end);
}

/* Returns whether the balancing that runs is one of a local strategy. */
static bool balancer_is_local(const struct ski_balancer *root)
{
    return root->pays && root->choice.strategy->flags & SKUA_STRATEGY_LOCAL;
}

static void balancer_print(const struct ski_balancer *root)
{
    const skua_balance_stats *stats = &root->stats;

    fprintf(
        stderr,
        "skua: balance %llu (%s, %s): load max %.4g s, mean %.4g s, ratio %.3f, then %.3f; moved "
        "%llu of %llu objects, %llu bytes; idle %.1f %%; %.4g s, %.4g s to decide\n",
        (unsigned long long)stats->rounds, root->choice.name,
        root->flags & SKI_GATHER_SYNC ? "sync" : "async", stats->max_before, stats->mean,
        stats->mean > 0 ? stats->max_before / stats->mean : 1,
        stats->mean > 0 ? stats->max_after / stats->mean : 1, (unsigned long long)stats->moved,
        (unsigned long long)stats->objects, (unsigned long long)stats->bytes,
        100 * stats->idle_before, stats->seconds, stats->decide);
}

void ski_balancer_set_hold(ski_balancer_hold_fn hold)
{
    balancer_hold = hold;
}

static void balancer_finish(struct ski_balance *balance)
{
    const struct ski_balancer *root = balance->balancer;

    if (!(root->flags & SKI_GATHER_SYNC) || !balancer_hold || !balancer_hold(balance))
        ski_balancer_continue(balance);
}

void ski_balancer_continue(struct ski_balance *balance)
{
    struct ski_balancer  *root = balance->balancer;
    struct balance_resume end  = {0};

    root->state         = BALANCER_IDLE;
    root->stats.seconds = skua_time() - root->started;
    if (root->pays) {
        root->stats.rounds++;
        if (root->flags & SKI_GATHER_SYNC)
            ski_balance_meta_balanced(&root->meta, root->stats.seconds);
        if (ski_config.balance_verbose)
            balancer_print(root);
    }
    if (root->flags & SKI_GATHER_SYNC) {
        root->stats.sync_points++;
        end.point = balance->sync.number;
    }
    end.stats = root->stats;
    balancer_resume(balance, &end);
    balancer_next(balance);
}

/* ---- a balancing -------------------------------------------------------------------------- */

/* Returns whether problems are written to a file. */
static bool balancer_records(void)
{
    return strcmp(ski_config.balance_record, "none") != 0;
}

/* Writes a problem to the file of SKUA_BALANCE_RECORD, after those of this job. */
static void balancer_record(struct ski_balancer *root, const skua_strategy_problem *problem)
{
    FILE *to = fopen(ski_config.balance_record, root->recorded ? "a" : "w");

    root->recorded = true;
    if (to)
        ski_problem_write(to, problem);
    if (!to || fclose(to) != 0)
        ski_log(SKI_LOG_ERROR, "cannot write the loads to %s (SKUA_BALANCE_RECORD): %s",
                ski_config.balance_record, strerror(errno));
}

/* Starts the rounds of a local strategy. */
static void balancer_start_local(struct ski_balance *balance)
{
    struct ski_balancer *root = balance->balancer;

    root->state = BALANCER_MOVING;
    ski_neighbour_rounds_start(balance, &root->choice, root->round, root->flags & SKI_GATHER_SYNC);
}

/* Records in the statistics of a round what was decided. */
static void balancer_count(skua_balance_stats *stats, const struct ski_decision *decision)
{
    stats->objects     = decision->problem.objects;
    stats->moved       = decision->moved;
    stats->bytes       = decision->bytes;
    stats->max_before  = decision->max_before;
    stats->mean        = decision->mean;
    stats->max_after   = decision->max_after;
    stats->idle_before = decision->idle;
}

/* At the root, which has the loads of all PEs: decides which objects move, and orders the moves. */
static void balancer_decide(struct ski_balance *balance, struct ski_gathered *all)
{
    struct ski_balancer *root   = balance->balancer;
    skua_balance_stats  *stats  = &root->stats;
    double               before = skua_time();
    struct ski_decision  decision;

    if (!ski_decision_init(&decision, all, balance->self->pes, root->round)) {
        stats->refused++;
        balancer_finish(balance);
        return;
    }
    ski_decision_use_hops(&decision.problem);
    if (balancer_records())
        balancer_record(root, &decision.problem);
    if (balancer_is_local(root)) { /* the loads were gathered for the record */
        ski_decision_destroy(&decision);
        balancer_start_local(balance);
        return;
    }
    stats->refused += !ski_decision_run(&decision, root->pays ? root->choice.strategy
                                                              : skua_strategy_find("none"));
    stats->decide = skua_time() - before;
    balancer_count(stats, &decision);
    root->state = BALANCER_MOVING;
    if (decision.moved)
        ski_move_orders_start(balance, &decision.problem, decision.to);
    else
        balancer_finish(balance);
    ski_decision_destroy(&decision);
}

static void balancer_on_gathered(struct ski_balance *balance, struct ski_gathered *all)
{
    struct ski_balancer *root = balance->balancer;

    ski_assert(root->state == BALANCER_GATHERING);
    if (root->flags & SKI_GATHER_SYNC && all->counts.produced != root->first_consumed) {
        root->state = BALANCER_IDLE; /* an element came or went since: another report follows */
        balancer_next(balance);
    } else if (root->flags & SKI_GATHER_LOADS) {
        balancer_decide(balance, all);
    } else if (balancer_is_local(root)) {
        balancer_start_local(balance);
    } else {
        balancer_finish(balance);
    }
}

/* Returns whether the balancing that begins may move objects. */
static bool balancer_pays(struct ski_balance *balance)
{
    struct ski_balancer          *root = balance->balancer;
    const struct ski_sync_counts *sum  = &root->reported;

    if (ski_strategy_is_none(root->choice.strategy))
        return false;
    if (!root->choice.automatic || !(root->flags & SKI_GATHER_SYNC))
        return true;
    return ski_balance_meta_pays(&root->meta, sum->load_max, sum->load_sum / balance->self->pes);
}

/* Begins the statistics of a balancing, with the loads that the PEs have reported. */
static void balancer_reset_stats(struct ski_balance *balance)
{
    struct ski_balancer *root  = balance->balancer;
    skua_balance_stats  *stats = &root->stats;

    stats->objects = stats->moved = stats->bytes = 0;
    stats->max_before = stats->max_after = stats->mean = stats->idle_before = stats->decide = 0;
    if (root->flags & SKI_GATHER_SYNC) {
        stats->max_before = stats->max_after = root->reported.load_max;
        stats->mean                          = root->reported.load_sum / balance->self->pes;
    }
}

/* Begins a balancing: at a sync point, or asynchronous. */
static void balancer_start(struct ski_balance *balance, unsigned flags)
{
    struct ski_balancer *root = balance->balancer;
    const skua_strategy *strategy;

    root->choice         = balance->choice;
    strategy             = root->choice.strategy;
    root->state          = BALANCER_GATHERING;
    root->started        = skua_time();
    root->round          = root->round + 1 ? root->round + 1 : 1;
    root->flags          = flags;
    root->first_consumed = root->reported.consumed;
    root->pays           = balancer_pays(balance);
    if ((root->pays && !(strategy->flags & SKUA_STRATEGY_LOCAL)) || balancer_records())
        root->flags |= SKI_GATHER_LOADS;
    if (root->flags & SKI_GATHER_LOADS &&
        (strategy->flags & SKUA_STRATEGY_NEEDS_GRAPH || balancer_records()))
        root->flags |= SKI_GATHER_GRAPH;
    balancer_reset_stats(balance);
    ski_load_gather_start(balance, root->round, root->flags);
}

/* Begins the next balancing, if none runs and there is a reason. */
static void balancer_next(struct ski_balance *balance)
{
    struct ski_balancer *root  = balance->balancer;
    bool                 fresh = root->fresh;

    if (root->state != BALANCER_IDLE)
        return;
    root->fresh = false;
    if (fresh && root->reported.produced == root->reported.consumed && root->reported.waiting > 0) {
        balancer_start(balance, SKI_GATHER_SYNC);
    } else if (root->wanted) {
        root->wanted = false;
        if (ski_classes_balanced_async())
            balancer_start(balance, 0);
    }
}

static void balancer_on_reported(struct ski_balance *balance, const struct ski_sync_counts *sum)
{
    balance->balancer->reported = *sum;
    balance->balancer->fresh    = true;
    balancer_next(balance);
}

static void balancer_on_moved(struct ski_balance *balance)
{
    struct ski_balancer *root = balance->balancer;

    ski_assert(root->state == BALANCER_MOVING);
    root->stats.moved = balance->moves.moved;
    root->stats.bytes = balance->moves.bytes;
    root->stats.refused += balance->moves.refused;
    balancer_finish(balance);
}

static const struct ski_balance_root balancer_root = {balancer_on_reported, balancer_on_gathered,
                                                      balancer_on_moved};

/* ---- requests ----------------------------------------------------------------------------- */

static SKI_COLD _Noreturn void balancer_no_strategy(const char *call, const char *name)
{
    char text[SKI_STRATEGY_TEXT];

    ski_misuse("%s: %s; auto and auto:NAME balance where it pays", call,
               ski_strategy_explain(name, text));
}

/* Acts on a request at the root. Returns true if all other PEs have to know. */
static bool balancer_take_request(struct ski_balance *balance, const struct balance_request *what)
{
    if (what->kind == SKI_BALANCE_NOW) {
        balance->balancer->wanted = true;
        balancer_next(balance);
        return false;
    }
    return true;
}

/* Measures on this PE, if the strategy that is chosen looks at loads. */
static void balancer_measure(struct ski_balance *balance)
{
    const skua_strategy *strategy = balance->choice.strategy;

    if (balance->active && (!ski_strategy_is_none(strategy) || balancer_records()))
        ski_measure_start(balance->self,
                          strategy->flags & SKUA_STRATEGY_NEEDS_GRAPH || balancer_records());
}

/* Acts on a request that the root distributes to all PEs. */
static void balancer_obey(struct ski_balance *balance, const struct balance_request *what)
{
    ski_balance_send_down(balance, SKI_HANDLER_BALANCE_REQUEST, what, sizeof *what);
    switch (what->kind) {
    case SKI_BALANCE_STRATEGY:
        if (ski_strategy_choose(&balance->choice, what->name))
            balancer_measure(balance);
        break;
    case SKI_BALANCE_MEASURE_START: ski_measure_start(balance->self, false); break;
    case SKI_BALANCE_MEASURE_GRAPH: ski_measure_start(balance->self, true); break;
    case SKI_BALANCE_MEASURE_STOP: ski_measure_stop(balance->self); break;
    case SKI_BALANCE_MEASURE_RESET: ski_measure_clear(balance->self, NULL); break;
    default: break;
    }
}

void ski_on_balance_request(skua_msg *msg)
{
    struct balance_request what    = *(struct balance_request *)skua_msg_data(msg);
    struct ski_balance    *balance = ski_balance_accept(msg);

    if (!balance)
        return;
    if (what.kind >= SKI_BALANCE_REQUESTS || what.name[sizeof what.name - 1] != 0) {
        ski_net_drop(ski_self, msg);
        return;
    }
    ski_balance_connect(balance);
    if (balance->balancer ? balancer_take_request(balance, &what)
                          : msg->source == balance->tree.parent)
        balancer_obey(balance, &what);
    skua_msg_free(msg);
}

static void balancer_request(struct ski_pe *self, enum ski_balance_request kind, const char *name)
{
    struct balance_request what = {.kind = kind};

    (void)self; /* a PE calls this */
    if (name)
        snprintf(what.name, sizeof what.name, "%s", name);
    skua_send_copy(SKI_BALANCE_ROOT, (skua_handler){SKI_HANDLER_BALANCE_REQUEST}, &what,
                   sizeof what);
}

void skua_balance_now(void)
{
    balancer_request(SKI_SELF(), SKI_BALANCE_NOW, NULL);
}

void skua_measure_start(void)
{
    balancer_request(SKI_SELF(), SKI_BALANCE_MEASURE_START, NULL);
}

void skua_measure_graph_start(void)
{
    balancer_request(SKI_SELF(), SKI_BALANCE_MEASURE_GRAPH, NULL);
}

void skua_measure_stop(void)
{
    balancer_request(SKI_SELF(), SKI_BALANCE_MEASURE_STOP, NULL);
}

void skua_measure_reset(void)
{
    balancer_request(SKI_SELF(), SKI_BALANCE_MEASURE_RESET, NULL);
}

void skua_balance_set_strategy(const char *name)
{
    struct ski_strategy_choice choice;

    if (!ski_strategy_choose(&choice, name))
        balancer_no_strategy(__func__, name);
    if (!ski_self)
        memcpy(balancer_given, choice.name, sizeof balancer_given);
    else
        balancer_request(ski_self, SKI_BALANCE_STRATEGY, name);
}

const char *skua_balance_strategy(void)
{
    const struct ski_balance *balance = ski_self ? ski_balance_of(ski_self) : NULL;

    return balance ? balance->choice.name : balancer_given;
}

void skua_balance_stats_get(skua_balance_stats *stats, size_t bytes)
{
    ski_params_give(stats, bytes, &ski_balance_of(SKI_SELF())->stats, sizeof *stats);
}

bool skua_balance_load(const void *self, skua_element_load *load)
{
    const struct ski_object       *object = ski_object_of(self);
    const struct ski_element_load *have;

    if (!object->of->measured)
        return false;
    have  = ski_element_load(object);
    *load = (skua_element_load){(double)ski_ticks_to_ns(have->ticks) * 1e-9 *
                                    ski_measure_cpu_share(object->of->self),
                                have->messages, have->bytes};
    return true;
}

/* ---- life --------------------------------------------------------------------------------- */

static void balancer_period_over(void *arg, const void *data, size_t bytes)
{
    struct ski_balance *balance = arg;

    (void)data, (void)bytes;
    balance->balancer->wanted = true;
    balancer_next(balance);
}

void ski_balancer_start_timer(struct ski_balance *balance)
{
    if (!balance->balancer || balance->balancer->periodic || ski_config.balance_period <= 0)
        return;
    balance->balancer->periodic = true;
    skua_timer_every(ski_config.balance_period, skua_done_call(balancer_period_over, balance));
}

void ski_balancer_init(struct ski_balance *balance)
{
    const char *name = ski_config.balance;

    if (strcmp(name, "default") == 0)
        name = balancer_given;
    if (!ski_strategy_choose(&balance->choice, name))
        balancer_no_strategy("SKUA_BALANCE", name);
    balance->root = &balancer_root;
    if (ski_config.measure || ski_config.measure_graph)
        ski_measure_start(balance->self, ski_config.measure_graph);
    balancer_measure(balance);
    if (balance->self->pe == SKI_BALANCE_ROOT)
        balance->balancer = ski_calloc(1, sizeof *balance->balancer);
}

bool ski_balancer_restore(struct ski_balance *balance, const char *name)
{
    if (!ski_strategy_choose(&balance->choice, name))
        return false;
    balancer_measure(balance);
    return true;
}

void ski_balancer_destroy(struct ski_balance *balance)
{
    free(balance->balancer);
}
