/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a program that begins on PE 0: every PE has the values of the read-only variables
 * before anything that PE 0 sent, by whatever means, is delivered.
 *
 * usage: program [none|wait]   none: without variables; wait: begin() waits for its own messages
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define NUMBERS 1000
#define MANY    100000

static int          one;
static double       numbers[NUMBERS];
static char         nothing[1];
static void        *block;
static size_t       block_bytes;
static void        *empty       = &one;
static size_t       empty_bytes = 1;
static bool         variables   = true;
static skua_handler seen_handler, last_handler, done_handler;
static skua_op      weighed_op;
static skua_pe_data mine_key;
static skua_class   main_class;
static skua_entry   greet_entry, call_entry;
static bool         called;      /* in the process of PE 0: an entry ran within begin() */
static bool         begun;       /* in the process of PE 0: begin has returned */
static skua_region  seen_region; /* on PE 0: the number of PEs that received a broadcast */
static int          finished;    /* used on PE 0 */

struct mine {
    int seen, order;
};

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

static void check_values(void)
{
    if (skua_process() == 0)
        CHECK(begun);
    if (!variables)
        return;
    CHECK(one == 42);
    for (int i = 0; i < NUMBERS; i++)
        CHECK(numbers[i] == 1.0 / (i + 1));
    CHECK(block_bytes == MANY * sizeof(unsigned));
    for (unsigned i = 0; i < MANY; i++)
        CHECK(((unsigned *)block)[i] == 3 * i);
    CHECK(empty == NULL && empty_bytes == 0);
}

static void on_seen(skua_msg *msg)
{
    skua_gaddr counter;

    check_values();
    if (skua_msg_size(msg) == sizeof counter) {
        memcpy(&counter, skua_msg_data(msg), sizeof counter);
        CHECK(skua_fetch_add64(counter, 1, NULL) == SKUA_OK);
    }
    mine()->seen++;
    skua_msg_free(msg);
}

/* Messages that were deferred are delivered in order. */
static void on_last(skua_msg *msg)
{
    check_values();
    CHECK(*(int *)skua_msg_data(msg) == mine()->order++);
    skua_msg_free(msg);
}

/* An operator is code of the program and may read the variables. */
static void weighed(void *into, const void *from, size_t count, skua_type type)
{
    CHECK(!variables || one == 42);
    CHECK(count == sizeof(int64_t) && type == SKUA_BYTE);
    *(int64_t *)into += *(const int64_t *)from;
}

static void on_sum(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)bytes;
    CHECK(*(const int64_t *)data == skua_pes());
    CHECK(mine()->seen == 5 + 2 * (skua_pe() == 0) && mine()->order == 30);
    skua_send_copy(0, done_handler, NULL, 0);
}

static void on_everybody(skua_msg *msg)
{
    int64_t value = 1;

    check_values();
    skua_msg_free(msg);
    skua_allreduce(weighed_op, SKUA_BYTE, &value, sizeof value, skua_done_call(on_sum, NULL));
}

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++finished == skua_pes())
        skua_exit(0);
}

static skua_handler everybody_handler;

/* At quiescence every PE has received everything. */
static void on_quiet(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    CHECK(begun);
    CHECK(mine()->seen == 5 + 2 * (skua_pe() == 0) && mine()->order == 30);
    skua_broadcast(everybody_handler, skua_msg_alloc(0), skua_done_nothing());
}

/* The broadcast has not completed before its handlers have run. */
static void on_all_seen(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    check_values();
    CHECK(*(int64_t *)skua_region_local(seen_region) == skua_pes());
}

static skua_msg *place_to_count(void)
{
    skua_msg  *msg = skua_msg_alloc(sizeof(skua_gaddr));
    skua_gaddr counter;

    CHECK(skua_region_create_local(8, &seen_region) == SKUA_OK);
    *(int64_t *)skua_region_local(seen_region) = 0;
    counter                                    = skua_at(seen_region, 0, 0);
    memcpy(skua_msg_data(msg), &counter, sizeof counter);
    return msg;
}

static void send_all(void)
{
    static char large[20000];
    skua_msg   *msg;

    skua_broadcast(seen_handler, place_to_count(), skua_done_call(on_all_seen, NULL));
    skua_broadcast(seen_handler, skua_msg_alloc(3000), skua_done_nothing());
    for (int pe = 0; pe < skua_pes(); pe++) {
        skua_send_copy(pe, seen_handler, NULL, 0);
        skua_send_copy(pe, seen_handler, large, sizeof large);
        skua_complete(skua_done_send(pe, seen_handler), large, 100);
        for (int i = 0; i < 30; i++) {
            msg = skua_msg_alloc(sizeof i);
            memcpy(skua_msg_data(msg), &i, sizeof i);
            skua_msg_set_expedited(msg, i < 10);
            skua_msg_set_priority(msg, i < 20 ? 0 : 7);
            skua_send(pe, last_handler, msg);
        }
    }
}

static void write_values(void)
{
    one = 42;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = 1.0 / (i + 1);
    block_bytes = MANY * sizeof(unsigned);
    block       = malloc(block_bytes);
    for (unsigned i = 0; i < MANY; i++)
        ((unsigned *)block)[i] = 3 * i;
    empty       = NULL;
    empty_bytes = 0;
}

