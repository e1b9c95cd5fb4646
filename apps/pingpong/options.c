/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <stddef.h>

#define LARGEST (1 << 26) /* bytes: the arena has room for it */

static void complete(struct options *o)
{
    bool some = o->only[MESSAGES] || o->only[CHANNEL] || o->only[GET];

    for (int way = 0; way < WAYS; way++)
        o->ways[way] = !some || o->only[way];
}

bool options_read(struct options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"sizes", ARGUMENT_LIST, &o->sizes, 1, LARGEST, "N,N,...",
         "bytes\n(default: 100 to 500000, as in the paper)"},
        {"iterations", ARGUMENT_NUMBER, &o->iterations, 1, 1000000000, "N",
         "round trips in a run (default: 1000)"},
        {"repeat", ARGUMENT_NUMBER, &o->repeat, 1, 1000000, "R", "runs of each size (default: 5)"},
        {"messages", ARGUMENT_FLAG, &o->only[MESSAGES], 0, 0, NULL, "only with messages"},
        {"channel", ARGUMENT_FLAG, &o->only[CHANNEL], 0, 0, NULL, "only with channels"},
        {"get", ARGUMENT_FLAG, &o->only[GET], 0, 0, NULL, "only with gets"},
        {"series", ARGUMENT_WORD, o->series, 0, 0, "NAME", "print times as lines of JSON, too"},
        {0},
    };
    const struct arguments arguments = {
        "pingpong",
        "Round trips of data between an object on PE 0 and one on the last PE: in messages,\n"
        "through channels, and by gets that do not copy.",
        list};

    *o = (struct options){
        .sizes      = {{100, 1000, 5000, 10000, 20000, 30000, 40000, 70000, 100000, 500000}, 10},
        .iterations = 1000,
        .repeat     = 5};
    if (!arguments_read(&arguments, argc, argv))
        return false;
    complete(o);
    return true;
}
