/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c - each call that returns a status reports misuse in the same way: the callback of
 * skua_error_set_callback() is called once, with the name of the call and the status that is
 * returned, and an error that the callback handles is not logged.  An error that it does not handle
 * is logged, with the name of the region.
 *
 * The last PE misuses memory of PE 0.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define BYTES 4096

static _Thread_local skua_region piece, freed; /* regions of a PE */
static skua_gaddr                at, beyond, nowhere, odd;
static double                    local[16];

/* ---- calls of the callback ------------------------------------------- */

static struct {
    int         times;
    skua_status status;
    int         pe;
    bool        fatal;
    char        call[64], line[256];
    bool        logs; /* the callback leaves the error to the log */
} told;

static bool on_error(void *arg, const skua_error *error)
{
    CHECK(arg == &told);
    told.times++;
    told.status = error->status;
    told.pe     = error->pe;
    told.fatal  = error->fatal;
    snprintf(told.call, sizeof told.call, "%s", error->call);
    snprintf(told.line, sizeof told.line, "%s", error->line);
    return !told.logs;
}

static void check(const char *call, skua_status expected, skua_status status)
{
    if (status != expected || told.times != 1 || told.status != expected || told.pe != skua_pe() ||
        told.fatal || strcmp(told.call, call) != 0 || strncmp(told.line, call, strlen(call)) != 0)
        skua_abort("%s returned %d (%d expected), the callback was called %d times: %d of %s: %s",
                   call, status, expected, told.times, told.status, told.call, told.line);
    told.times = 0;
}

/* ---- calls ------------------------------------------------------------------ */

#define REFUSES(status, call, ...) check(#call, SKUA_ERR_##status, call(__VA_ARGS__))

static const ptrdiff_t   places[] = {0, 64};
static const skua_block  blocks[] = {{0, 8}, {64, 8}};
static const skua_layout flat     = {.bytes = 16, .at = local};
static const skua_layout strided  = {
     .kind = SKUA_LAYOUT_STRIDED, .bytes = 8, .at = local, .strided = {1, {2}, {16}}};
static const skua_layout overlaid = {
    .kind = SKUA_LAYOUT_STRIDED, .bytes = 8, .at = local, .strided = {1, {2}, {4}}};
static const skua_layout deep = {.kind = SKUA_LAYOUT_STRIDED, .bytes = 8, .strided = {.levels = 9}};
static const skua_layout indexed = {
    .kind = SKUA_LAYOUT_INDEXED, .bytes = 8, .indexed = {2, places}};
static const skua_layout without = {.kind = SKUA_LAYOUT_INDEXED, .bytes = 8, .indexed = {2, NULL}};
static const skua_layout list    = {.kind = SKUA_LAYOUT_LIST, .list = {2, blocks}};
static const skua_layout lists   = {.kind = SKUA_LAYOUT_LIST, .list = {2, NULL}};

static void puts_and_gets(void)
{
    REFUSES(RANGE, skua_put, beyond, local, 8);
    REFUSES(RANGE, skua_get, local, beyond, 8);
    REFUSES(REGION, skua_put, nowhere, local, 8);
    REFUSES(REGION, skua_get, local, nowhere, 8);
    REFUSES(RANGE, skua_put_layout, beyond, &strided, &flat);
    REFUSES(RANGE, skua_get_layout, &flat, beyond, &strided);
    REFUSES(INVAL, skua_put_layout, at, &overlaid, &flat);
    REFUSES(INVAL, skua_get_layout, &overlaid, at, &flat);
    REFUSES(INVAL, skua_put_layout, at, &deep, &flat);
    REFUSES(INVAL, skua_put_layout, at, &strided, &deep);
    REFUSES(RANGE, skua_put_layout, beyond, &list, &flat);
    REFUSES(RANGE, skua_get_layout, &flat, beyond, &list);
    REFUSES(INVAL, skua_put_layout, at, &lists, &flat);
    REFUSES(RANGE, skua_put_layout, beyond, &indexed, &flat);
    REFUSES(RANGE, skua_get_layout, &flat, beyond, &indexed);
    REFUSES(INVAL, skua_put_layout, at, &without, &flat);
    REFUSES(INVAL, skua_get_layout, &without, at, &flat);
}

