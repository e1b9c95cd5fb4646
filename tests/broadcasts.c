/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcasts.c - broadcasts of all sizes from all PEs at once: from start(), handlers and user
 * threads. Each PE receives each message once and whole, owns its copy, and receives the messages
 * of a root in the order of its calls.
 *
 * usage: broadcasts [ROUNDS]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define ROOTS 64

struct head {
    uint64_t number, seed; /* number among the root's broadcasts; seed of the data */
};

static const size_t sizes[] = {sizeof(struct head),
                               262143,
                               64,
                               262144,
                               300001,
                               131072,
                               524288,
                               1048583,
                               524289,
                               4000,
                               3145728};

#define SIZES (sizeof sizes / sizeof *sizes)

static skua_handler said_handler, again_handler;
static skua_pe_data mine_key;
static int          rounds;

struct mine {
    uint64_t     sent, heard[ROOTS];
    skua_counter all; /* number of completed broadcasts of this PE */
};

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

/* The data after the head, many words at a time, since a sanitizer checks each access. */
static void fill(struct head *head, size_t bytes, bool check)
{
    uint64_t       state = head->seed, words[128];
    unsigned char *at    = (unsigned char *)(head + 1);

    for (size_t left = bytes - sizeof *head, n; left > 0; left -= n, at += n) {
        n = left < sizeof words ? left : sizeof words;
        for (size_t i = 0; i * sizeof *words < n; i++)
            words[i] = tap_random(&state);
        if (check)
            CHECK(memcmp(at, words, n) == 0);
        else
            memcpy(at, words, n);
    }
}

static void say(size_t bytes)
{
    skua_msg    *msg  = skua_msg_alloc(bytes);
    struct head *head = skua_msg_data(msg);

    head->number = mine()->sent++;
    head->seed   = (head->number + 1) * 1000003 + (uint64_t)skua_pe() + 1;
    fill(head, bytes, false);
    skua_broadcast(said_handler, msg, skua_done_count(&mine()->all));
}

static void on_said(skua_msg *msg)
{
    struct head *head = skua_msg_data(msg);
    int          root = skua_msg_source(msg);

    CHECK(head->number == mine()->heard[root]++);
    fill(head, skua_msg_size(msg), true);
    memset(head, 0xa5, skua_msg_size(msg)); /* this PE owns it */
    skua_msg_free(msg);
}

static void on_again(skua_msg *msg)
{
    for (size_t i = 0; i < SIZES; i += 2)
        say(sizes[i]);
    skua_msg_free(msg);
}

static void in_thread(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < SIZES; i++) {
        say(sizes[i]);
        skua_thread_yield();
    }
}

static void start(int argc, char **argv)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    (void)argc;
    (void)argv;
    mine()->all = (skua_counter)SKUA_COUNTER_INIT;
    skua_barrier(skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, 1));
    for (int round = 0; round < rounds; round++) {
        skua_thread *thread = skua_thread_create(in_thread, NULL, 0);

        skua_send_copy(skua_pe(), again_handler, NULL, 0);
        for (size_t i = 0; i < SIZES; i++)
            say(sizes[i]);
        skua_thread_join(thread);
    }
    CHECK(skua_counter_wait(&mine()->all, rounds * (int)(2 * SIZES + (SIZES + 1) / 2)));
    skua_barrier(skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, 2));
    for (int root = 0; root < skua_pes() && root < ROOTS; root++)
        CHECK(mine()->heard[root] == mine()->sent);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    rounds        = argc > 1 ? atoi(argv[1]) : 2;
    said_handler  = skua_handler_register("said", on_said);
    again_handler = skua_handler_register("again", on_again);
    mine_key      = skua_pe_data_register(sizeof(struct mine));
    return skua_main(argc, argv, start);
}
