/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_choice.c - see strategy_choice.h. */
#include "balance/strategy_choice.h"

#include <string.h>

#define CHOICE_AUTO     "auto"
#define CHOICE_STRATEGY "refine" /* of `auto`: it moves few objects */

/* Returns what follows "auto:" in a name, the default of "auto", or NULL: the name is neither. */
static const char *choice_automatic(const char *name)
{
    size_t bytes = strlen(CHOICE_AUTO);

    if (strcmp(name, CHOICE_AUTO) == 0)
        return CHOICE_STRATEGY;
    return strncmp(name, CHOICE_AUTO ":", bytes + 1) == 0 ? name + bytes + 1 : NULL;
}

bool ski_strategy_choose(struct ski_strategy_choice *choice, const char *name)
{
    const char          *of       = choice_automatic(name);
    const skua_strategy *strategy = skua_strategy_find(of ? of : name);

    if (!strategy || strlen(name) >= sizeof choice->name)
        return false;
    strcpy(choice->name, name);
    choice->strategy  = strategy;
    choice->automatic = of != NULL;
    return true;
}

bool ski_strategy_is_none(const skua_strategy *strategy)
{
    return strcmp(strategy->name, "none") == 0;
}
