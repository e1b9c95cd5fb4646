/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.c - multicasts to and reductions over sections, compared with a model.
 *
 * usage: sections [ROUNDS]
 *
 * First each call once, with its number of messages.  Then rounds: random, overlapping sections of
 * arrays indexed by integers, triples and strings, and of a group, receive multicasts and reduce,
 * many at a time, started on all PEs, while their members migrate and the sections rebuild their
 * trees.  Each member records the
 * multicasts of each section: it must receive all of them once and in order.  PE 0 computes the
 * expected result of each reduction.
 */
#include <math.h>
#include <skua/skua.h>
#include <string.h>

#include "stats_now.h"
#include "tap.h"
#include "waits.h"

#define MEMBERS  40 /* elements of an array */
#define SECTIONS 6  /* sections of a round */
#define CASTS    12 /* multicasts to each section */
#define DEAD     2  /* destroyed members, in the rounds with deletions */

static skua_class point_class;
static skua_entry cast_entry, tell_entry, pass_entry, move_entry, one_entry, leave_entry,
    next_entry, kinds_entry, brief_entry, churn_entry;
static skua_handler start_handler, ask_handler, told_handler, rebuild_handler, churner_handler;
static uint64_t     seed;

struct point {
    uint64_t random;
    int32_t  got[SECTIONS]; /* multicasts of this round */
};

/* The data of a multicast. */
struct cast {
    skua_section    section;
    int32_t         slot, number, moves;
    skua_completion done;
    char            more[100]; /* some are longer */
};

#define SHORT offsetof(struct cast, more)

/* ---- a member -------------------------------------------------------------------------------- */

static int32_t number_of(const void *self)
{
    skua_index index = skua_index_of(self);

    if (index.bytes == 12)
        return index.at.x[0] * 10 + index.at.x[1] * 2 + index.at.x[2];
    return index.at.x[0];
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct point *p = self;

    (void)data;
    CHECK(bytes <= sizeof p->random);
    p->random = (uint64_t)number_of(self) * 77 + 1;
}

/* Contributes to two reductions: a sum, and a concatenation. */
static void contribute(void *self, const struct cast *cast)
{
    int64_t value = number_of(self) + cast->number;
    int32_t name  = number_of(self);

    if (cast->number % 3 == 0)
        skua_section_contribute(cast->section, self,
                                skua_contribution_make(SKUA_SET, SKUA_BYTE, &name, sizeof name),
                                cast->done);
    else
        skua_section_contribute(cast->section, self,
                                skua_contribution_make(SKUA_SUM, SKUA_INT64, &value, 1),
                                cast->done);
}

static void on_cast(void *self, const void *data, size_t bytes)
{
    struct point      *p    = self;
    const struct cast *cast = data;
    uint64_t           draw = tap_random(&p->random);

    CHECK(bytes == SHORT || bytes == sizeof *cast);
    CHECK(cast->number == p->got[cast->slot]);
    p->got[cast->slot]++;
    contribute(self, cast);
    if (draw % 16 == 1)
        skua_poll(3); /* other multicasts arrive meanwhile */
    if (cast->moves && draw % 4 == 0)
        skua_migrate(self, (int)(tap_random(&p->random) % (unsigned)skua_pes()));
}

/* Reports the number of multicasts of each section at the end of a round. */
static void on_tell(void *self, const void *data, size_t bytes)
{
    struct point   *p = self;
    int32_t         got[1 + SECTIONS];
    skua_completion done;

    CHECK(bytes == sizeof done);
    memcpy(&done, data, sizeof done);
    got[0] = number_of(self);
    memcpy(got + 1, p->got, sizeof p->got);
    skua_contribute(self, SKUA_SET, SKUA_BYTE, got, sizeof got, done);
    memset(p->got, 0, sizeof p->got);
}

static void on_move(void *self, const void *data, size_t bytes)
{
    struct point *p = self;

    (void)data, (void)bytes;
    skua_migrate(self, (int)(tap_random(&p->random) % (unsigned)skua_pes()));
}

