/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.c - repeats one operation N times, to be counted under callgrind.  The difference
 * between the counts of two values of N, divided by the difference of N, is the exact cost of the
 * operation.
 *
 * usage: instructions OPERATION N
 *        instructions each N OPERATION...
 *
 * The second form runs each operation N times and then 2 N times, in processes that fork after the
 * program is loaded, which takes callgrind longer than the operations; callgrind prints the counts
 * of each process in this order.
 *
 * On one PE:
 *   self      a message to this PE and its handler; the message is reused
 *   fresh     a message to this PE and its handler; the message is allocated and freed each time
 *   copy      skua_send_copy() of 8 bytes to this PE
 *   pass      a scheduler pass without work
 *   pass1     a scheduler pass with one channel that expects data; pass10000: with 10000 channels
 *   yield     a user thread yields and is resumed
 *   channel   skua_channel_put() of 8 bytes to this PE, the callback, and skua_channel_ready()
 *   put       skua_put() of 8 bytes;    get      skua_get() of 8 bytes
 *   add       skua_fetch_add64();       acc      skua_acc() of a double
 *   notify    skua_put_nb() of 8 bytes with a notification
 *   signal    skua_put_nb() of 8 bytes with a signal to this PE, and its handler
 *   row       skua_put_layout() of one row of 8 bytes
 *   acc-row   skua_acc_layout() of one row of a double; acc-row-nb: skua_acc_layout_nb()
 *   acc-nb    skua_acc_nb() of a double;   atomic-nb   skua_atomic_nb() that adds to a double
 *   fence     skua_fence()
 *   element   skua_invoke_copy() of 8 bytes to an array element of this PE, and its entry method
 *   doubles   element, with 16 doubles
 *   message   skua_invoke() of a message that the entry method passes on
 *   chare, group, cube   element, with a single chare, a group, an array of three dimensions
 *   local     skua_object_local() of a member of a group
 *   branch    skua_group_local()
 *   item      skua_stream_put() of 8 bytes to this PE and the delivery of batches
 *   flow      element, with structured control flow (skua/skuac_flow.h) that waits for the message
 *             by its reference number, and then for the next
 *
 * Between PEs 0 and 1, which share memory or do not:
 *   net       a message to PE 1, and back; it is reused
 *   copies    skua_send_copy() of 32 bytes to PE 1, and back
 *   rally     skua_invoke_copy_to() of 32 bytes to an array element of PE 1, and back
 *   many      N messages of 8 bytes, 240 at most, from all others to PE 0; PEs may be threads.
 *             Only the thread of PE 0 is to be counted, between two calls of on_many()
 *   net-put   skua_put_nb() of 8 bytes to PE 1; in the end N of them are outstanding
 *   net-acc   skua_acc_nb() likewise
 *   net-get   skua_get_nb() likewise.  Of these three, only the calls are to be counted
 *             (--toggle-collect)
 *   net-self  skua_put() to this PE while OUTSTANDING of net-put are outstanding
 */
#include <skua/skuac_flow.h>
#include <skua/skua.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static skua_handler self_handler, fresh_handler, copy_handler, net_handler, copies_handler,
    many_handler;
static long left;
static int  me;

static void on_self(skua_msg *msg)
{
    if (--left > 0)
        skua_send(me, self_handler, msg);
    else
        skua_exit(0);
}

static void on_fresh(skua_msg *msg)
{
    skua_msg_free(msg);
    if (--left > 0)
        skua_send(me, fresh_handler, skua_msg_alloc(8));
    else
        skua_exit(0);
}

static void on_copy(skua_msg *msg)
{
    skua_msg_free(msg);
    if (--left > 0)
        skua_send_copy(me, copy_handler, &left, 8);
    else
        skua_exit(0);
}

static void on_net(skua_msg *msg)
{
    if (me == 1 || --left > 0)
        skua_send(1 - me, net_handler, msg);
    else
        skua_exit(0);
}

static void start_net(void)
{
    if (me == 0)
        skua_send(1, net_handler, skua_msg_alloc(8));
}

/* Sends a copy of 32 bytes to the other of PEs 0 and 1. */
static void on_copies(skua_msg *msg)
{
    if (me == 1 || --left > 0)
        skua_send_copy(1 - me, copies_handler, skua_msg_data(msg), skua_msg_size(msg));
    else
        skua_exit(0);
    skua_msg_free(msg);
}

static void start_copies(void)
{
    static const char data[32];

    if (me == 0)
        skua_send_copy(1, copies_handler, data, sizeof data);
}

