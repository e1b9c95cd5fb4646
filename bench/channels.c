/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.c - round trips through a pair of channels between two PEs, callback to callback, and
 * round trips of messages whose data is copied in and out.  More PEs are pairs: each PE of the
 * first half leads a pair with its partner in the other half.
 *
 *   channel        buffers in memory that both PEs reach (skua_channel_alloc)
 *   channel-heap   buffers from malloc(), into which the receiver copies data of another process
 *   message        skua_send_copy(); the handler copies the data into a buffer
 *   entry          skua_invoke_copy() of an array element; the entry copies the data into a buffer:
 *                  what the authors of CkDirect compare with, a message from chare to chare
 *   learned        skua_invoke_inplace() of an array element, whose messages become a learned
 *                  channel
 *
 * A job of several hosts reports them as ...-tcp, with the name of its driver.
 *
 * A leader goes through series, sizes and batches; its partner answers each transfer with one of
 * the same kind.  The batches of several pairs begin together, after a reduction of the times of
 * the previous one: a batch takes as long as on the slowest pair, and the best batch counts.  Two
 * arguments are the largest and the smallest size to measure.  The buffers have the largest size,
 * and a pair of channels is made for each size.
 */
#include <skua/skua.h>

#include "bench.h"

enum { SHARED, HEAP, MESSAGE, ENTRY, LEARNED, SERIES };

static const char *const series_name[SERIES] = {"channel", "channel-heap", "message", "entry",
                                                "learned"};

/* The state of a PE. */
struct channel_side {
    BENCH_APART char *buffer[2]; /* destinations: SHARED, HEAP */
    char             *source[2]; /* sources */
    skua_channel      in;
    skua_sender      *out;
    double            start, best;
    int               batch, trip, series;
    int               partner;
    bool              leads; /* this PE is in the first half */
    bool              net;   /* the partner is on another host */
    size_t            size;
    skua_collection   ends; /* element i is on PE i */
    int64_t           sent; /* messages of the series LEARNED */
};

static skua_pe_data side_key;
static skua_handler data_handler, setting_handler, ends_handler;
static skua_class   end_class;
static skua_entry   data_entry, learned_entry;
static size_t       most_bytes = BENCH_BYTES;

static struct channel_side *self(void)
{
    return skua_pe_data_get(side_key);
}

static size_t bytes_of(const struct channel_side *side)
{
    return bench_sizes[side->size];
}

static void send_learned(struct channel_side *side)
{
    skua_layout from = skua_layout_contiguous(side->source[SHARED], bytes_of(side));

    skua_invoke_inplace(skua_element1(side->ends, side->partner), learned_entry, ++side->sent, NULL,
                        0, &from);
}

static void put(struct channel_side *side)
{
    if (side->series == LEARNED)
        send_learned(side);
    else if (side->series == MESSAGE)
        skua_send_copy(side->partner, data_handler, side->source[HEAP], bytes_of(side));
    else if (side->series == ENTRY)
        skua_invoke_copy(skua_element1(side->ends, side->partner), data_entry, side->source[HEAP],
                         bytes_of(side));
    else
        skua_channel_put(side->out);
}

static void next_setting(struct channel_side *side);

/* Records the time of a batch, of a round trip of the slowest pair.  Begins the next batch or the
 * next measurement. */
static void batch_done(struct channel_side *side, double time)
{
    side->best = time < side->best ? time : side->best;
    if (++side->batch == bench_batches(side->net, skua_pes())) {
        next_setting(side);
        return;
    }
    side->start = bench_now();
    put(side);
}

static void on_batch(void *arg, const void *slowest, size_t bytes)
{
    struct channel_side *side = arg;

    (void)bytes;
    if (side->leads)
        batch_done(side, *(const double *)slowest);
}

/* Ends a batch on this PE, and begins the next when it has ended on all PEs.  Partners, which do
 * not measure, contribute 0. */