/* Migrates to the next PE. */
static void on_next(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void on_leave(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

/* ---- PE 0 waits ------------------------------------------------------------------------------ */

/* ---- arrays of several kinds ----------------------------------------------------------------- */

static skua_index index_of(int kind, int i)
{
    char name[SKUA_INDEX_MAX] = {0};

    switch (kind) {
    case 0: return skua_index1(i);
    case 1: return skua_index3(i / 10, i % 10 / 2, i % 2);
    case 2:
        memcpy(name, &i, sizeof i);
        memset(name + 4, 'a' + i, 36);
        return skua_index_bytes(name, 13 + (size_t)i % 30); /* shorter than three integers */
        ;
    default: return skua_index1(i);
    }
}

static int members_of(int kind)
{
    return kind < 3 ? MEMBERS : skua_pes();
}

static skua_collection make_array(int kind)
{
    skua_array_def  strings = {.flags = SKUA_ARRAY_OPEN};
    skua_collection all;

    if (kind == 0)
        return skua_array_create1(point_class, MEMBERS, NULL, 0);
    if (kind == 1)
        return skua_array_create3(point_class, MEMBERS / 10, 5, 2, NULL, 0);
    if (kind == 3)
        return skua_group_create(point_class, NULL, 0);
    all = skua_array_create(point_class, &strings, NULL, 0);
    for (int i = 0; i < MEMBERS; i++)
        skua_array_insert(skua_element(all, index_of(2, i)), i % skua_pes(), NULL, 0);
    return all;
}

/* ---- each call once -------------------------------------------------------------------------- */

static void on_one(void *self, const void *data, size_t bytes)
{
    struct cast cast;
    int64_t     one = 1;

    CHECK(bytes == SHORT);
    memcpy(&cast, data, SHORT);
    skua_section_contribute(cast.section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT64, &one, 1), cast.done);
}

/* Counts the members of a section by a reduction. */
static int64_t count_members(skua_section section)
{
    skua_future future = SKUA_FUTURE_INIT;
    struct cast cast   = {.section = section, .done = skua_done_future(&future)};

    skua_section_invoke(section, one_entry, &cast, SHORT);
    return future_take_int64(&future);
}

static void test_ranges(void)
{
    skua_collection all      = skua_array_create3(point_class, 4, 5, 2, NULL, 0);
    skua_range      range    = {.dims = 3, .lower = {1, 0, 0}, .upper = {4, 5, 2}};
    int32_t         stride[] = {2, 3, 1};
    skua_section    some     = skua_section_create_range(all, &range, stride);
    skua_section    more     = skua_section_create_range(all, &range, NULL);
    skua_index      corner   = skua_index3(3, 4, 1);
    skua_section    one      = skua_section_create(all, &corner, 1);
    skua_section    nobody   = skua_section_create(all, NULL, 0);

    CHECK(count_members(some) == 2 * 2 * 2);
    CHECK(count_members(more) == 3 * 5 * 2);
    CHECK(count_members(one) == 1);
    skua_section_invoke(nobody, leave_entry, NULL, 0);
    CHECK(count_members(some) == 2 * 2 * 2);
    skua_section_destroy(nobody);
    skua_section_destroy(some);
    CHECK(count_members(more) == 3 * 5 * 2);
    skua_collection_destroy(all);
    wait_quiet();
}

/* A result is multicast to a section, whose members continue. */
static void on_pass(void *self, const void *data, size_t bytes)
{
    struct point *p = self;
    int64_t       sum;

    CHECK(bytes == sizeof sum);
    memcpy(&sum, data, sizeof sum);
    CHECK(sum == 10);
    p->got[0]++;
}

static void test_completion(void)
{
    skua_collection all   = skua_array_create1(point_class, 20, NULL, 0);
    skua_range      range = {.dims = 1, .lower = {5}, .upper = {15}};
    skua_section    ten   = skua_section_create_range(all, &range, NULL);
    skua_section    odd;
    struct cast     cast   = {.section = ten};
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);
    const void     *data, *at = NULL;
    size_t          bytes, length;
    int             passed = 0;

    range.upper[0] = 20;
    odd            = skua_section_create_range(all, &range, (int32_t[]){2});
    cast.done      = skua_done_invoke_section(odd, pass_entry);
    skua_section_invoke(ten, one_entry, &cast, SHORT);
    wait_quiet();
    skua_invoke_all(all, tell_entry, &done, sizeof done);
    data = skua_future_wait(&future, &bytes);
    while (skua_set_next(data, bytes, &at, &length))
        passed += ((const int32_t *)at)[1];
    CHECK(passed == 8);
    skua_future_clear(&future);
    skua_collection_destroy(all);
}