/* PE 0 exits with the last message.  Only PE 0 changes `left`, which PEs that are threads share. */
static void on_many(skua_msg *msg)
{
    skua_msg_free(msg);
    if (--left == 0)
        skua_exit(0);
}

/* Each sender has its part of the messages.  It begins when PE 0 has left skua_sync(), in which PE
 * 0 would receive messages at another cost; and PE 0 does not poll before all are in its inbox, so
 * that it executes no empty passes between them.  So each run counts the same. */
static void start_many(void)
{
    long           senders = skua_pes() - 1, pe = skua_pe();
    skua_region    region;
    uint64_t       old;
    atomic_size_t *begun, *done; /* of PE 0, which is in the same process or host */

    if (skua_region_create(64, &region) != SKUA_OK)
        skua_abort("cannot create the region");
    begun = skua_gaddr_local(skua_at(region, 0, 0));
    done  = begun + 1;
    if (pe == 0)
        memset((void *)begun, 0, 2 * sizeof *begun);
    skua_sync();
    if (pe == 0)
        atomic_store(begun, 1);
    while (!atomic_load(begun))
        sched_yield();
    for (long i = pe - 1; pe > 0 && i < left; i += senders)
        skua_send_copy(0, many_handler, &i, sizeof i);
    if (pe > 0)
        skua_fetch_add64(skua_at(region, 0, sizeof *begun), 1, &old);
    while (pe == 0 && atomic_load(done) < (size_t)senders)
        sched_yield();
    if (pe == 0)
        skua_poll((size_t)-1);
}

/* ---- operations while others are outstanding ------------------------------------ */

#define OUTSTANDING 1000

static void start_operation(const char *what, skua_region region)
{
    const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL};
    static double     x;

    if (strcmp(what, "net-get") == 0)
        skua_get_nb(&x, skua_at(region, 1, 0), sizeof x, NULL);
    else if (strcmp(what, "net-acc") == 0)
        skua_acc_nb(skua_at(region, 1, 0), &x, sizeof x, &sum, NULL);
    else
        skua_put_nb(skua_at(region, 1, 0), &x, sizeof x, NULL);
}

static bool do_outstanding(const char *what)
{
    bool        self = strcmp(what, "net-self") == 0;
    skua_region region;

    if (strncmp(what, "net-", 4) != 0)
        return false;
    if (skua_region_create(64, &region) != SKUA_OK)
        skua_abort("cannot create the region");
    skua_sync();
    for (long i = self ? OUTSTANDING : left; me == 0 && i > 0; i--)
        start_operation(what, region);
    for (; me == 0 && self && left > 0; left--)
        skua_put(skua_at(region, 0, 8), &left, sizeof left);
    skua_sync();
    if (me == 0)
        skua_exit(0);
    return true;
}

static void yielding(void *arg)
{
    (void)arg;
    while (--left > 0)
        skua_thread_yield();
    skua_exit(0);
}

/* A periodic function, which the scheduler calls once in 64 passes without work. */
static bool idling(void *arg)
{
    (void)arg;
    left -= 64;
    if (left <= 0)
        skua_exit(0);
    return true;
}

/* ---- channels ---------------------------------------------------------------- */

static skua_channel channel;
static skua_sender *sender;

static void on_channel(void *arg)
{
    (void)arg;
    if (--left > 0) {
        skua_channel_ready(channel);
        skua_channel_put(sender);
    } else {
        skua_exit(0);
    }
}

static void make_channel(void)
{
    static uint64_t to, from;
    skua_layout     into = skua_layout_contiguous(&to, sizeof to),
                out      = skua_layout_contiguous(&from, sizeof from);

    if (skua_channel_create(&into, on_channel, NULL, NULL, &channel) != SKUA_OK)
        skua_abort("cannot create a channel");
    sender = skua_channel_open(channel, &out);
}

static bool do_channels(const char *what)
{
    long idle = strncmp(what, "pass", 4) == 0 ? atol(what + 4) : 0;

    if (strcmp(what, "channel") == 0) {
        make_channel();
        skua_channel_put(sender);
        return true;
    }
    for (long i = 0; i < idle; i++)
        make_channel();
    if (idle > 0)
        skua_idle_add(idling, NULL);
    return idle > 0;
}

/* ---- one-sided --------------------------------------------------------------- */

static skua_handler signal_handler;
static skua_region  region;
static uint64_t     number;

static void put_once(skua_gaddr at)
{
    skua_put(at, &number, sizeof number);
}

static void notify_once(skua_gaddr at)
{
    skua_put_nb(at, &number, sizeof number,
                &(skua_rma_params){.notify = skua_at(region, at.pe, at.offset + 8)});
}