static void puts_and_gets_nb(void)
{
    const skua_rma_params unsignalled = {.signal = {60000}};
    const skua_rma_params forgotten   = {.signal_data = "x", .signal_bytes = 1};
    const skua_rma_params elsewhere   = {.notify = skua_at(piece, skua_pes(), 0)};
    const skua_rma_params unaligned   = {.notify = odd};
    const skua_rma_params newer       = {.size = sizeof newer + 8};
    const skua_rma_params unset       = {.size = SIZE_MAX / 4};

    REFUSES(RANGE, skua_put_nb, beyond, local, 8, NULL);
    REFUSES(RANGE, skua_get_nb, local, beyond, 8, NULL);
    REFUSES(RANGE, skua_put_layout_nb, beyond, &strided, &flat, NULL);
    REFUSES(RANGE, skua_get_layout_nb, &flat, beyond, &strided, NULL);
    REFUSES(RANGE, skua_put_layout_nb, beyond, &list, &indexed, NULL);
    REFUSES(RANGE, skua_get_layout_nb, &list, beyond, &indexed, NULL);
    REFUSES(INVAL, skua_put_nb, at, local, 8, &unsignalled);
    REFUSES(INVAL, skua_put_nb, at, local, 8, &forgotten);
    REFUSES(INVAL, skua_put_nb, at, local, 8, &elsewhere);
    REFUSES(ALIGN, skua_put_nb, at, local, 8, &unaligned);
    REFUSES(UNSUPPORTED, skua_put_nb, at, local, 8, &newer);
    REFUSES(INVAL, skua_put_nb, at, local, 8, &unset);
    REFUSES(UNSUPPORTED, skua_get_layout_nb, &flat, at, &flat, &newer);
}

static void accumulates(void)
{
    const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, NULL}, none = {SKUA_BIT_OR, SKUA_DOUBLE, NULL};

    REFUSES(RANGE, skua_acc, beyond, local, 8, &sum);
    REFUSES(INVAL, skua_acc, at, local, 8, &none);
    REFUSES(ALIGN, skua_acc, odd, local, 8, &sum);
    REFUSES(RANGE, skua_acc_layout, beyond, &strided, &flat, &sum);
    REFUSES(RANGE, skua_acc_layout, beyond, &list, &flat, &sum);
    REFUSES(INVAL, skua_acc_layout, at, &overlaid, &flat, &sum);
    REFUSES(RANGE, skua_acc_nb, beyond, local, 8, &sum, NULL);
    REFUSES(RANGE, skua_acc_layout_nb, beyond, &indexed, &flat, &sum, NULL);
}

static void atomics(void)
{
    uint64_t old;
    uint32_t word;

    REFUSES(RANGE, skua_fetch_add64, beyond, 1, &old);
    REFUSES(ALIGN, skua_fetch_add64, odd, 1, &old);
    REFUSES(REGION, skua_fetch_and64, nowhere, 1, &old);
    REFUSES(RANGE, skua_fetch_or64, beyond, 1, &old);
    REFUSES(RANGE, skua_fetch_xor64, beyond, 1, &old);
    REFUSES(RANGE, skua_swap64, beyond, 1, &old);
    REFUSES(RANGE, skua_compare_swap64, beyond, 0, 1, &old);
    REFUSES(RANGE, skua_load64, beyond, &old);
    REFUSES(RANGE, skua_store64, beyond, 1);
    REFUSES(RANGE, skua_fetch_add32, beyond, 1, &word);
    REFUSES(ALIGN, skua_fetch_and32, odd, 1, &word);
    REFUSES(RANGE, skua_fetch_or32, beyond, 1, &word);
    REFUSES(RANGE, skua_fetch_xor32, beyond, 1, &word);
    REFUSES(RANGE, skua_swap32, beyond, 1, &word);
    REFUSES(RANGE, skua_compare_swap32, beyond, 0, 1, &word);
    REFUSES(RANGE, skua_load32, beyond, &word);
    REFUSES(RANGE, skua_store32, beyond, 1);
    REFUSES(RANGE, skua_notify_add, beyond, 1);
}