/* Every kind of operator and type, four reductions at a time. */
static void on_kinds(void *self, const void *data, size_t bytes)
{
    struct cast     cast;
    unsigned char   letter = (unsigned char)number_of(self);
    skua_statistics s      = skua_statistics_of(letter);
    double          pair[] = {letter, -letter};

    CHECK(bytes == SHORT);
    memcpy(&cast, data, SHORT);
    skua_section_contribute(cast.section, self,
                            skua_contribution_make(SKUA_CONCAT, SKUA_BYTE, &letter, 1), cast.done);
    skua_section_contribute(
        cast.section, self,
        skua_contribution_make(SKUA_STATISTICS, SKUA_DOUBLE, &s, SKUA_STATISTICS_COUNT), cast.done);
    skua_section_contribute(cast.section, self,
                            skua_contribution_make(SKUA_MAX, SKUA_DOUBLE, pair, 2), cast.done);
    skua_section_contribute(cast.section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT32, NULL, 0), cast.done);
}

static int kinds;

static void check_letters(const unsigned char *letters, size_t bytes)
{
    int sum = 0;

    CHECK(bytes == 10);
    for (size_t i = 0; i < bytes; i++)
        sum += letters[i];
    CHECK(sum == 135);
}

static void on_kind(void *arg, const void *data, size_t bytes)
{
    const skua_statistics *stats = data;
    const double          *pair  = data;

    (void)arg;
    switch (kinds++) {
    case 0: check_letters(data, bytes); break;
    case 1:
        CHECK(bytes == sizeof *stats && stats->n == 10 && stats->min == 0 && stats->max == 27);
        CHECK(fabs(stats->mean - 13.5) < 1e-12 && fabs(stats->m2 - 742.5) < 1e-9);
        break;
    case 2: CHECK(bytes == 2 * sizeof *pair && pair[0] == 27 && pair[1] == 0); break;
    case 3: CHECK(bytes == 0); break;
    default: CHECK(kinds <= 4);
    }
}

static void test_kinds(void)
{
    skua_collection all   = skua_array_create1(point_class, 30, NULL, 0);
    skua_range      range = {.dims = 1, .upper = {30}};
    skua_section    third = skua_section_create_range(all, &range, (int32_t[]){3});
    struct cast     cast  = {.section = third, .done = skua_done_call(on_kind, NULL)};

    skua_section_invoke(third, kinds_entry, &cast, SHORT);
    wait_quiet();
    CHECK(kinds == 4);
    skua_collection_destroy(all);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* The results that PE 0 expects of a section. */
struct model {
    skua_section section;
    int          size;
    bool         member[MEMBERS * 2];
    int64_t      sum;
    int          results;
};

static struct model model[SECTIONS];
static int          results;

static void check_set(const struct model *m, const void *data, size_t bytes)
{
    bool        seen[MEMBERS * 2] = {false};
    const void *at                = NULL;
    size_t      length;
    int         count = 0;

    while (skua_set_next(data, bytes, &at, &length)) {
        int32_t name;

        memcpy(&name, at, sizeof name);
        CHECK(length == sizeof name && m->member[name] && !seen[name]);
        seen[name] = true;
        count++;
    }
    CHECK(count == m->size);
}

static void on_result(void *arg, const void *data, size_t bytes)
{
    struct model *m = arg;
    int           n = m->results++;

    results++;
    if (n % 3 == 0) {
        check_set(m, data, bytes);
        return;
    }
    CHECK(bytes == sizeof(int64_t));
    CHECK(*(const int64_t *)data == m->sum + (int64_t)n * m->size);
}

static void choose(struct model *m, skua_collection all, int kind)
{
    skua_index index[MEMBERS * 2];
    int        members = members_of(kind);
    uint64_t   share   = 1 + tap_random(&seed) % 4;

    *m = (struct model){.size = 0};
    for (int i = 0; i < members; i++) {
        int32_t name = kind == 1 ? i / 10 * 10 + i % 10 / 2 * 2 + i % 2 : i;

        if (tap_random(&seed) % 4 >= share && i)
            continue;
        index[m->size++] = index_of(kind, i);
        m->member[name]  = true;
        m->sum += name;
    }
    for (int i = m->size - 1; i > 0; i--) {
        int        other = (int)(tap_random(&seed) % (unsigned)(i + 1));
        skua_index kept  = index[i];

        index[i]     = index[other];
        index[other] = kept;
    }
    m->section = skua_section_create(all, index, (size_t)m->size);
}

/* Runs on any PE: sends some multicasts to one section. */
static void on_start(skua_msg *msg)
{
    struct cast *cast = skua_msg_data(msg);

    for (int n = 0; n < CASTS; n++) {
        cast->number = n;
        skua_section_invoke(cast->section, cast_entry, cast, n % 2 ? sizeof *cast : SHORT);
        if (n % 4 == cast->slot % 4)
            skua_section_rebuild(cast->section);
        skua_poll((size_t)n % 3);
    }
    skua_msg_free(msg);
}

static void check_members(skua_collection all)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);
    const void     *data, *at = NULL;
    size_t          bytes, length;

    skua_invoke_all(all, tell_entry, &done, sizeof done);
    data = skua_future_wait(&future, &bytes);
    while (skua_set_next(data, bytes, &at, &length)) {
        const int32_t *got = at;

        for (int s = 0; s < SECTIONS; s++)
            CHECK(got[1 + s] == (model[s].member[got[0]] ? CASTS : 0));
    }
    skua_future_clear(&future);
}

