/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy_args.c - messages with nocopy parts: to handlers and to objects, used in place and
 * received into memory of the receiver, point-to-point, broadcast and to sections.  Each part is
 * released exactly once; objects migrate, are created and destroyed meanwhile; a broadcast within a
 * process makes no copies.
 *
 * usage: nocopy_args [messages per PE]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "pattern.h"

#define PARTS 3
#define ROOM  ((size_t)200000)
#define LARGE ((size_t)16384) /* bytes from which on TCP sends one part from where it lies */

static skua_handler on_parts, on_all, on_check, on_go;
static skua_class   Box, Member, Fly;
static skua_entry   box_take, box_move, member_take, fly_take;
static skua_pe_data state_key;
static int          messages = 100;

struct state { /* the state of a PE */
    uint64_t        seed;
    int64_t         sent, freed, got, all_got;
    int64_t         packets; /* messages made without the data of their one part */
    skua_collection boxes, members, flies;
    skua_section    some; /* a section of the boxes */
};

#define SOME 5

struct head {
    uint64_t    pattern[PARTS];
    size_t      bytes[PARTS];
    const void *at[PARTS];
    int32_t     parts, post, to_all;
};

struct box {
    int32_t taken;
};

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Runs when a part is released: overwrites its memory at once. */
static void part_free(void *arg, const void *data, size_t bytes)
{
    const skua_buffer *told = data;

    CHECK(bytes == sizeof *told && told->at == arg && told->pe == skua_pe());
    memset(told->at, 0, told->bytes);
    if (told->user)
        free(arg);
    else
        skua_buffer_free(arg);
    self()->freed++;
}

/* Returns a setting in bytes; 0: it is not set. */
static size_t setting(const char *name)
{
    const char *text = getenv(name);
    char       *unit;
    size_t      bytes = text ? strtoul(text, &unit, 10) : 0;

    return text && *unit == 'm' ? bytes << 20 : bytes;
}

/* Checks that messages to all follow both thresholds: @p msg has its data in it, or none of them.
 */
static void check_broadcast(const struct head *head, const skua_msg *msg)
{
    size_t host = setting("SKUA_ZCOPY_THRESHOLD_HOST"), net = setting("SKUA_ZCOPY_THRESHOLD_NET");
    size_t threshold = host > net ? host : net, copied = 0;

    if (skua_hosts() < 2 || !host || !net || !head->to_all)
        return;
    for (int i = 0; i < head->parts; i++)
        copied += head->bytes[i] < threshold ? head->bytes[i] : 0;
    CHECK(skua_msg_size(msg) >= sizeof *head + copied);
    CHECK(skua_msg_size(msg) < sizeof *head + copied + 32 + PARTS * 256);
}

static skua_msg *make(struct state *s, int pe, int post)
{
    skua_nocopy_argument part[PARTS];
    struct head          head = {.parts  = (int32_t)(tap_random(&s->seed) % (PARTS + 1)),
                                 .post   = post,
                                 .to_all = pe == SKUA_ALL_PES};
    skua_msg            *msg;

    for (int i = 0; i < head.parts; i++) {
        uint64_t heap = tap_random(&s->seed) % 2;
        size_t   most = (size_t)1 << tap_random(&s->seed) % 18;
        void    *at;

        head.bytes[i] = tap_random(&s->seed) % (most < ROOM ? most : ROOM);
        if (head.parts == 1 && tap_random(&s->seed) % 2)
            head.bytes[i] = LARGE + tap_random(&s->seed) % (ROOM - LARGE);
        head.pattern[i] = tap_random(&s->seed);
        at              = heap ? malloc(head.bytes[i] + 1) : skua_buffer_alloc(head.bytes[i]);
        head.at[i]      = at;
        fill(at, head.bytes[i], head.pattern[i]);
        part[i] = (skua_nocopy_argument){at, head.bytes[i], skua_done_call(part_free, at), heap};
    }
    msg = skua_nocopy_alloc(pe, sizeof head, part, (unsigned)head.parts);
    memcpy(skua_msg_data(msg), &head, sizeof head);
    check_broadcast(&head, msg);
    s->sent += head.parts;
    s->packets += head.parts == 1 && head.bytes[0] >= LARGE && skua_msg_size(msg) < LARGE;
    return msg;
}

