/* SPDX-License-Identifier: Apache-2.0 */
/* load_gather.c - see load_gather.h. */
#include "balance/load_gather.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <skua/topology.h>

#include "balance/sync_point.h"
#include "base/clock.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/thread_migration.h"
#include "objects/measure/measure.h"
#include "objects/model/pup.h"
#include "strategy/problem.h"

/* The question of the root. */
struct gather_question {
    uint32_t round;
    uint32_t flags;
};

/* The header of the loads of a subtree. */
struct gather_head {
    uint32_t               round;
    uint32_t               pes, objects, edges;
    struct ski_sync_counts counts;
    uint64_t               unused;
};

_Static_assert(sizeof(struct gather_question) == SKI_GATHER_MIN &&
                   sizeof(struct gather_head) == SKI_LOADS_MIN,
               "see load_gather.h");

/* ---- loads of a subtree --------------------------------------------------------------- */

/* Appends @p count items of @p size to an array that has @p have of them. */
static void *gather_append(void *array, size_t have, const void *more, size_t count, size_t size)
{
    if (count == 0)
        return array;
    array = ski_realloc(array, (have + count) * size);
    memcpy((char *)array + have * size, more, count * size);
    return array;
}

/* Adds the loads of another PE, or of a subtree, to @p sum. */
static void gather_add(struct ski_gathered *sum, const struct ski_gathered *more)
{
    ski_sync_counts_add(&sum->counts, &more->counts);
    sum->pe = gather_append(sum->pe, sum->pes, more->pe, more->pes, sizeof *sum->pe);
    sum->object =
        gather_append(sum->object, sum->objects, more->object, more->objects, sizeof *sum->object);
    if (more->key)
        sum->key =
            gather_append(sum->key, sum->objects, more->key, more->objects, sizeof *sum->key);
    sum->edge = gather_append(sum->edge, sum->edges, more->edge, more->edges, sizeof *sum->edge);
    sum->pes += more->pes;
    sum->objects += more->objects;
    sum->edges += more->edges;
}

static void gather_free(struct ski_gathered *loads)
{
    free(loads->pe);
    free(loads->object);
    free(loads->key);
    free(loads->edge);
    *loads = (struct ski_gathered){0};
}

static void *gather_put(char **at, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(*at, from, bytes);
    return *at += bytes;
}

/* Returns the loads of a subtree as a message. */
static skua_msg *gather_pack(uint32_t round, const struct ski_gathered *sum)
{
    struct gather_head head = {round, sum->pes, sum->objects, sum->edges, sum->counts, 0};
    size_t             keys = sum->key ? sum->objects : 0;
    size_t bytes = sizeof head + sum->pes * sizeof *sum->pe + sum->objects * sizeof *sum->object +
                   keys * sizeof *sum->key + sum->edges * sizeof *sum->edge;
    skua_msg *msg = skua_msg_alloc(bytes);
    char     *at  = skua_msg_data(msg);

    gather_put(&at, &head, sizeof head);
    gather_put(&at, sum->pe, sum->pes * sizeof *sum->pe);
    gather_put(&at, sum->object, sum->objects * sizeof *sum->object);
    gather_put(&at, sum->key, keys * sizeof *sum->key);
    gather_put(&at, sum->edge, sum->edges * sizeof *sum->edge);
    return msg;
}

/* Returns whether loads of @p pes PEs fit together: numbers are in range, and sums are right. */
static bool gather_valid(const struct ski_gathered *loads, int pes)
{
    uint64_t objects = 0;

    for (uint32_t i = 0; i < loads->pes; i++) {
        objects += loads->pe[i].objects;
        if ((unsigned)loads->pe[i].pe.pe >= (unsigned)pes ||
            (unsigned)loads->pe[i].pe.host >= (unsigned)skua_hosts())
            return false;
    }
    return objects == loads->objects && loads->pes <= (unsigned)pes;
}

/* Reads a message of gather_pack(), which came from another PE: the arrays of @p loads point into
 * it.  Returns false if it is not valid. */
static bool gather_unpack(const struct ski_balance *balance, skua_msg *msg,
                          struct ski_gathered *loads)
{
    const struct gather_head *head = skua_msg_data(msg);
    size_t                    keys = balance->gather.flags & SKI_GATHER_GRAPH ? head->objects : 0;
    size_t bytes = sizeof *head + head->pes * sizeof *loads->pe + keys * sizeof *loads->key +
                   head->objects * sizeof *loads->object + head->edges * sizeof *loads->edge;

    if (head->round != balance->gather.round || msg->bytes != bytes)
        return false;
    loads->counts  = head->counts;
    loads->pes     = head->pes;
    loads->objects = head->objects;
    loads->edges   = head->edges;
    loads->pe      = (void *)(head + 1);
    loads->object  = (void *)(loads->pe + loads->pes);
    loads->key     = keys ? (void *)(loads->object + loads->objects) : NULL;
    loads->edge    = (void *)((char *)(loads->object + loads->objects) + keys * sizeof *loads->key);
    return gather_valid(loads, balance->self->pes);
}