static bool all_came(void *arg)
{
    (void)arg;
    return results == SECTIONS * CASTS;
}

static void play(skua_collection all, int kind)
{
    results = 0;
    if (kind < 3)
        skua_invoke_all(all, move_entry, NULL, 0);
    skua_poll(tap_random(&seed) % 10);
    for (int s = 0; s < SECTIONS; s++) {
        struct cast cast = {
            .slot = s, .moves = kind < 3, .done = skua_done_call(on_result, &model[s])};

        choose(&model[s], all, kind);
        cast.section = model[s].section;
        skua_send_copy((int)(tap_random(&seed) % (unsigned)skua_pes()), start_handler, &cast,
                       sizeof cast);
        skua_poll(tap_random(&seed) % 10);
    }
    CHECK(skua_run_until(all_came, NULL));
    for (int s = 0; s < SECTIONS; s++)
        skua_section_destroy(model[s].section);
    wait_quiet();
    check_members(all);
}

/* ---- deletions ------------------------------------------------------------------------------ */

/* Members are destroyed while they migrate and multicasts are in flight: the others receive all
 * multicasts, and reductions complete. */
static void test_deaths(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        skua_collection all = make_array(round % 3);
        skua_section    section;
        skua_index      index[MEMBERS];
        struct cast     cast = {.slot = 0, .moves = 1};
        int             dead = (int)(tap_random(&seed) % MEMBERS);

        wait_quiet();
        skua_invoke_all(all, move_entry, NULL, 0);
        for (int i = 0; i < MEMBERS; i++)
            index[i] = index_of(round % 3, i);
        section      = skua_section_create(all, index, MEMBERS);
        cast.section = section;
        cast.done    = skua_done_nothing();
        for (int n = 0; n < CASTS; n++) {
            cast.number = n;
            skua_section_invoke(section, cast_entry, &cast, SHORT);
            skua_poll(tap_random(&seed) % 20);
            if (tap_random(&seed) % 3 == 0)
                skua_section_rebuild(section);
            if (n == CASTS / 2)
                for (int i = 0; i < DEAD; i++)
                    skua_invoke_copy(skua_element(all, index[(dead + i) % MEMBERS]), leave_entry,
                                     NULL, 0);
        }
        wait_quiet();
        CHECK(count_members(section) == MEMBERS - DEAD);
        skua_section_destroy(section);
        wait_quiet();
        skua_collection_destroy(all);
    }
}

/* ---- without multicasts ---------------------------------------------------------------------- */

static int64_t direct[3];
static int     directs;

static void on_direct(void *arg, const void *data, size_t bytes)
{
    (void)arg;
    CHECK(bytes == sizeof *direct && directs < 3);
    memcpy(&direct[directs++], data, sizeof *direct);
}

/* Contributes twice and destroys itself. */
static void on_brief(void *self, const void *data, size_t bytes)
{
    on_one(self, data, bytes);
    on_one(self, data, bytes);
    skua_object_destroy(self);
}

