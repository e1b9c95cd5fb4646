/* SPDX-License-Identifier: Apache-2.0 */
/* quiescence_test.c - hooks: what a PE delays is sent before there is quiescence.  An external
 * thread that has sent a message before and is inside of a call is activity.  (Quiescence itself:
 * tests/quiescence.c.) */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <skua/skua.h>

#include "objects/services/quiescence.h"
#include "onesided/pe/external_thread.h"
#include "tests/tap.h"

#define PES  3
#define HOPS 50

/* An item goes around; each PE keeps it until it is asked to send it on. */
struct quiescence_test {
    int kept; /* hops that are left, or 0 */
};

static skua_handler item_handler, outside_handler;
static skua_pe_data kept_key;
static _Atomic int  hops, ended, outside_arrived;
static _Atomic bool outside_inside, outside_may_leave;

static struct quiescence_test *quiescence_test_here(void)
{
    return skua_pe_data_get(kept_key);
}

static void quiescence_test_on_item(skua_msg *msg)
{
    quiescence_test_here()->kept = *(int *)skua_msg_data(msg);
    skua_msg_free(msg);
    atomic_fetch_add(&hops, 1);
}

static bool quiescence_test_flush(void *arg)
{
    struct quiescence_test *m    = arg;
    int                     left = m->kept - 1;

    if (m->kept == 0)
        return false;
    m->kept = 0;
    skua_send_copy((skua_pe() + 1) % skua_pes(), item_handler, &left, sizeof left);
    return true;
}

static void quiescence_test_on_outside(skua_msg *msg)
{
    skua_msg_free(msg);
    atomic_fetch_add(&outside_arrived, 1);
}

/* An external thread: a message in one call, then a call that takes long. */
static void *quiescence_test_outside(void *arg)
{
    struct ski_caller caller;

    CHECK(ski_caller_enter(&caller));
    skua_send_copy(0, outside_handler, NULL, 0);
    ski_caller_leave(&caller);
    while (!atomic_load(&outside_arrived))
        sched_yield();
    CHECK(ski_caller_enter(&caller));
    atomic_store(&outside_inside, true);
    while (!atomic_load(&outside_may_leave))
        sched_yield();
    ski_caller_leave(&caller);
    return arg;
}

static void quiescence_test_beside_a_call(void)
{
    skua_counter quiet = SKUA_COUNTER_INIT, later = SKUA_COUNTER_INIT;
    pthread_t    thread;

    CHECK(pthread_create(&thread, NULL, quiescence_test_outside, NULL) == 0);
    while (!atomic_load(&outside_inside))
        skua_poll(1);
    skua_quiescence(skua_done_count(&quiet));
    skua_timer_after(0.01, skua_done_count(&later));
    skua_counter_wait(&later, 1);
    CHECK(quiet.value == 0); /* the call may still send */
    atomic_store(&outside_may_leave, true);
    skua_counter_wait(&quiet, 1);
    pthread_join(thread, NULL);
}

static void quiescence_test_start(int argc, char **argv)
{
    skua_counter quiet = SKUA_COUNTER_INIT;

    (void)argc, (void)argv;
    ski_quiescence_hook(quiescence_test_flush, quiescence_test_here());
    if (skua_pe() == 0) {
        quiescence_test_beside_a_call();
        quiescence_test_here()->kept = HOPS;
    }
    skua_sync();
    skua_quiescence(skua_done_count(&quiet));
    skua_counter_wait(&quiet, 1);
    CHECK(atomic_load(&hops) == HOPS); /* all that was kept back has been sent */
    ski_quiescence_unhook(quiescence_test_flush, quiescence_test_here());
    if (atomic_fetch_add(&ended, 1) == PES - 1)
        skua_exit(0);
}

int main(void)
{
    char *args[] = {(char[]){"quiescence_test"}, NULL};

    setenv("SKUA_THREADS", "3", 1);
    setenv("SKUA_PIN", "none", 1);
    item_handler    = skua_handler_register("item", quiescence_test_on_item);
    outside_handler = skua_handler_register("outside", quiescence_test_on_outside);
    kept_key        = skua_pe_data_register(sizeof(struct quiescence_test));
    OK(skua_main(1, args, quiescence_test_start) == 0, "the job ends well");
    return tap_end();
}