static void signal_once(void)
{
    skua_put_nb(skua_at(region, me, 0), &number, sizeof number,
                &(skua_rma_params){.signal = signal_handler});
}

static void on_signal(skua_msg *msg)
{
    skua_msg_free(msg);
    if (left-- > 0)
        signal_once();
    else
        skua_exit(0);
}

static void start_signal(void)
{
    skua_region_create(64, &region);
    signal_once();
}

static void get_once(skua_gaddr at)
{
    skua_get(&number, at, sizeof number);
}

static void add_once(skua_gaddr at)
{
    skua_fetch_add64(at, 1, &number);
}

static const double      one = 1;
static const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL};

static void acc_once(skua_gaddr at)
{
    skua_acc(at, &one, sizeof one, &sum);
}

static void acc_nb_once(skua_gaddr at)
{
    skua_acc_nb(at, &one, sizeof one, &sum, NULL);
}

static void atomic_nb_once(skua_gaddr at)
{
    skua_atomic_nb(at, SKUA_ATOMIC_ADD, SKUA_DOUBLE, &one, NULL, NULL);
}

static void fence_once(skua_gaddr at)
{
    skua_fence(at.pe);
}

static const skua_layout row = {
    .kind = SKUA_LAYOUT_STRIDED, .bytes = 8, .strided = {1, {1}, {8192}}};

static void row_once(skua_gaddr at)
{
    skua_layout word = skua_layout_contiguous(&number, sizeof number);

    skua_put_layout(at, &row, &word);
}

static void acc_row_once(skua_gaddr at)
{
    skua_layout word = skua_layout_contiguous(&one, sizeof one);

    skua_acc_layout(at, &row, &word, &sum);
}

static void acc_row_nb_once(skua_gaddr at)
{
    skua_layout word = skua_layout_contiguous(&one, sizeof one);

    skua_acc_layout_nb(at, &row, &word, &sum, NULL);
}

#define SCATTERED 64 /* number of elements of an accumulate at a list of offsets */

/* Accumulates at scattered offsets in one call. */
static void scatter_once(skua_gaddr at)
{
    static const skua_update bits = {SKUA_BIT_XOR, SKUA_UINT64, NULL};
    static uint64_t          value[SCATTERED];
    static ptrdiff_t         offset[SCATTERED];
    skua_layout              local  = skua_layout_contiguous(value, sizeof value);
    skua_layout              remote = skua_layout_indexed(NULL, sizeof *value, SCATTERED, offset);

    for (int i = 0; i < SCATTERED; i++)
        offset[i] = i * 29 % 8 * 8;
    skua_acc_layout(at, &remote, &local, &bits);
}

static const struct {
    const char *name;
    void (*once)(skua_gaddr at);
} onesided[] = {{"put", put_once},         {"get", get_once},
                {"add", add_once},         {"acc", acc_once},
                {"acc-nb", acc_nb_once},   {"row", row_once},
                {"acc-row", acc_row_once}, {"acc-row-nb", acc_row_nb_once},
                {"notify", notify_once},   {"scatter", scatter_once},
                {"fence", fence_once},     {"atomic-nb", atomic_nb_once}};

/* Runs @p what if it is a one-sided operation.  Returns true in that case. */
static bool do_onesided(const char *what)
{
    for (size_t i = 0; i < sizeof onesided / sizeof *onesided; i++)
        if (strcmp(what, onesided[i].name) == 0) {
            skua_region_create(64, &region);
            while (left-- > 0)
                onesided[i].once(skua_at(region, me, 0));
            skua_exit(0);
            return true;
        }
    return false;
}

/* ---- objects ------------------------------------------------------------------- */

struct ball {
    double sum;
};

static skua_entry      copied_entry, passed_entry;
static skua_class      ball_class;
static skua_collection balls;
static skua_ref        partner; /* the element whose entry runs */
static double          payload[16];

static void on_copied(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data;
    if (--left > 0)
        skua_invoke_copy_to(&partner, copied_entry, payload, bytes);
    else
        skua_exit(0);
}

static void on_passed(void *self, skua_msg *msg)
{
    (void)self;
    if (--left > 0)
        skua_invoke(partner, passed_entry, msg);
    else
        skua_exit(0);
}

/* ---- elements of two PEs -------------------------------------------------------------- */

/* The arguments of the calls between elements 0 and 1 of an array with one element on each PE. */
struct rally {
    skua_collection of;
    int64_t         unused[3];
};

_Static_assert(sizeof(struct rally) == 32, "the guard is for calls of 32 bytes");