/* Termination detection counts the deferred messages. */
static void poll_a_little(void)
{
    for (double end = skua_time() + 5e-3; skua_time() < end;)
        skua_poll(10);
}

/* ---- the first object ----------------------------------------------------------------- */

/* Constructed within begin(): its writes are visible before anything is delivered. */
static void construct(void *self, const void *data, size_t bytes)
{
    if (bytes == 0)
        return; /* begin() waits for it */
    CHECK(bytes == 4 && memcmp(data, "main", 4) == 0);
    CHECK(skua_object_local(skua_ref_of(self)) == self);
    write_values();
    skua_invoke_copy(skua_ref_of(self), greet_entry, &one, sizeof one);
}

static void on_greet(void *self, const void *data, size_t bytes)
{
    (void)self;
    check_values();
    CHECK(bytes == sizeof one && *(const int *)data == one);
    mine()->seen++;
}

static void on_call(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    called = true;
}

static void create_main(void)
{
    skua_ref ref = skua_chare_create_local(main_class, "main", 4);

    CHECK(one == 42);
    skua_invoke_now(ref, call_entry, NULL, 0); /* a call, not a message */
    CHECK(called && skua_location(ref) == 0);
    skua_invoke_copy(ref, greet_entry, &one, sizeof one);
}

static void begin(int argc, char **argv)
{
    skua_region region;
    int         there = 7, here = 0;

    (void)argc, (void)argv;
    CHECK(skua_pe() == 0);
    send_all();
    skua_quiescence(skua_done_call(on_quiet, NULL));
    /* One-sided operations and the scheduler work meanwhile; no message is delivered. */
    CHECK(skua_region_create_local(sizeof there, &region) == SKUA_OK);
    CHECK(skua_put(skua_at(region, 0, 0), &there, sizeof there) == SKUA_OK);
    CHECK(skua_get(&here, skua_at(region, 0, 0), sizeof here) == SKUA_OK && here == 7);
    for (int i = 0; i < 1000; i++)
        skua_poll(10);
    poll_a_little();
    CHECK(mine()->seen == 0);
    create_main();
    CHECK(mine()->seen == 0);
    begun = true;
}

/* ---- a begin() that waits --------------------------------------------------------------- */

static skua_handler echo_handler;
static skua_entry   ask_entry;

/* Runs the completion that the message carries. */
static void on_echo(skua_msg *msg)
{
    skua_completion done;

    check_values();
    memcpy(&done, skua_msg_data(msg), sizeof done);
    skua_msg_free(msg);
    skua_complete(done, &one, sizeof one);
}

static void on_ask(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    check_values();
    skua_reply(&one, sizeof one);
}

static int wait_for_answer(skua_future *future)
{
    int value;

    future_take(future, &value, sizeof value);
    return value;
}

static void begin_waiting(int argc, char **argv)
{
    skua_counter    counter = SKUA_COUNTER_INIT;
    skua_future     future  = SKUA_FUTURE_INIT;
    skua_completion done    = skua_done_count(&counter);
    skua_ref        ref     = skua_chare_create(main_class, skua_pes() - 1, NULL, 0);

    (void)argc, (void)argv;
    write_values();
    begun = true; /* the writes to the variables end here */
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, echo_handler, &done, sizeof done);
    CHECK(skua_counter_wait(&counter, skua_pes()));
    done = skua_done_future(&future);
    skua_send_copy(skua_pes() - 1, echo_handler, &done, sizeof done);
    CHECK(wait_for_answer(&future) == 42);
    skua_invoke_reply(ref, ask_entry, NULL, 0, done);
    CHECK(wait_for_answer(&future) == 42);
    wait_quiet();
    skua_exit(0);
}

/* Independent modules have separate name spaces. */
static void register_numbers(void)
{
    skua_readonly_register("numbers.one", &one, sizeof one);
    skua_readonly_register("numbers.all", numbers, sizeof numbers);
    skua_readonly_register("numbers.nothing", nothing, 0);
}

static void register_blocks(void)
{
    skua_readonly_block_register("blocks.all", &block, &block_bytes);
    skua_readonly_block_register("blocks.nothing", &empty, &empty_bytes);
}

int main(int argc, char **argv)
{
    int code;

    bool waits = argc > 1 && strcmp(argv[1], "wait") == 0;

    variables         = argc < 2 || waits;
    echo_handler      = skua_handler_register("echo", on_echo);
    seen_handler      = skua_handler_register("seen", on_seen);
    last_handler      = skua_handler_register("last", on_last);
    done_handler      = skua_handler_register("done", on_done);
    everybody_handler = skua_handler_register("everybody", on_everybody);
    weighed_op        = skua_op_register("weighed", weighed);
    mine_key          = skua_pe_data_register(sizeof(struct mine));
    main_class =
        skua_class_register(&(skua_class_def){.name = "main", .bytes = 8, .construct = construct});
    greet_entry = skua_method_register(main_class, "greet", on_greet, 0);
    call_entry  = skua_method_register(main_class, "call", on_call, 0);
    ask_entry   = skua_method_register(main_class, "ask", on_ask, SKUA_ENTRY_SYNC);
    if (variables) {
        register_numbers();
        register_blocks();
    }
    code = skua_program(argc, argv, waits ? begin_waiting : begin);
    free(block);
    return code;
}