/* Invokes each member individually, to contribute three times. */
static void invoke_each(skua_collection all, const skua_index *index, const struct cast *cast)
{
    for (int i = 0; i < 3 * MEMBERS; i++) {
        skua_ref ref = skua_element(all, index[i % MEMBERS]);

        if (i < DEAD)
            skua_invoke_copy(ref, brief_entry, cast, SHORT);
        else if (i % MEMBERS >= DEAD)
            skua_invoke_copy(ref, one_entry, cast, SHORT);
    }
}

/* Members learn of a section by messages, possibly before the section is created on their PE, and
 * contribute three times; some contribute twice and destroy themselves, and their contributions may
 * be counted or not. */
static void test_direct(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        skua_collection all  = make_array(round % 3);
        struct cast     cast = {.done = skua_done_call(on_direct, NULL)};
        skua_index      index[MEMBERS];

        wait_quiet();
        directs = 0;
        skua_invoke_all(all, move_entry, NULL, 0);
        skua_poll(tap_random(&seed) % 40);
        for (int i = 0; i < MEMBERS; i++)
            index[i] = index_of(round % 3, i);
        cast.section = skua_section_create(all, index, MEMBERS);
        invoke_each(all, index, &cast);
        skua_poll(tap_random(&seed) % 40);
        skua_section_rebuild(cast.section);
        wait_quiet();
        CHECK(directs == 3 && direct[2] == MEMBERS - DEAD);
        CHECK(direct[0] >= MEMBERS - DEAD && direct[0] <= MEMBERS);
        CHECK(direct[1] >= MEMBERS - DEAD && direct[1] <= MEMBERS);
        CHECK(count_members(cast.section) == MEMBERS - DEAD);
        skua_collection_destroy(all);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

#define TIMES 200

struct traffic {
    int32_t  pe;
    uint64_t sent, delivered;
};

static struct traffic *traffic; /* counts of all PEs, on PE 0 */
static int             told;

/* Runs on each PE: sends its message counts to PE 0. */
static void on_ask(skua_msg *msg)
{
    skua_stats     stats = stats_now();
    struct traffic mine  = {skua_pe(), stats.sent_inline + stats.sent_pointer + stats.sent_net,
                            stats.delivered};

    skua_send_copy(0, told_handler, &mine, sizeof mine);
    skua_msg_free(msg);
}

static void on_told(skua_msg *msg)
{
    const struct traffic *one = skua_msg_data(msg);

    traffic[one->pe] = *one;
    told++;
    skua_msg_free(msg);
}

static bool all_told(void *arg)
{
    (void)arg;
    return told == skua_pes();
}

static void ask_all(struct traffic *into)
{
    traffic = into;
    told    = 0;
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, ask_handler, NULL, 0);
    CHECK(skua_run_until(all_told, NULL));
}

#define COUNTED 50

/* Returns the number of messages that all PEs send for COUNTED multicasts with a reduction. */
static uint64_t count_sent(skua_section section, int members)
{
    int             pes  = skua_pes();
    struct traffic *then = calloc(2 * (size_t)pes, sizeof *then), *now = then + pes;
    uint64_t        sent = 0;

    ask_all(then);
    for (int i = 0; i < COUNTED; i++)
        CHECK(count_members(section) == members);
    ask_all(now);
    for (int pe = 0; pe < pes; pe++)
        sent += now[pe].sent - then[pe].sent;
    free(then);
    return sent;
}

/* Migrates one in @p stride of the members to the next PE. */
static void move_some(skua_collection all, int members, int stride)
{
    for (int i = 0; i < members; i += stride)
        skua_invoke_copy(skua_element1(all, i), next_entry, NULL, 0);
    wait_quiet();
}

/* A member that has moved costs a message for each multicast and each reduction, until the section
 * rebuilds its tree, either on request or on its own when more have migrated. */
static void test_rebuild(void)
{
    int             pes = skua_pes(), members = 10 * pes;
    uint64_t        tree = (uint64_t)COUNTED * 2 * (unsigned)(pes - 1), slack = 10 * (unsigned)pes;
    skua_collection all     = skua_array_create1(point_class, members, NULL, 0);
    skua_range      range   = {.dims = 1, .upper = {members}};
    skua_section    section = skua_section_create_range(all, &range, NULL);

    if (pes == 1)
        return;
    CHECK(count_members(section) == members);
    move_some(all, members, members); /* one: too few for a rebuild without a request */
    CHECK(count_sent(section, members) >= tree + (uint64_t)COUNTED * 2);
    skua_section_rebuild(section);
    wait_quiet();
    CHECK(count_sent(section, members) <= tree + slack);
    for (int i = 0; i < 3; i++) { /* half of the members at each balancing */
        move_some(all, members, 2);
        for (int j = 0; j < 8; j++)
            CHECK(count_members(section) == members);
        wait_quiet();
        CHECK(count_sent(section, members) <= tree + slack);
    }
    skua_section_destroy(section);
    wait_quiet();
    skua_collection_destroy(all);
}

