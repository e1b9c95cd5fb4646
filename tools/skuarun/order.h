/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - what an agent is to run.
 *
 * On the way it is a struct order_head, the CPUs of the PEs here, if the launcher
 * has chosen them, and strings, each with its 0: the working directory, the
 * settings, the arguments.
 */
#ifndef SKUARUN_ORDER_H
#define SKUARUN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

#define ORDER_MOST ((size_t)8 << 20)

struct order_head {
    int32_t  pes, pes_per_process; /* of the job                                 */
    int32_t  first, here;          /* our processes: the first, and how many     */
    int32_t  beside_first, beside; /* PEs of the job on our host, and the first  */
    int32_t  cpus;                 /* that are told: of all our PEs, or none     */
    int32_t  settings, arguments;  /* strings                                    */
    uint8_t  one_host, label, verbose, terminal;
    uint64_t secret[2];
};

struct order {
    struct order_head head;
    int              *cpu;
    char             *text; /* which the strings are in, where it was read */
    const char       *folder;
    char            **setting;  /* NAME=VALUE, for the environment; then NULL */
    char            **argument; /* and a NULL */
};

/** Write it down behind what is in @p to. */
void order_encode(const struct order *order, struct buffer *to);

/** Read it; false: it makes no sense.  Either way order_free() gives back what it
 *  has. */
bool order_decode(struct order *order, const char *data, size_t bytes);
void order_free(struct order *order);

/** How many PEs its processes have. */
int order_pes(const struct order_head *head);

#endif