static skua_entry rally_entry, look_entry;

static void on_rally(void *self, const void *data, size_t bytes)
{
    const struct rally *rally = data;
    skua_ref            to    = skua_element1(rally->of, 1 - me);

    (void)self;
    if (me == 1 || --left > 0)
        skua_invoke_copy_to(&to, rally_entry, rally, bytes);
    else
        skua_exit(0);
}

static bool do_rally(const char *what)
{
    struct rally rally = {.unused = {0}};

    if (strcmp(what, "rally") != 0)
        return false;
    if (me != 0)
        return true;
    rally.of = skua_array_create1(ball_class, skua_pes(), NULL, 0);
    skua_invoke_copy(skua_element1(rally.of, 1), rally_entry, &rally, sizeof rally);
    return true;
}

/* The entry of a member, which looks itself up by its group or by its reference. */
static void on_look(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    for (; *(const bool *)data && left > 0; left--)
        if (skua_group_local(partner.of) != self)
            skua_abort("the member of a group was not found");
    for (; left > 0; left--)
        if (skua_object_local(partner) != self)
            skua_abort("a member of a group was not found");
    skua_exit(0);
}

static bool do_local(const char *what)
{
    bool branch = strcmp(what, "branch") == 0;

    if (!branch && strcmp(what, "local") != 0)
        return false;
    partner = skua_member(skua_group_create(ball_class, NULL, 0), 0);
    skua_invoke_copy(partner, look_entry, &branch, sizeof branch);
    return true;
}

static bool do_objects(const char *what)
{
    size_t bytes = strcmp(what, "doubles") == 0 ? sizeof payload : 8;

    balls   = skua_array_create1(ball_class, 1000, NULL, 0);
    partner = skua_element1(balls, 777);
    if (strcmp(what, "group") == 0)
        partner = skua_member(skua_group_create(ball_class, NULL, 0), 0);
    else if (strcmp(what, "chare") == 0)
        partner = skua_chare_create(ball_class, 0, NULL, 0);
    else if (strcmp(what, "cube") == 0)
        partner = skua_element3(skua_array_create3(ball_class, 10, 10, 10, NULL, 0), 7, 7, 7);
    else if (strcmp(what, "message") == 0)
        skua_invoke(partner, passed_entry, skua_msg_alloc(8));
    else if (strcmp(what, "element") != 0 && strcmp(what, "doubles") != 0)
        return false;
    if (strcmp(what, "message") != 0)
        skua_invoke_copy(partner, copied_entry, payload, bytes);
    return true;
}

static void register_objects(void)
{
    static const skua_class_def def = {.name = "ball", .bytes = sizeof(struct ball)};

    ball_class   = skua_class_register(&def);
    copied_entry = skua_method_register(ball_class, "copied", on_copied, 0);
    passed_entry = skua_entry_register(ball_class, "passed", on_passed, 0);
    rally_entry  = skua_method_register(ball_class, "rally", on_rally, 0);
    look_entry   = skua_method_register(ball_class, "look", on_look, 0);
}

/* ---- structured control flow, as skuac generates it ------------------------------------ */

struct juggler {
    long caught;
};

struct juggler_run {
    skuac_frame   frame;
    skuac_arrival ball;
    skuac_wait    wait[1];
};

static skua_class juggler_class;
static skua_entry run_entry, thrown_entry;

static void juggler_run_go(skuac_frame *frame)
{
    struct juggler_run *locals = (void *)frame;
    struct juggler     *self   = frame->self;

    switch (frame->at) {
    case 1: goto at_1;
    default: break;
    }
    while (left > 0) {
        skua_invoke_copy_to(&partner, thrown_entry, &self->caught, sizeof self->caught);
        skuac_flow_want_reference(frame, 0, 0, 0, self->caught);
        if (!skuac_flow_match(frame, 1, 1))
            return;
    at_1:
        locals->ball = skuac_flow_got(frame, 0);
        self->caught++;
        left--;
        skuac_flow_drop(&locals->ball);
    }
    skua_exit(0);
    skuac_flow_end(frame);
}

static const skuac_frame_type juggler_run_type = {"juggler.run", sizeof(struct juggler_run), 1, 1,
                                                  juggler_run_go};
static const skuac_frame_type *const juggler_types[] = {&juggler_run_type};
static const char *const             juggler_whens[] = {"thrown"};
static const skuac_flow_class        juggler_flow    = {
              "juggler", SKUAC_FLOW_AT(sizeof(struct juggler)), 1, 1, juggler_types, juggler_whens};