static void regions(void)
{
    const int   others[] = {skua_pes()}, twice[] = {0, 0};
    skua_region region;

    REFUSES(REGION, skua_region_destroy, freed);
    REFUSES(INVAL, skua_region_create, 64, NULL);
    REFUSES(INVAL, skua_region_create_on, others, 1, 64, &region);
    REFUSES(INVAL, skua_region_create_on, twice, 2, 64, &region);
}

static void channels_and_buffers(void)
{
    const skua_layout none = skua_layout_contiguous(NULL, 0);
    skua_buffer       mine =
        skua_buffer_make(local, sizeof local, SKUA_REGISTER_NEVER, skua_done_nothing(), 0);
    skua_buffer  wrong = mine;
    skua_channel channel;

    const skua_channel_reduction_def no_buffer = {
        .count = 1, .type = SKUA_DOUBLE, .op = SKUA_SUM, .senders = 1, .name = "none"};
    const skua_channel_reduction_def newer = {.size = sizeof newer + 8};

    wrong.pe = skua_pes();
    REFUSES(INVAL, skua_channel_create, &none, NULL, NULL, "none", &channel);
    REFUSES(INVAL, skua_channel_create_view, &none, NULL, NULL, "none", &channel);
    REFUSES(INVAL, skua_channel_create_reduction, &no_buffer, &channel);
    REFUSES(UNSUPPORTED, skua_channel_create_reduction, &newer, &channel);
    REFUSES(INVAL, skua_buffer_get, &wrong, &mine);
    REFUSES(INVAL, skua_buffer_put, &wrong, &mine);
}

static void messages(void)
{
    const uint32_t words[2] = {1, 2};
    skua_msg      *msg      = skua_msg_alloc_bits(8, 32);

    REFUSES(INVAL, skua_msg_set_priority_bits, msg, words, 33);
    skua_msg_free(msg);
    CHECK(skua_msg_try_alloc(SIZE_MAX, &msg) == SKUA_ERR_NOMEM);
    CHECK(told.times == 1 && told.status == SKUA_ERR_NOMEM && strstr(told.line, "any memory"));
    told.times = 0;
}

static void on_log(void *arg, const skua_log_line *line)
{
    snprintf(arg, sizeof told.line, "%s", line->text);
}

static void logged(void)
{
    char        text[sizeof told.line] = "";
    skua_region region;

    CHECK(skua_region_create_local(64, &region) == SKUA_OK);
    CHECK(skua_region_set_name(region, "the halo") == SKUA_OK);
    skua_log_set_callback(on_log, text);
    REFUSES(RANGE, skua_put, skua_at(region, skua_pe(), 64), local, 8);
    CHECK(text[0] == '\0');
    told.logs = true;
    REFUSES(RANGE, skua_put, skua_at(region, skua_pe(), 64), local, 8);
    told.logs = false;
    skua_log_set_callback(NULL, NULL);
    CHECK(strstr(text, "skua_put") && strstr(text, "the halo"));
    CHECK(skua_region_destroy(region) == SKUA_OK);
}

/* ---- */

static void misuse_all(void)
{
    at      = skua_at(piece, 0, 0);
    beyond  = skua_at(piece, 0, BYTES);
    odd     = skua_at(piece, 0, 3);
    nowhere = skua_at((skua_region){0}, 0, 0);
    puts_and_gets();
    puts_and_gets_nb();
    accumulates();
    atomics();
    regions();
    channels_and_buffers();
    messages();
    logged();
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK(skua_region_create(BYTES, &piece) == SKUA_OK);
    CHECK(skua_region_create_local(64, &freed) == SKUA_OK && skua_region_destroy(freed) == SKUA_OK);
    if (skua_pe() == skua_pes() - 1)
        misuse_all();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_error_set_callback(on_error, &told);
    return skua_main(argc, argv, start);
}
