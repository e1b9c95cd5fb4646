/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <stddef.h>

#define LARGEST (1 << 26) /* largest size in bytes, which the arena can hold */

bool options_read(struct pingpong_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"sizes", ARGUMENT_LIST, &o->sizes, 1, LARGEST, "N,N,...",
         "sizes in bytes\n(default: 100 to 500000, as in the paper)"},
        {"iterations", ARGUMENT_NUMBER, &o->iterations, 1, 1000000000, "N",
         "round trips per run (default: 1000)"},
        ARGUMENT_REPEAT(&o->repeat, "runs per size (default: 5)"),
        {"messages", ARGUMENT_FLAG, &o->only[MESSAGES], 0, 0, NULL, "measure messages only"},
        {"channel", ARGUMENT_FLAG, &o->only[CHANNEL], 0, 0, NULL, "measure channels only"},
        {"get", ARGUMENT_FLAG, &o->only[GET], 0, 0, NULL, "measure gets only"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "pingpong",
        "Round trips of data between an object on PE 0 and one on the last PE: by messages, by\n"
        "channels, and by zero-copy gets.",
        list};

    *o = (struct pingpong_options){
        .sizes      = {{100, 1000, 5000, 10000, 20000, 30000, 40000, 70000, 100000, 500000}, 10},
        .iterations = 1000,
        .repeat     = 5};
    if (!arguments_read(&arguments, argc, argv))
        return false;
    arguments_select(o->variants, o->only, VARIANTS);
    return true;
}