static void end_batch(struct channel_side *side, double time)
{
    side->trip = 0;
    if (skua_pes() == 2)
        batch_done(side, time);
    else
        skua_allreduce(SKUA_MAX, SKUA_DOUBLE, &time, 1, skua_done_call(on_batch, side));
}

static int trips_of(const struct channel_side *side)
{
    return side->net ? bench_trips_net(bytes_of(side)) : bench_trips(bytes_of(side));
}

/* Data has returned to the leader. */
static void trip_done(struct channel_side *side)
{
    if (++side->trip < trips_of(side))
        put(side);
    else
        end_batch(side, (bench_now() - side->start) / side->trip);
}

static void answer(struct channel_side *side)
{
    put(side);
    if (skua_pes() > 2 && ++side->trip == trips_of(side))
        end_batch(side, 0);
}

static void on_arrival(struct channel_side *side)
{
    if (side->leads)
        trip_done(side);
    else
        answer(side);
}

static void on_channel(void *arg)
{
    struct channel_side *side = arg;

    skua_channel_ready(side->in);
    on_arrival(side);
}

static void on_data(skua_msg *msg)
{
    struct channel_side *side = self();

    memcpy(side->buffer[SHARED], skua_msg_data(msg), skua_msg_size(msg));
    skua_msg_free(msg);
    on_arrival(side);
}

static void on_data_entry(void *end, const void *data, size_t bytes)
{
    struct channel_side *side = self();

    (void)end;
    memcpy(side->buffer[SHARED], data, bytes);
    on_arrival(side);
}

static skua_layout learned_buffer(void)
{
    return skua_layout_contiguous(self()->buffer[SHARED], bytes_of(self()));
}

static bool land(void *end, int64_t reference, const void *head, skua_layout *to)
{
    (void)end, (void)reference, (void)head;
    *to = learned_buffer();
    return true;
}

static void on_learned(void *end, skua_msg *msg)
{
    skua_layout to = learned_buffer();

    (void)end;
    skua_layout_copy(&to, skua_inplace_data(msg));
    skua_msg_free(msg);
    on_arrival(self());
}

/* ---- settings --------------------------------------------------------------------- */

/* A setting: the next measurement, and the channel into the sender's buffer. */
struct channel_setting {
    int          series;
    size_t       size;
    skua_channel in;

    skua_collection ends;
};

/* Creates a channel into this PE's buffer, if the series uses one, and sends the setting to the
 * partner. */
static void send_setting(struct channel_side *side)
{
    skua_layout to = skua_layout_contiguous(side->buffer[side->series == HEAP], bytes_of(side));
    struct channel_setting setting = {.series = side->series, .size = side->size};

    if (side->series < MESSAGE)
        skua_channel_create(&to, on_channel, side, "bench", &side->in);
    setting.in   = side->in;
    setting.ends = side->ends;
    skua_send_copy(side->partner, setting_handler, &setting, sizeof setting);
}

static void drop_channels(struct channel_side *side)
{
    if (side->out) {
        skua_channel_close(side->out);
        skua_channel_destroy(side->in);
    }
    side->out = NULL;
}

/* Begins the first batch when all PEs have called it: as after a batch that took forever, which no
 * measurement counts. */
static void begin(struct channel_side *side)
{
    side->best  = 1e9;
    side->batch = -1;
    end_batch(side, 1e9);
}

/* The partner applies the setting and answers; then the leader begins, so both channels are open
 * before the first put. */