/* A call to rebuild that another PE makes while the section is being destroyed has no effect. */
static void test_rebuild_late(void)
{
    skua_collection all     = skua_array_create1(point_class, 2 * skua_pes(), NULL, 0);
    skua_index      first   = skua_index1(0);
    skua_section    section = skua_section_create(all, &first, 1); /* its whole tree is PE 0 */

    CHECK(count_members(section) == 1);
    skua_section_destroy(section);
    wait_quiet();
    if (skua_pes() > 1)
        skua_send_copy(skua_pes() - 1, rebuild_handler, &section, sizeof section);
    wait_quiet();
    skua_collection_destroy(all);
}

/* A section is rebuilt after all its members, on other PEs than its root, were destroyed. */
static void test_rebuild_empty(void)
{
    skua_array_def  def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all = skua_array_create(point_class, &def, NULL, 0);
    skua_index      index[8];
    skua_section    section;
    int             count = 0;

    for (int i = 0; count < 8 && i < 1000; i++) {
        skua_ref element = skua_element1(all, i);

        if (skua_pes() > 1 && skua_home(element) == 0)
            continue;
        index[count++] = element.index;
        skua_array_insert(element, skua_home(element), NULL, 0);
    }
    section = skua_section_create(all, index, 8);
    CHECK(count_members(section) == 8);
    skua_section_invoke(section, leave_entry, NULL, 0);
    wait_quiet();
    skua_section_rebuild(section);
    skua_section_invoke(section, leave_entry, NULL, 0); /* to no member */
    wait_quiet();
    skua_section_destroy(section);
    wait_quiet();
    skua_collection_destroy(all);
}

/* An order to a PE: send to elements of an on-demand array. */
struct churn {
    skua_collection all;
    int32_t         left;
};

/* A member, or a later element of its index, migrates or destroys itself. */
static void on_churn(void *self, const void *data, size_t bytes)
{
    static _Thread_local uint64_t random = 1;
    uint64_t                      draw   = tap_random(&random) >> 8;

    (void)data, (void)bytes;
    if (draw % 16 < 5)
        skua_migrate(self, (int)(draw / 16 % (unsigned)skua_pes()));
    else if (draw % 16 == 5 && skua_index_of(self).at.x[0] < MEMBERS)
        skua_object_destroy(self);
}

static void on_churner(skua_msg *msg)
{
    struct churn *churn = skua_msg_data(msg);

    for (int i = 0; i < 8; i++)
        skua_invoke_copy(skua_element1(churn->all, (churn->left + i) % MEMBERS), churn_entry, NULL,
                         0);
    if (churn->left-- > 0)
        skua_send(skua_pe(), churner_handler, msg);
    else
        skua_msg_free(msg);
}

/* Members of sections are destroyed, and messages create other elements of their indices, while
 * the sections are created, get multicasts and are rebuilt.  Those that are members then, among
 * them the one that is never destroyed, have lost no multicast, so they get another.  All elements
 * that then exist are members of a later section. */