/* ---- the snapshot --------------------------------------------------------------------- */

/* Returns whether a balancing may move an object. */
static bool gather_movable(const struct ski_balance *balance, const struct ski_object *object)
{
    const struct ski_class *class = object->of->class;

    if (!ski_class_moves(class) || object->state != SKI_ALIVE ||
        !ski_thread_migration_possible(object))
        return false;
    if (!ski_balance_syncs(object->of))
        return true;
    return balance->gather.flags & SKI_GATHER_SYNC && ski_sync_point_waits(object);
}

/* Returns the speed of this PE, a multiple of 1/16: strategies compare PEs of few speeds.  Elements
 * were charged time by the clock; what they need on a CPU of their own is that times the speed.
 * Loads that the program reports do not depend on it. */
static double gather_speed(const struct ski_balance *balance)
{
    double share = ski_measure_cpu_share(balance->self);

    return share < 1.5 / 16 ? 1.0 / 16 : (double)(int)(share * 16 + 0.5) / 16;
}

/* Returns the load of an object in seconds. */
static double gather_load(const struct ski_balance *balance, const struct ski_object *object)
{
    const skua_balance_params *params = object->of->class->balance;

    if (params->load) {
        double told = params->load(object + 1);

        if (told > SKI_PROBLEM_MAX && told <= DBL_MAX)
            return SKI_PROBLEM_MAX; /* the largest that strategies accept */
        return told > 0 && told <= DBL_MAX ? told : 0;
    }
    return (double)ski_ticks_to_ns(ski_element_load(object)->ticks) * 1e-9 * balance->gather.speed;
}

/* Returns whether strategies accept a position. */
static bool gather_is_position(const double position[3])
{
    return fabs(position[0]) <= SKI_PROBLEM_MAX && fabs(position[1]) <= SKI_PROBLEM_MAX &&
           fabs(position[2]) <= SKI_PROBLEM_MAX; /* false for NaN */
}

/* Returns how strategies see an element. */
static skua_strategy_object gather_describe(const struct ski_balance *balance,
                                            struct ski_object        *object)
{
    const struct ski_class *class     = object->of->class;
    const skua_balance_params *params = class->balance;
    skua_strategy_object like = {.pe = balance->self->pe, .load = gather_load(balance, object)};

    if (gather_movable(balance, object)) {
        like.flags |= SKUA_OBJECT_MOVABLE;
        like.bytes = ski_pup_measure(class, object + 1);
    }
    if (params->position) {
        params->position(object + 1, like.position);
        if (gather_is_position(like.position))
            like.flags |= SKUA_OBJECT_POSITIONED;
    }
    return like;
}

/* A list that grows. */
struct gather_list {
    struct ski_balance *balance;
    uint32_t            room;
};

/* Adds an element to the list of this PE. */
static void gather_list_object(struct ski_object *object, void *arg)
{
    struct gather_list     *list    = arg;
    struct ski_balance     *balance = list->balance;
    struct ski_load_gather *gather  = &balance->gather;
    struct ski_gathered    *sum     = &gather->sum;

    if (object->state != SKI_ALIVE && object->state != SKI_LEAVING)
        return;
    if (sum->objects == list->room) {
        list->room       = list->room ? 2 * list->room : 64;
        sum->object      = ski_realloc(sum->object, list->room * sizeof *sum->object);
        gather->snapshot = ski_realloc(gather->snapshot, list->room * sizeof *gather->snapshot);
    }
    sum->object[sum->objects]        = gather_describe(balance, object);
    gather->snapshot[sum->objects]   = object;
    ski_element_load(object)->listed = ++sum->objects;
}

static void gather_list_collection(struct ski_collection *all, void *arg)
{
    struct gather_list *list = arg;

    if (!ski_balance_has(all) || all->state == SKI_ENDED)
        return;
    list->balance->gather.told |= all->class->balance->load != NULL;
    ski_elements_each(all, gather_list_object, arg);
}

/* Describes this PE, whose objects are listed. */
static struct ski_gathered_pe gather_describe_pe(const struct ski_balance *balance)
{
    struct ski_measure_times times = ski_measure_times_of(balance->self);
    double                   work  = times.wall - times.idle - times.carried;
    int                      pe    = balance->self->pe;
    struct ski_gathered_pe   like  = {{.idle  = times.idle,
                                       .speed = balance->gather.told ? 1 : balance->gather.speed,
                                       .host  = skua_host_of(pe),
                                       .pe    = pe},
                                      balance->gather.listed,
                                      0,
                                      times.wall};

    for (uint32_t i = 0; i < balance->gather.listed; i++)
        work -= balance->gather.sum.object[i].load / like.pe.speed;
    like.pe.background = work > 0 && !balance->gather.told ? work : 0;
    return like;
}

