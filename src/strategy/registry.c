/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - see strategy.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/params_check.h"
#include "strategy/graph.h"
#include "strategy/strategy.h"

/* The strategies of Skua, the one that needs a library last. */
static const skua_strategy registry_own[] = {
    {0, "none", "moves nothing", 0, 0, ski_strategy_none},
    {0, "rotate", "moves every object to the next PE: a test of migration", 0, 0,
     ski_strategy_rotate},
    {0, "random", "moves every object to a PE at random", 0, 0, ski_strategy_random},
    {0, "greedy", "heaviest object first, to the PE that ends it first; moves most objects", 0, 0,
     ski_strategy_greedy},
    {0, "refine", "moves few objects from overloaded PEs to others", 0, 0, ski_strategy_refine},
    {0, "greedy-comm", "heaviest object first, near the objects that it talks to",
     SKUA_STRATEGY_NEEDS_GRAPH, 0, ski_strategy_greedy_comm},
    {0, "orb", "divides the positions of objects by planes, recursively",
     SKUA_STRATEGY_NEEDS_POSITIONS, 0, ski_strategy_orb},
    {0, "topology", "brings objects that talk to one host, or to near hosts",
     SKUA_STRATEGY_NEEDS_GRAPH, 0, ski_strategy_topology},
    {0, "hierarchical", "moves few objects between hosts, then inside each host", 0, 0,
     ski_strategy_hierarchical},
    {0, "diffusion", "every PE gives objects to its neighbours that have less load",
     SKUA_STRATEGY_LOCAL, 40, ski_strategy_diffusion},
    {0, "graph", "divides the communication graph by Scotch", SKUA_STRATEGY_NEEDS_GRAPH, 0,
     ski_strategy_graph},
};

#define REGISTRY_OWN ((int)(sizeof registry_own / sizeof *registry_own))

/* The strategies of the program. Pointers to them stay valid, so each has a block of its own. */
static skua_strategy **registry_user;
static int             registry_users;

/* Returns the number of strategies of Skua that can be used. */
static int registry_usable(void)
{
    return ski_graph_available() ? REGISTRY_OWN : REGISTRY_OWN - 1;
}

const skua_strategy *skua_strategy_at(int i)
{
    int usable = registry_usable();

    if (i < 0 || i >= usable + registry_users)
        return NULL;
    return i < usable ? &registry_own[i] : registry_user[i - usable];
}

const skua_strategy *skua_strategy_find(const char *name)
{
    for (int i = 0; i < REGISTRY_OWN; i++)
        if (strcmp(registry_own[i].name, name) == 0)
            return i < REGISTRY_OWN - 1 || ski_graph_available() ? &registry_own[i] : NULL;
    for (int i = 0; i < registry_users; i++)
        if (strcmp(registry_user[i]->name, name) == 0)
            return registry_user[i];
    return NULL;
}

static bool registry_name_ok(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '-')
            return false;
    return name[0] != '\0';
}

/* Returns whether a name is that of the strategy that needs a library. */
static bool registry_needs_library(const char *name)
{
    return strcmp(registry_own[REGISTRY_OWN - 1].name, name) == 0;
}

void skua_strategy_register(const skua_strategy *strategy)
{
    skua_strategy *made;

    ski_params_check(__func__, "skua_strategy", strategy->size, sizeof *strategy);
    if (!strategy->name || !registry_name_ok(strategy->name))
        ski_misuse("%s(\"%s\"): a name consists of lower-case letters, digits and hyphens",
                   __func__, strategy->name ? strategy->name : "");
    if (!strategy->decide)
        ski_misuse("%s(\"%s\"): the strategy has no function; set its member `decide`", __func__,
                   strategy->name);
    if (skua_strategy_find(strategy->name) || registry_needs_library(strategy->name))
        ski_misuse("%s(\"%s\"): a strategy of that name exists; choose another name", __func__,
                   strategy->name);
    made          = ski_malloc(sizeof *made);
    *made         = *strategy;
    registry_user = ski_realloc(registry_user, (size_t)(registry_users + 1) * sizeof made);
    registry_user[registry_users++] = made;
}

char *ski_strategy_names(char *text)
{
    const skua_strategy *strategy;
    size_t               used = 0;

    text[0] = '\0';
    for (int i = 0; (strategy = skua_strategy_at(i)) && used < SKI_STRATEGY_TEXT; i++)
        used += (size_t)snprintf(text + used, SKI_STRATEGY_TEXT - used, "%s%s", i ? ", " : "",
                                 strategy->name);
    return text;
}

char *ski_strategy_explain(const char *name, char *text)
{
    char names[SKI_STRATEGY_TEXT];

    if (registry_needs_library(name)) {
        snprintf(text, SKI_STRATEGY_TEXT,
                 "the strategy %s needs skua-scotch.so, which was not found: build Skua where "
                 "Scotch is installed (Debian: libscotch-dev, Fedora: scotch-devel)",
                 name);
        return text;
    }
    snprintf(text, SKI_STRATEGY_TEXT, "there is no strategy '%.40s'; there are %.400s", name,
             ski_strategy_names(names));
    return text;
}

/* Checks the result of a strategy: every PE exists, and no object moved that must stay.  Returns
 * true, or false with @p text of SKI_STRATEGY_TEXT bytes written, which names the strategy, the
 * object and the value. */
static bool strategy_check(const skua_strategy *strategy, const skua_strategy_problem *problem,
                           const int32_t *to, char *text)
{
    for (uint32_t i = 0; i < problem->objects; i++) {
        const skua_strategy_object *object = &problem->object[i];

        if (to[i] < 0 || to[i] >= problem->pes) {
            snprintf(text, SKI_STRATEGY_TEXT,
                     "the strategy %s moves object %u to PE %d, but the PEs are 0 to %d",
                     strategy->name, i, to[i], problem->pes - 1);
            return false;
        }
        if (to[i] != object->pe && !(object->flags & SKUA_OBJECT_MOVABLE)) {
            snprintf(text, SKI_STRATEGY_TEXT,
                     "the strategy %s moves object %u from PE %d to PE %d, but the object is not "
                     "movable",
                     strategy->name, i, object->pe, to[i]);
            return false;
        }
    }
    return true;
}

static void registry_stay(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = problem->object[i].pe;
}

bool ski_strategy_decide(const skua_strategy *strategy, const skua_strategy_problem *problem,
                         int32_t *to, char *text)
{
    skua_status status;

    registry_stay(problem, to);
    status = strategy->decide(problem, to);
    if (status == SKUA_OK && strategy_check(strategy, problem, to, text))
        return true;
    if (status != SKUA_OK)
        snprintf(text, SKI_STRATEGY_TEXT, "the strategy %s failed: %s", strategy->name,
                 skua_status_str(status));
    registry_stay(problem, to);
    return false;
}