static void test_mortal(int rounds)
{
    skua_array_def def   = {.dims = 1, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_range     range = {.dims = 1, .upper = {MEMBERS + 1}};

    for (int round = 0; round < rounds; round++) {
        skua_collection all   = skua_array_create(point_class, &def, NULL, 0);
        struct churn    churn = {all, 100};
        skua_section    section[3];

        for (int pe = 0; pe < skua_pes(); pe++)
            skua_send_copy(pe, churner_handler, &churn, sizeof churn);
        for (int i = 0; i < 3; i++) {
            section[i] = skua_section_create_range(all, &range, NULL);
            for (int j = 0; j < 4; j++) {
                skua_section_invoke(section[i], churn_entry, NULL, 0);
                skua_poll(50);
            }
            skua_section_rebuild(section[i]);
        }
        wait_quiet();
        for (int i = 0; i < 3; i++) {
            CHECK(count_members(section[i]) > 0);
            skua_section_destroy(section[i]);
        }
        section[0] = skua_section_create_range(all, &range, NULL);
        CHECK(count_members(section[0]) == MEMBERS + 1);
        skua_collection_destroy(all);
        wait_quiet();
    }
}

static void on_rebuild(skua_msg *msg)
{
    skua_section_rebuild(*(skua_section *)skua_msg_data(msg));
    skua_msg_free(msg);
}

/* An array ends while a section of it is created or rebuilds its tree: what that still sends is
 * dropped, and nothing is kept for it. */
static void test_array_ends(int rounds)
{
    int members = 4 * skua_pes();

    for (int round = 0; round < 3 * rounds; round++) {
        skua_collection all     = skua_array_create1(point_class, members, NULL, 0);
        skua_range      range   = {.dims = 1, .upper = {members}};
        skua_section    section = skua_section_create_range(all, &range, NULL);

        if (round % 3 > 0) {
            CHECK(count_members(section) == members);
            move_some(all, members, 2);
            skua_section_rebuild(section);
        }
        if (round % 3 == 2) /* the rebuild goes on, but all have had this multicast */
            CHECK(count_members(section) == members);
        skua_collection_destroy(all);
        wait_quiet();
    }
}

/* A multicast and a reduction over a section on half of the PEs take two messages for each of these
 * PEs, and none for the others. */
static void test_messages(void)
{
    int             pes = skua_pes(), half = (pes + 1) / 2;
    struct traffic *then = calloc(2 * (size_t)pes, sizeof *then), *now = then + pes;
    skua_collection all     = skua_array_create1(point_class, 10 * pes, NULL, 0); /* 10 on each */
    skua_range      range   = {.dims = 1, .upper = {10 * half}};
    skua_section    section = skua_section_create_range(all, &range, NULL);
    uint64_t        sent    = 0;

    CHECK(count_members(section) == 10 * half);
    wait_quiet();
    ask_all(then);
    for (int i = 0; i < TIMES; i++)
        CHECK(count_members(section) == 10 * half);
    ask_all(now);
    for (int pe = 0; pe < pes; pe++) {
        sent += now[pe].sent - then[pe].sent;
        CHECK(pe < half || now[pe].delivered - then[pe].delivered < TIMES / 10);
    }
    CHECK(sent <= (uint64_t)(TIMES * 2 * (half - 1) + 10 * pes));
    free(then);
    skua_collection_destroy(all);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 12;

    if (skua_pe() != 0)
        return;
    seed = tap_seed();
    test_ranges();
    test_completion();
    test_kinds();
    test_messages();
    test_rebuild();
    test_rebuild_late();
    test_rebuild_empty();
    test_mortal(rounds);
    test_array_ends(rounds);
    for (int kind = 0; kind < 4; kind++) {
        skua_collection all = make_array(kind);

        wait_quiet();
        for (int i = 0; i < rounds; i++)
            play(all, kind);
        skua_collection_destroy(all);
    }
    test_deaths(rounds);
    test_direct(rounds);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name      = "point",
                          .bytes     = sizeof(struct point),
                          .construct = construct,
                          .pup       = skua_pup_plain};

    point_class     = skua_class_register(&def);
    cast_entry      = skua_method_register(point_class, "cast", on_cast, 0);
    tell_entry      = skua_method_register(point_class, "tell", on_tell, 0);
    pass_entry      = skua_method_register(point_class, "pass", on_pass, 0);
    move_entry      = skua_method_register(point_class, "move", on_move, 0);
    one_entry       = skua_method_register(point_class, "one", on_one, 0);
    next_entry      = skua_method_register(point_class, "next", on_next, 0);
    leave_entry     = skua_method_register(point_class, "leave", on_leave, 0);
    kinds_entry     = skua_method_register(point_class, "kinds", on_kinds, 0);
    brief_entry     = skua_method_register(point_class, "brief", on_brief, 0);
    churn_entry     = skua_method_register(point_class, "churn", on_churn, 0);
    churner_handler = skua_handler_register("churner", on_churner);
    start_handler   = skua_handler_register("start", on_start);
    ask_handler     = skua_handler_register("ask", on_ask);
    told_handler    = skua_handler_register("told", on_told);
    rebuild_handler = skua_handler_register("rebuild", on_rebuild);
    return skua_main(argc, argv, start);
}
