/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.c - round trips through a pair of channels between two PEs, callback to callback, and
 * round trips of messages whose data is copied in and out.
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
 * PE 0 goes through series, sizes and batches; PE 1 answers each transfer with one of the same
 * kind.  Two arguments are the largest and the smallest size to measure.  The buffers have the
 * largest size, and a pair of channels is made for each size.
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
    bool              net; /* the other PE is on another host */
    size_t            size;
    skua_collection   pair; /* element i is on PE i */
    int64_t           sent; /* messages of the series LEARNED */
};

static skua_pe_data side_key;
static skua_handler data_handler, setting_handler;
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

    skua_invoke_inplace(skua_element1(side->pair, 1 - skua_pe()), learned_entry, ++side->sent, NULL,
                        0, &from);
}

static void put(struct channel_side *side)
{
    if (side->series == LEARNED)
        send_learned(side);
    else if (side->series == MESSAGE)
        skua_send_copy(1 - skua_pe(), data_handler, side->source[HEAP], bytes_of(side));
    else if (side->series == ENTRY)
        skua_invoke_copy(skua_element1(side->pair, 1 - skua_pe()), data_entry, side->source[HEAP],
                         bytes_of(side));
    else
        skua_channel_put(side->out);
}

static void next_setting(struct channel_side *side);

/* Records a completed round trip on PE 0. Returns 0 if the measurement of this size is over. */
static int trip_done(struct channel_side *side)
{
    int    trips = side->net ? bench_trips_net(bytes_of(side)) : bench_trips(bytes_of(side));
    double time;

    if (++side->trip < trips)
        return 1;
    time       = (bench_now() - side->start) / side->trip;
    side->best = time < side->best ? time : side->best;
    side->trip = 0;
    if (++side->batch == (side->net ? BENCH_BATCHES_NET : BENCH_BATCHES)) {
        next_setting(side);
        return 0;
    }
    side->start = bench_now();
    return 1;
}

static void on_arrival(struct channel_side *side)
{
    if (skua_pe() == 1 || trip_done(side))
        put(side);
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

    skua_collection pair;
};

/* Creates a channel into this PE's buffer, if the series uses one, and sends the setting to the
 * peer. */
static void send_setting(struct channel_side *side)
{
    skua_layout to = skua_layout_contiguous(side->buffer[side->series == HEAP], bytes_of(side));
    struct channel_setting setting = {.series = side->series, .size = side->size};

    if (side->series < MESSAGE)
        skua_channel_create(&to, on_channel, side, "bench", &side->in);
    setting.in   = side->in;
    setting.pair = side->pair;
    skua_send_copy(1 - skua_pe(), setting_handler, &setting, sizeof setting);
}

static void drop_channels(struct channel_side *side)
{
    if (side->out) {
        skua_channel_close(side->out);
        skua_channel_destroy(side->in);
    }
    side->out = NULL;
}

static void begin(struct channel_side *side)
{
    side->best  = 1e9;
    side->batch = side->trip = 0;
    side->start              = bench_now();
    put(side);
}

/* PE 1 applies the setting and answers; then PE 0 begins, so both channels are open before the
 * first put. */
static void on_setting(skua_msg *msg)
{
    struct channel_side   *side    = self();
    struct channel_setting setting = *(struct channel_setting *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (skua_pe() == 1) {
        drop_channels(side);
        side->series = setting.series;
        side->size   = setting.size;
        side->pair   = setting.pair;
    }
    if (side->series < MESSAGE) {
        skua_layout from = skua_layout_contiguous(side->source[side->series], bytes_of(side));

        side->out = skua_channel_open(setting.in, &from);
    }
    if (skua_pe() == 1)
        send_setting(side);
    else
        begin(side);
}

/* Returns the suffix of a series name, which says where the two PEs are. */
static const char *suffix(const struct channel_side *side)
{
    static char text[32];

    if (side->net)
        snprintf(text, sizeof text, "-%s", getenv("SKUA_DRIVER") ? getenv("SKUA_DRIVER") : "net");
    else
        snprintf(text, sizeof text, "%s", skua_processes() == 1 ? "-threads" : "");
    return text;
}

/* Runs on PE 0: reports the result and starts the next measurement. */
static void next_setting(struct channel_side *side)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", series_name[side->series], suffix(side));
    bench_report("channels", name, bytes_of(side), "roundtrip_us", side->best * 1e6);
    drop_channels(side);
    if (++side->series == SERIES) { /* series that are compared are measured close to each other */
        side->series = 0;
        side->size++;
    }
    if (side->size == BENCH_SIZES || bytes_of(side) > most_bytes)
        skua_exit(0);
    else
        send_setting(side);
}

static void start(int argc, char **argv)
{
    struct channel_side *side = self();

    if (argc > 1)
        most_bytes = (size_t)atoll(argv[1]);
    if (skua_pes() != 2)
        skua_abort("bench-channels needs two PEs: skuarun -n 2");
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
    if (skua_pe() != 0)
        return;
    side->pair = skua_array_create1(end_class, 2, NULL, 0);
    send_setting(side);
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
    side_key        = skua_pe_data_register(sizeof(struct channel_side));
    return skua_main(argc, argv, start);
}
