/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#include "particles.h"

#define PARTICLES_MAX                                                                              \
    (INT64_C(1) << 30) /* limit for a domain: 32-bit indices                                       \
                        */

static bool options_complete(struct gtcshift_options *o)
{
    if (!o->domains)
        o->domains = skua_pes() < 2 ? 2 : skua_pes();
    if (o->domains < skua_pes())
        return arguments_refuse("gtcshift", "there are more PEs than --domains");
    if (!o->particles)
        o->particles = o->class[1] ? 0 : o->per_cell * particles_plane(o->class[0]);
    if (!o->particles || o->particles > PARTICLES_MAX)
        return arguments_refuse(
            "gtcshift", "expected --class=A, B, C or D, of up to 2^30 particles per domain");
    if (particles_room(o->particles, (int)o->domains) > UINT32_MAX)
        return arguments_refuse("gtcshift",
                                "a domain of %lld particles has no 32-bit numbers for "
                                "those that pass through it; use fewer --domains or particles",
                                (long long)o->particles);
    arguments_select(o->variants, o->only, SHIFT_VARIANTS);
    return true;
}

bool options_read(struct gtcshift_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"class", ARGUMENT_WORD, o->class, 0, 0, "A", "problem size of GTC-P: A (default) to D"},
        {"per-cell", ARGUMENT_NUMBER, &o->per_cell, 1, 1000, "N",
         "particles per grid point (default: 5)"},
        {"particles", ARGUMENT_NUMBER, &o->particles, 1, PARTICLES_MAX, "N",
         "particles per domain, instead of these two"},
        {"domains", ARGUMENT_NUMBER, &o->domains, 2, 4096, "D",
         "toroidal domains, assigned round robin (default: one\nper PE, at least 2)"},
        {"chunk", ARGUMENT_NUMBER, &o->chunk, 1, 1000000, "N",
         "pipelined: particles per put between hosts (default: 1024)"},
        {"steps", ARGUMENT_NUMBER, &o->steps, 1, 1000000, "N",
         "steps of two shifts each (default: 10)"},
        ARGUMENT_REPEAT(&o->repeat, "number of runs; the fastest counts (default: 3)"),
        {"messages", ARGUMENT_FLAG, &o->only[SHIFT_MESSAGES], 0, 0, NULL, "measure messages only"},
        {"pscw", ARGUMENT_FLAG, &o->only[SHIFT_PSCW], 0, 0, NULL,
         "measure post-start-complete-wait only"},
        {"signal", ARGUMENT_FLAG, &o->only[SHIFT_SIGNAL], 0, 0, NULL,
         "measure signalling puts only"},
        {"pipelined", ARGUMENT_FLAG, &o->only[SHIFT_PIPELINED], 0, 0, NULL,
         "measure pipelined puts only"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "gtcshift",
        "The particle shift of GTC-P: particles that have left their domain of a torus move to "
        "the\n"
        "neighbours until all are at home: in messages, in puts between post, start, complete and\n"
        "wait, in signalling puts, and in pipelined puts to their final place. The set of all\n"
        "particles is checked.",
        list};

    *o = (struct gtcshift_options){
        .class = "A", .per_cell = 5, .chunk = 1024, .steps = 10, .repeat = 3};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
