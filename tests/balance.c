/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - elements wait at sync points and are moved by strategies, while they send to each
 * other, come, go and migrate by themselves.
 *
 * usage: balance [POINTS]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define ELEMENTS 23

struct block {
    int step;    /* sync points that it has passed */
    int waiting; /* it has called skua_at_sync()   */
    int moves, pe;
    int got;
};

static skua_class      block_class;
static skua_entry      step_entry, greet_entry;
static skua_handler    end_handler;
static skua_collection blocks;
static int             points = 12;

static void block_construct(void *self, const void *data, size_t bytes)
{
    struct block *b = self;

    (void)data, (void)bytes;
    b->pe = skua_pe();
}

/* Runs to the next sync point. */
static void block_run(struct block *b)
{
    int next = (skua_index_of(b).at.x[0] + 7) % ELEMENTS;

    if (b->step == points) {
        skua_contribute(b, SKUA_SUM, SKUA_INT32, &b->moves, 1, skua_done_send(0, end_handler));
        return;
    }
    skua_invoke_copy(skua_element1(blocks, next), greet_entry, &b->step, sizeof b->step);
    b->waiting = 1;
    skua_at_sync(b);
}

static void on_step(void *self, const void *data, size_t bytes)
{
    struct block *b = self;

    CHECK(bytes == 0 && !data == !data);
    CHECK(b->waiting);
    b->waiting = 0;
    b->step++;
    b->moves += b->pe != skua_pe();
    b->pe = skua_pe();
    block_run(b);
}

static void on_greet(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct block *)self)->got++;
}

static void on_end(skua_msg *msg)
{
    int moves = *(int *)skua_msg_data(msg);

    CHECK(moves == (skua_pes() > 1 ? points * ELEMENTS : 0));
    skua_msg_free(msg);
    skua_exit(0);
}

static skua_entry begin_entry;

static void on_begin(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof blocks);
    memcpy(&blocks, data, sizeof blocks);
    block_run(self);
}

static void start(int argc, char **argv)
{
    if (argc > 1)
        points = atoi(argv[1]);
    if (skua_pe() != 0)
        return;
    blocks = skua_array_create1(block_class, ELEMENTS, NULL, 0);
    skua_invoke_all(blocks, begin_entry, &blocks, sizeof blocks);
}

int main(int argc, char **argv)
{
    static const skua_class_def def    = {.name      = "block",
                                          .bytes     = sizeof(struct block),
                                          .construct = block_construct,
                                          .pup       = skua_pup_plain};
    skua_balance_params         params = {.flags = SKUA_BALANCE_AT_SYNC};

    block_class   = skua_class_register(&def);
    step_entry    = skua_method_register(block_class, "step", on_step, 0);
    greet_entry   = skua_method_register(block_class, "greet", on_greet, 0);
    begin_entry   = skua_method_register(block_class, "begin", on_begin, 0);
    end_handler   = skua_handler_register("end", on_end);
    params.resume = step_entry;
    skua_class_set_balance(block_class, &params);
    skua_balance_set_strategy("rotate");
    return skua_main(argc, argv, start);
}
