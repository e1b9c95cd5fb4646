/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hangs.c - jobs that hang in various ways, and jobs that only look idle, for hangs.sh.
 *
 * usage: hangs CASE
 */
#include <pthread.h>
#include <skua/skua.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sleeper.ci.h"
#include "tap.h"

#define A_WHILE 0.5 /* seconds that the job looks idle, several times the setting idle_report */

static skua_class   cell_class;
static skua_entry   poke_entry, give_entry, give_section_entry;
static skua_handler block_handler, ping_handler;
static skua_stream  stream;

static bool is_last(void)
{
    return skua_pe() == skua_pes() - 1;
}

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
}

/* All but element 3 contribute. */
static void on_give(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (skua_index_of(self).at.x[0] != 3)
        skua_contribute_nothing(self, skua_done_exit(0));
}

static void on_give_section(void *self, const void *data, size_t bytes)
{
    skua_section section;

    CHECK(bytes == sizeof section);
    memcpy(&section, data, sizeof section);
    if (skua_index_of(self).at.x[0] != 3)
        skua_section_contribute(section, self,
                                skua_contribution_make(SKUA_SUM, SKUA_INT64, NULL, 0),
                                skua_done_exit(0));
}

static void on_item(void *arg, const void *item)
{
    (void)arg, (void)item;
}

/* ---- jobs that hang ------------------------------------------------------------ */

static void wait_for_future(void)
{
    skua_future future = SKUA_FUTURE_INIT;

    if (skua_pe() > 0 || skua_pes() == 1)
        skua_future_wait(&future, NULL);
}

static void in_thread(void *arg)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    (void)arg;
    skua_counter_wait(&counter, 1);
}

static void wait_in_thread(void)
{
    skua_thread *thread;

    if (!is_last())
        return;
    thread = skua_thread_create(in_thread, NULL, 0);
    skua_thread_set_name(thread, "worker");
    skua_thread_detach(thread);
}

static skua_collection open_array(void)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};

    return skua_array_create(cell_class, &def, NULL, 0);
}

static void poke_nobody(void)
{
    skua_collection array;

    if (skua_pe() != 0)
        return;
    array = open_array();
    for (int i = 0; i < 5; i++)
        skua_invoke_copy(skua_element1(array, 99), poke_entry, NULL, 0);
}

static void poke_and_ask(void)
{
    poke_nobody();
    if (skua_pe() == 0)
        skua_quiescence(skua_done_exit(0));
}

static void reduce_elements(void)
{
    if (skua_pe() == 0)
        skua_invoke_all(skua_array_create1(cell_class, 8, NULL, 0), give_entry, NULL, 0);
}

/* A reduction of a section hangs: element 3 of 0 to 5 does not contribute. */
static void reduce_section(void)
{
    skua_range   range = {.dims = 1, .upper = {6}};
    skua_section section;

    if (skua_pe() != 0)
        return;
    section = skua_section_create_range(skua_array_create1(cell_class, 8, NULL, 0), &range, NULL);
    skua_section_invoke(section, give_section_entry, &section, sizeof section);
}

static void reduce_pes(void)
{
    skua_future future = SKUA_FUTURE_INIT;
    int64_t     one    = 1;

    if (is_last())
        return;
    skua_allreduce(SKUA_SUM, SKUA_INT64, &one, 1, skua_done_future(&future));
    skua_future_wait(&future, NULL);
}

static void sync_some(void)
{
    if (skua_pe() == 0)
        skua_sync();
}

static void keep_items(void)
{
    int64_t item = 1;

    if (skua_pe() == 0)
        skua_stream_put(stream, skua_pes() - 1, &item);
}

static void wait_in_when(void)
{
    if (skua_pe() == 0)
        Sleeper_run_all(Sleeper_new(3));
}

static void do_nothing(void)
{
}

/* ---- jobs that end ------------------------------------------------------------------------ */

static void wait_for_timer(void)
{
    if (is_last())
        skua_timer_after(A_WHILE, skua_done_exit(0));
}

static void on_block(skua_msg *msg)
{
    skua_msg_free(msg);
    usleep((useconds_t)(A_WHILE * 1e6)); /* like a program that waits for input */
    skua_exit(0);
}