static void on_run(void *self, const void *data, size_t bytes)
{
    static const skuac_arrival nothing;

    (void)data, (void)bytes;
    skuac_flow_begin(&juggler_flow, self, &juggler_run_type, nothing);
}

static void on_thrown(void *self, const void *data, size_t bytes)
{
    skuac_flow_arrive(&juggler_flow, self, 0, *(const long *)data, data, bytes);
}

static void destroy_juggler(void *self)
{
    skuac_flow_destroy(&juggler_flow, self);
}

static bool do_flow(const char *what)
{
    if (strcmp(what, "flow") != 0)
        return false;
    partner = skua_element1(skua_array_create1(juggler_class, 1000, NULL, 0), 777);
    skua_invoke_copy(partner, run_entry, NULL, 0);
    return true;
}

static void register_flow(void)
{
    static const skua_class_def def = {.name    = "juggler",
                                       .bytes   = SKUAC_FLOW_BYTES(sizeof(struct juggler), 1),
                                       .destroy = destroy_juggler};

    juggler_class = skua_class_register(&def);
    run_entry     = skua_method_register(juggler_class, "run", on_run, 0);
    thrown_entry  = skua_method_register(juggler_class, "thrown", on_thrown, 0);
}

/* ---- streams ------------------------------------------------------------------- */

static skua_stream items;

static void on_items(void *arg, const void *data, size_t count)
{
    (void)arg, (void)data;
    left -= (long)count;
    if (left == 0)
        skua_exit(0);
}

static bool do_stream(const char *what)
{
    if (strcmp(what, "item") != 0)
        return false;
    for (long i = 0; i < left; i++)
        skua_stream_put(items, me, &i);
    return true;
}

static void register_stream(void)
{
    static const skua_stream_def def = {.item_bytes = 8, .batch = on_items};

    items = skua_stream_register("items", &def);
}

static void start(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";

    left = argc > 2 ? atol(argv[2]) : 0;
    me   = skua_pe();
    if (strcmp(what, "self") == 0) {
        skua_send(0, self_handler, skua_msg_alloc(8));
    } else if (strcmp(what, "fresh") == 0) {
        skua_send(0, fresh_handler, skua_msg_alloc(8));
    } else if (strcmp(what, "copy") == 0) {
        skua_send_copy(0, copy_handler, &left, 8);
    } else if (strcmp(what, "net") == 0) {
        start_net();
    } else if (strcmp(what, "copies") == 0) {
        start_copies();
    } else if (strcmp(what, "many") == 0) {
        start_many();
    } else if (strcmp(what, "signal") == 0) {
        start_signal();
    } else if (strcmp(what, "pass") == 0) {
        skua_idle_add(idling, NULL);
    } else if (strcmp(what, "yield") == 0) {
        skua_thread_detach(skua_thread_create(yielding, NULL, 0));
    } else if (!do_outstanding(what) && !do_onesided(what) && !do_rally(what) && !do_local(what) &&
               !do_objects(what) && !do_flow(what) && !do_channels(what) && !do_stream(what)) {
        fprintf(stderr, "usage: instructions "
                        "net|copies|rally|many|net-put|net-acc|net-get|net-self|self|fresh|copy|"
                        "pass|pass1|yield|"
                        "channel|put|get|add|"
                        "acc|row|"
                        "element|doubles|message|chare|group|cube|local|branch|item|flow N\n");
        skua_exit(2);
    }
}

/* Runs an operation in a process of its own.  Returns whether it succeeds. */
static bool run_alone(char *program, char *what, long times)
{
    char  count[32];
    char *args[] = {program, what, count, NULL};
    int   status;
    pid_t child = fork();

    if (child == 0) {
        snprintf(count, sizeof count, "%ld", times);
        exit(skua_main(3, args, start));
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int run_each(int argc, char **argv)
{
    long times = atol(argv[2]);

    for (int i = 3; i < argc; i++)
        if (!run_alone(argv[0], argv[i], times) || !run_alone(argv[0], argv[i], 2 * times))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    self_handler   = skua_handler_register("self", on_self);
    fresh_handler  = skua_handler_register("fresh", on_fresh);
    copy_handler   = skua_handler_register("copy", on_copy);
    net_handler    = skua_handler_register("net", on_net);
    copies_handler = skua_handler_register("copies", on_copies);
    many_handler   = skua_handler_register("many", on_many);
    signal_handler = skua_handler_register("signal", on_signal);
    register_objects();
    register_flow();
    register_stream();
    if (argc > 3 && strcmp(argv[1], "each") == 0)
        return run_each(argc, argv);
    return skua_main(argc, argv, start);
}