/* Lists the keys of the objects that are listed, and the messages that this PE has counted. */
static void gather_list_graph(struct ski_balance *balance)
{
    const struct ski_measure    *measure = balance->self->objects->measure;
    const struct ski_comm_graph *graph   = measure ? measure->graph : NULL;
    struct ski_gathered         *sum     = &balance->gather.sum;

    sum->key = ski_malloc((sum->objects + (size_t)1) * sizeof *sum->key);
    for (uint32_t i = 0; i < sum->objects; i++)
        sum->key[i] = ski_comm_key_of(balance->gather.snapshot[i]);
    if (!graph)
        return;
    sum->edge = ski_malloc((graph->count + (size_t)1) * sizeof *sum->edge);
    for (uint64_t i = 0; i <= graph->mask; i++)
        if (graph->edge[i].messages)
            sum->edge[sum->edges++] = graph->edge[i];
}

/* Lists this PE and its objects. */
static void gather_list_pe(struct ski_balance *balance)
{
    struct ski_gathered *sum  = &balance->gather.sum;
    struct gather_list   list = {balance, 0};

    sum->counts = ski_sync_point_counts(balance);
    if (!(balance->gather.flags & SKI_GATHER_LOADS))
        return;
    balance->gather.speed = gather_speed(balance);
    ski_collections_each(balance->self->objects, gather_list_collection, &list);
    balance->gather.listed = sum->objects;
    if (balance->gather.flags & SKI_GATHER_GRAPH)
        gather_list_graph(balance);
    sum->pe  = ski_malloc(sizeof *sum->pe);
    sum->pes = 1;
    *sum->pe = gather_describe_pe(balance);
}

const struct ski_gathered *ski_load_gather_local(struct ski_balance *balance)
{
    struct ski_load_gather now = {.round = balance->gather.round, .flags = balance->gather.flags};

    ski_load_gather_end(balance);
    balance->gather = now;
    gather_list_pe(balance);
    return &balance->gather.sum;
}

struct ski_object *ski_load_gather_object(const struct ski_balance *balance, uint32_t number)
{
    return number < balance->gather.listed ? balance->gather.snapshot[number] : NULL;
}

void ski_load_gather_forget(struct ski_balance *balance, struct ski_object *object)
{
    struct ski_element_load *load = ski_element_load(object);

    if (load->listed)
        balance->gather.snapshot[load->listed - 1] = NULL;
    load->listed = 0;
}

void ski_load_gather_end(struct ski_balance *balance)
{
    struct ski_load_gather *gather = &balance->gather;

    for (uint32_t i = 0; i < gather->listed; i++)
        if (gather->snapshot[i])
            ski_element_load(gather->snapshot[i])->listed = 0;
    free(gather->snapshot);
    gather_free(&gather->sum);
    *gather = (struct ski_load_gather){0};
}

/* ---- messages ------------------------------------------------------------------------- */

/* Sends the loads of this subtree up, when they are complete. */
static void gather_check(struct ski_balance *balance)
{
    struct ski_load_gather *gather = &balance->gather;

    if (gather->open > 0)
        return;
    if (balance->tree.parent < 0) {
        balance->root->gathered(balance, &gather->sum);
        return;
    }
    skua_send(balance->tree.parent, (skua_handler){SKI_HANDLER_BALANCE_LOADS},
              gather_pack(gather->round, &gather->sum));
    gather_free(&gather->sum);
}

static void gather_begin(struct ski_balance *balance, const struct gather_question *asked)
{
    ski_load_gather_end(balance); /* of a balancing that was abandoned */
    ski_balance_send_down(balance, SKI_HANDLER_BALANCE_GATHER, asked, sizeof *asked);
    balance->gather.round = asked->round;
    balance->gather.flags = asked->flags;
    balance->gather.open  = balance->tree.children;
    gather_list_pe(balance);
    gather_check(balance);
}

void ski_load_gather_start(struct ski_balance *balance, uint32_t round, unsigned flags)
{
    gather_begin(balance, &(struct gather_question){round, flags});
}

void ski_on_balance_gather(skua_msg *msg)
{
    struct gather_question asked   = *(struct gather_question *)skua_msg_data(msg);
    struct ski_balance    *balance = ski_balance_accept_down(msg);

    if (!balance)
        return;
    skua_msg_free(msg);
    gather_begin(balance, &asked);
}

void ski_on_balance_loads(skua_msg *msg)
{
    int                 child;
    struct ski_balance *balance = ski_balance_accept_up(msg, &child);
    struct ski_gathered loads;

    if (!balance)
        return;
    if (balance->gather.open == 0 || !gather_unpack(balance, msg, &loads)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    gather_add(&balance->gather.sum, &loads);
    balance->gather.open--;
    skua_msg_free(msg);
    gather_check(balance);
}