static void on_setting(skua_msg *msg)
{
    struct channel_side   *side    = self();
    struct channel_setting setting = *(struct channel_setting *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (!side->leads) {
        drop_channels(side);
        side->series = setting.series;
        side->size   = setting.size;
        side->ends   = setting.ends;
    }
    if (side->series < MESSAGE) {
        skua_layout from = skua_layout_contiguous(side->source[side->series], bytes_of(side));

        side->out = skua_channel_open(setting.in, &from);
    }
    if (!side->leads)
        send_setting(side);
    if (side->leads || skua_pes() > 2)
        begin(side);
}

/* Returns the suffix of a series name, which says where the PEs of a pair are. */
static const char *suffix(const struct channel_side *side)
{
    static char text[32];

    if (side->net)
        snprintf(text, sizeof text, "-%s", getenv("SKUA_DRIVER") ? getenv("SKUA_DRIVER") : "net");
    else
        snprintf(text, sizeof text, "%s", skua_processes() == 1 ? "-threads" : "");
    return text;
}

/* Runs on a leader: PE 0 reports the result.  Starts the next measurement. */
static void next_setting(struct channel_side *side)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", series_name[side->series], suffix(side));
    if (skua_pe() == 0)
        bench_report("channels", name, bytes_of(side), "roundtrip_us", side->best * 1e6);
    drop_channels(side);
    if (++side->series == SERIES) { /* series that are compared are measured close to each other */
        side->series = 0;
        side->size++;
    }
    if (side->size < BENCH_SIZES && bytes_of(side) <= most_bytes)
        send_setting(side);
    else if (skua_pe() == 0)
        skua_exit(0);
}

/* Tells a PE the array of the ends of all pairs; the leaders begin. */
static void on_ends(skua_msg *msg)
{
    struct channel_side *side = self();

    memcpy(&side->ends, skua_msg_data(msg), sizeof side->ends);
    skua_msg_free(msg);
    if (side->leads)
        send_setting(side);
}

static void send_ends(void)
{
    skua_collection ends = skua_array_create1(end_class, skua_pes(), NULL, 0);
    skua_msg       *msg  = skua_msg_alloc(sizeof ends);

    memcpy(skua_msg_data(msg), &ends, sizeof ends);
    skua_broadcast(ends_handler, msg, skua_done_nothing());
}

static void start(int argc, char **argv)
{
    struct channel_side *side = self();

    if (argc > 1)
        most_bytes = (size_t)atoll(argv[1]);
    if (skua_pes() % 2 != 0)
        skua_abort("bench-channels needs pairs of PEs: an even number, as in skuarun -n 2");
    side->leads          = bench_leads(skua_pe(), skua_pes());
    side->partner        = bench_partner(skua_pe(), skua_pes());
    side->buffer[SHARED] = skua_channel_alloc(BENCH_BYTES);
    side->source[SHARED] = skua_channel_alloc(BENCH_BYTES);
    /* The alignment of the buffers of floor.c. */
    side->buffer[HEAP] = aligned_alloc(128, BENCH_BYTES);
    side->source[HEAP] = aligned_alloc(128, BENCH_BYTES);
    for (int i = 0; i < 2; i++) {
        memset(side->buffer[i], 1, BENCH_BYTES);
        memset(side->source[i], 2, BENCH_BYTES);
    }
    side->size = 1; /* channels of 0 bytes do not exist */
    while (argc > 2 && bytes_of(side) < (size_t)atoll(argv[2]))
        side->size++;
    side->net = skua_hosts() > 1;
    skua_sync();
    if (skua_pe() == 0)
        send_ends();
}

int main(int argc, char **argv)
{
    skua_class_def end = {.name = "end", .bytes = 1, .pup = skua_pup_plain};

    setenv("SKUA_LEARNED_CHANNELS", "1", 0);
    end_class       = skua_class_register(&end);
    data_entry      = skua_method_register(end_class, "data", on_data_entry, 0);
    learned_entry   = skua_inplace_register(end_class, "learned", on_learned, land, 0);
    data_handler    = skua_handler_register("data", on_data);
    setting_handler = skua_handler_register("setting", on_setting);
    ends_handler    = skua_handler_register("ends", on_ends);
    side_key        = skua_pe_data_register(sizeof(struct channel_side));
    return skua_main(argc, argv, start);
}