/* Sends a message whose arguments have been copied into it. */
static skua_msg *make_copied(struct state *s)
{
    skua_msg *msg = make(s, SKUA_ALL_PES, 0);

    ((struct head *)skua_msg_data(msg))->to_all = 0; /* none of them is used in place either */
    return skua_nocopy_copied(msg);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Returns true if a part must be used in place. */
static bool is_in_place(const struct head *head, int i)
{
    const char *direct = getenv("SKUA_DIRECT");

    return head->to_all && !head->post && skua_processes() == 1 && !(direct && atoi(direct) == 0) &&
           head->bytes[i] > 0 && head->bytes[i] >= skua_zero_copy_bytes(skua_pe());
}

static void check(skua_msg *msg, char *const *posted)
{
    const struct head *head = skua_msg_data(msg);

    CHECK(skua_nocopy_count(msg) == (unsigned)head->parts);
    CHECK(skua_nocopy_head_bytes(msg) == sizeof *head);
    for (unsigned i = 0; i < (unsigned)head->parts; i++) {
        CHECK(skua_nocopy_bytes(msg, i) == head->bytes[i]);
        CHECK(is_filled(skua_nocopy_data(msg, i), head->bytes[i], head->pattern[i]));
        CHECK(!posted || skua_nocopy_data(msg, i) == posted[i]);
        CHECK(!is_in_place(head, (int)i) || skua_nocopy_data(msg, i) == head->at[i]);
    }
}

/* Provides memory for each part, for one message at a time. */
static void post_to(char **posted, skua_msg *msg, void **to)
{
    for (unsigned i = 0; i < skua_nocopy_count(msg); i++)
        to[i] = posted[i] = malloc(skua_nocopy_bytes(msg, i) + 1);
}

static void post_here(void *none, skua_msg *msg, void **to)
{
    char *posted[PARTS];

    (void)none;
    if (((struct head *)skua_msg_data(msg))->post)
        post_to(posted, msg, to);
}

static void free_posted(skua_msg *msg)
{
    if (((struct head *)skua_msg_data(msg))->post)
        for (unsigned i = 0; i < skua_nocopy_count(msg); i++)
            free((void *)(uintptr_t)skua_nocopy_data(msg, i));
}

static void take(skua_msg *msg)
{
    if (!skua_nocopy_ready(msg, post_here))
        return;
    check(msg, NULL);
    free_posted(msg);
    self()->got++;
    skua_nocopy_free(msg);
}

static void take_all(skua_msg *msg)
{
    if (!skua_nocopy_ready(msg, NULL))
        return;
    check(msg, NULL);
    self()->all_got++;
    skua_nocopy_free(msg);
}

/* ---- objects --------------------------------------------------------------------------------- */

static void Box_take(void *object, skua_msg *msg)
{
    struct box *box = object;

    if (!skua_nocopy_ready_entry(msg, object, box_take, NULL))
        return;
    check(msg, NULL);
    box->taken++;
    self()->got++;
    skua_nocopy_free(msg);
}

static void Box_move(void *object, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(object, (skua_pe() + 1) % skua_pes());
}

static void Member_take(void *object, skua_msg *msg)
{
    if (!skua_nocopy_ready_entry(msg, object, member_take, NULL))
        return;
    check(msg, NULL);
    self()->all_got++;
    skua_nocopy_free(msg);
}

/* An object that lives for some messages, and provides memory for some of them. */
static void Fly_take(void *object, skua_msg *msg)
{
    struct box *fly = object;

    if (!skua_nocopy_ready_entry(msg, object, fly_take, post_here))
        return;
    check(msg, NULL);
    free_posted(msg);
    skua_nocopy_free(msg);
    if (++fly->taken == 3)
        skua_object_destroy(object);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void work(struct state *s)
{
    for (int i = 0; i < messages; i++) {
        int      pe  = (int)(tap_random(&s->seed) % (unsigned)skua_pes());
        skua_ref box = skua_element1(s->boxes, (int)(tap_random(&s->seed) % 8));

        if (tap_random(&s->seed) % 2) {
            skua_send(pe, on_parts,
                      i % 8 == 6 ? make_copied(s) : make(s, pe, (int)(tap_random(&s->seed) % 2)));
        } else {
            skua_invoke(box, box_take, make(s, skua_location(box), 0));
            if (tap_random(&s->seed) % 4 == 0)
                skua_invoke_copy(box, box_move, NULL, 0);
        }
        if (i % 16 == 0)
            skua_nocopy_broadcast(on_all, make(s, SKUA_ALL_PES, 0));
        if (i % 16 == 8)
            skua_nocopy_invoke_all(s->members, member_take, make(s, SKUA_ALL_PES, 0));
        if (i % 32 == 5)
            skua_nocopy_invoke_all(s->boxes, box_take, make(s, SKUA_ALL_PES, 0));
        if (i % 32 == 21)
            skua_nocopy_invoke_section(s->some, box_take, make(s, SKUA_ALL_PES, 0));
        if (i % 8 == 3)
            skua_array_insert(skua_element1(s->flies, skua_pe() * messages + i),
                              (int)(tap_random(&s->seed) % (unsigned)skua_pes()), NULL, 0);
        if (i % 16 == 12)
            skua_nocopy_invoke_all(s->flies, fly_take,
                                   make(s, SKUA_ALL_PES, (int)(tap_random(&s->seed) % 2)));
    }
}

/* Returns whether parts that are not fetched are sent from where they lie, between hosts. */
static bool is_by_packet(void)
{
    const char *driver = getenv("SKUA_DRIVER");

    return skua_hosts() > 1 && driver && strcmp(driver, "tcp") == 0 &&
           setting("SKUA_ZCOPY_THRESHOLD_NET") > ROOM;
}

static void the_end(void *arg, const void *data, size_t bytes)
{
    const int64_t *sum = data;
    int64_t        pes = skua_pes(), all = (messages + 15) / 16 + (messages + 7) / 16;
    int64_t        to_box = (messages + 26) / 32, to_some = (messages + 10) / 32;

    (void)arg;
    CHECK(bytes == 5 * sizeof *sum);
    CHECK(sum[0] == sum[1]);
    CHECK(sum[2] == pes * (messages + 8 * to_box + SOME * to_some));
    CHECK(sum[3] == pes * pes * all);
    CHECK(sum[4] > 0 || !is_by_packet());
    skua_exit(0);
}

static void say(skua_msg *msg)
{
    struct state *s      = self();
    int64_t       sum[5] = {s->sent, s->freed, s->got, s->all_got, s->packets};

    skua_msg_free(msg);
    skua_reduce(0, SKUA_SUM, SKUA_INT64, sum, 5, skua_done_call(the_end, NULL));
}

static void all_quiet(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send(pe, on_check, skua_msg_alloc(0));
}

static void go(skua_msg *msg)
{
    const struct state *given = skua_msg_data(msg);
    struct state       *s     = self();

    s->boxes   = given->boxes;
    s->members = given->members;
    s->flies   = given->flies;
    s->some    = given->some;
    skua_msg_free(msg);
    work(s);
    if (skua_pe() == 0)
        skua_quiescence(skua_done_call(all_quiet, NULL));
}

static skua_section some_of(skua_collection boxes)
{
    skua_index index[SOME];

    for (int i = 0; i < SOME; i++)
        index[i] = skua_index1(i + 2);
    return skua_section_create(boxes, index, SOME);
}

static void start(int argc, char **argv)
{
    struct state all = {0};

    (void)argc, (void)argv;
    self()->seed = tap_seed() + 7919 * (uint64_t)skua_pe() + 1;
    if (skua_pe() != 0)
        return;
    all.boxes = skua_array_create(
        Box, &(skua_array_def){.dims = 1, .range = {.dims = 1, .upper = {8}}}, NULL, 0);
    all.members = skua_group_create(Member, NULL, 0);
    all.flies =
        skua_array_create(Fly, &(skua_array_def){.dims = 1, .flags = SKUA_ARRAY_OPEN}, NULL, 0);
    all.some = some_of(all.boxes);
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, on_go, &all, sizeof all);
}

int main(int argc, char **argv)
{
    on_parts = skua_handler_register("parts", take);
    on_all   = skua_handler_register("all", take_all);
    on_check = skua_handler_register("check", say);
    on_go    = skua_handler_register("go", go);
    Box      = skua_class_register(
             &(skua_class_def){.name = "Box", .bytes = sizeof(struct box), .pup = skua_pup_plain});
    Member   = skua_class_register(&(skua_class_def){.name = "Member", .bytes = 8});
    Fly      = skua_class_register(&(skua_class_def){.name = "Fly", .bytes = sizeof(struct box)});
    fly_take = skua_entry_register(Fly, "take", Fly_take, 0);
    box_take = skua_entry_register(Box, "take", Box_take, 0);
    box_move = skua_method_register(Box, "move", Box_move, 0);
    member_take = skua_entry_register(Member, "take", Member_take, 0);
    state_key   = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