static void block_in_handler(void)
{
    if (skua_pe() == 0)
        skua_send_copy(skua_pes() - 1, block_handler, NULL, 0);
}

static double      end;
static skua_region region;

static void *external(void *arg)
{
    usleep((useconds_t)(A_WHILE * 1e6));
    CHECK(skua_notify_add(skua_at(region, 0, 0), 1) == SKUA_OK);
    return arg;
}

static void wait_for_external(void)
{
    pthread_t thread;

    if (skua_pe() != 0)
        return;
    CHECK(skua_region_create_local(sizeof(skua_notify), &region) == SKUA_OK);
    memset(skua_region_local(region), 0, sizeof(skua_notify));
    pthread_create(&thread, NULL, external, NULL);
    skua_notify_wait(skua_region_local(region), 1);
    pthread_join(thread, NULL);
    skua_exit(0);
}

static bool look_at_clock(void *arg)
{
    (void)arg;
    if (skua_time() < end)
        return true;
    skua_exit(0);
    return false;
}

static void work_when_idle(void)
{
    if (!is_last())
        return;
    end = skua_time() + A_WHILE;
    skua_idle_add(look_at_clock, NULL);
}

/* Sends a message from time to time, each after a timer. */
static void on_ping(skua_msg *msg)
{
    skua_msg_free(msg);
    if (skua_pe() == 0 && skua_time() > end)
        skua_exit(0);
    else
        skua_timer_after(0.01, skua_done_send((skua_pe() + 1) % skua_pes(), ping_handler));
}

static void ping(void)
{
    if (skua_pe() != 0)
        return;
    end = skua_time() + A_WHILE;
    skua_send_copy(0, ping_handler, NULL, 0);
}

/* PE 0 waits while PE 1 computes and leaves messages in the network. */
static void send_to_busy(void)
{
    double begun = skua_time();

    for (int i = 0; skua_pe() == 0 && i < 64; i++)
        skua_send(1, ping_handler, skua_msg_alloc(1 << 20)); /* more than sockets buffer */
    while (skua_pe() == 1 && skua_time() - begun < 4 * A_WHILE)
        usleep(1000);
    skua_sync();
    skua_exit(0);
}

/* Each PE takes itself for the root. */
static void wrong_root(void)
{
    static const double number = 1;

    skua_reduce(skua_pe(), SKUA_SUM, SKUA_DOUBLE, &number, 1, skua_done_nothing());
}

static void wrong_team_root(void)
{
    static double number, all[8];

    skua_team_gather(SKUA_TEAM_ALL, skua_pe(), &number, sizeof number, all, skua_done_nothing());
}

/* PEs 0 and 2 are a team, in which only PE 0 makes the call. */
static void call_in_split(void)
{
    skua_team team;

    CHECK(skua_team_split(SKUA_TEAM_ALL, skua_pe() % 2, skua_pe(), &team) == SKUA_OK);
    if (skua_pe() == 0)
        skua_team_barrier(team, skua_done_nothing());
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"nothing", do_nothing},         {"future", wait_for_future},  {"thread", wait_in_thread},
    {"element", poke_nobody},        {"quiescence", poke_and_ask}, {"elements", reduce_elements},
    {"section", reduce_section},     {"pes", reduce_pes},          {"sync", sync_some},
    {"stream", keep_items},          {"timer", wait_for_timer},    {"handler", block_in_handler},
    {"external", wait_for_external}, {"callback", work_when_idle}, {"ping", ping},
    {"when", wait_in_when},          {"root", wrong_root},         {"send", send_to_busy},
    {"team-root", wrong_team_root},  {"split", call_in_split},
};

static void start(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            cases[i].run();
}

int main(int argc, char **argv)
{
    skua_stream_def items = {.item_bytes = 8, .item = on_item, .patient = true};

    sleeper_register();
    cell_class         = skua_class_register(&(skua_class_def){.name = "cell"});
    poke_entry         = skua_method_register(cell_class, "poke", on_poke, 0);
    give_entry         = skua_method_register(cell_class, "give", on_give, 0);
    give_section_entry = skua_method_register(cell_class, "give section", on_give_section, 0);
    block_handler      = skua_handler_register("block", on_block);
    ping_handler       = skua_handler_register("ping", on_ping);
    stream             = skua_stream_register("items", &items);
    return skua_main(argc, argv, start);
}
