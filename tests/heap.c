/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - malloc() memory that other PEs can access, with the setting malloc_arena: malloc(),
 * calloc(), realloc() and the aligned functions keep their contracts; other processes read and
 * write the memory by its address; external threads, other PEs, and main() after the end of the PEs
 * may free it; a child of fork() does not affect it.
 *
 * usage: heap [blocks]
 */
#include <malloc.h>
#include <pthread.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "pattern.h"

#define LEAST ((size_t)1024) /* the setting malloc_arena of the test */
#define HELD  64

static skua_handler on_look, on_seen;
static int          blocks = 2000;

/* Kept until main() frees it. */
static struct block {
    char  *at;
    size_t bytes;
} kept[HELD];

struct look {
    char    *at;
    size_t   bytes;
    uint64_t pattern;
    int32_t  pe;
};

/* ---- contracts --------------------------------------------------------------- */

static bool is_zero(const char *at, size_t bytes)
{
    return bytes == 0 || (at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0);
}

/* Allocates with one of the four functions. */
static char *take(uint64_t *seed, size_t bytes)
{
    size_t alignment = (size_t)8 << tap_random(seed) % 10;
    void  *at        = NULL;

    switch (tap_random(seed) % 4) {
    case 0: return malloc(bytes);
    case 1:
        at = calloc(bytes, 1);
        CHECK(is_zero(at, bytes));
        return at;
    case 2: CHECK(posix_memalign(&at, alignment, bytes) == 0); break;
    default: at = aligned_alloc(alignment, bytes); break;
    }
    CHECK((uintptr_t)at % alignment == 0);
    return at;
}

static size_t some_bytes(uint64_t *seed)
{
    return tap_random(seed) % ((size_t)1 << (1 + tap_random(seed) % 19));
}

static void resize(struct block *b, uint64_t *seed, uint64_t pattern)
{
    size_t bytes = some_bytes(seed) + 1;

    b->at = realloc(b->at, bytes);
    CHECK(is_filled(b->at, bytes < b->bytes ? bytes : b->bytes, pattern));
    b->bytes = bytes;
    fill(b->at, bytes, pattern);
}

/* Allocates, enlarges, shrinks and frees blocks of all sizes. */
static void use_many(uint64_t *seed)
{
    struct block mine[HELD] = {{0}};

    for (int n = 0; n < blocks; n++) {
        size_t        i = tap_random(seed) % HELD;
        struct block *b = &mine[i];

        if (!b->at) {
            *b    = (struct block){.bytes = some_bytes(seed)};
            b->at = take(seed, b->bytes);
            CHECK(b->at && malloc_usable_size(b->at) >= b->bytes && (uintptr_t)b->at % 16 == 0);
            fill(b->at, b->bytes, i);
        } else if (tap_random(seed) % 2) {
            resize(b, seed, i);
        } else {
            CHECK(is_filled(b->at, b->bytes, i));
            free(b->at);
            b->at = NULL;
        }
    }
    for (size_t i = 0; i < HELD; i++)
        free(mine[i].at);
}

/* ---- contexts that free a block ------------------------------------------------------------- */

static void *give_back(void *arg)
{
    struct block *b = arg;

    CHECK(is_filled(b->at, b->bytes, 1));
    free(b->at);
    return NULL;
}

/* The function of an external thread. */
static void use_thread(size_t bytes)
{
    struct block b = {malloc(bytes), bytes};
    pthread_t    thread;

    fill(b.at, bytes, 1);
    CHECK(pthread_create(&thread, NULL, give_back, &b) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* A child of fork() that runs for a moment; its allocations are its own. */
static void use_child(void)
{
    char *mine = malloc(8 * LEAST);
    pid_t child;
    int   state;

    fill(mine, 8 * LEAST, 2);
    child = fork();
    if (child == 0) {
        char *its = malloc(8 * LEAST);
        bool  good;

        memset(its, 0, 8 * LEAST);
        good = its != mine && is_filled(mine, 8 * LEAST, 2);
        free(its);
        free(mine);
        _exit(good ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &state, 0) == child && state == 0);
    CHECK(is_filled(mine, 8 * LEAST, 2));
    free(mine);
}

/* ---- other PEs ------------------------------------------------------------------------------ */

/* Another PE checks the block and changes it. */
static void look(skua_msg *msg)
{
    struct look l = *(struct look *)skua_msg_data(msg);

    skua_msg_free(msg);
    CHECK(is_filled(l.at, l.bytes, l.pattern));
    fill(l.at, l.bytes, l.pattern + 1);
    skua_send_copy(l.pe, on_seen, &l, sizeof l);
}

static void seen(skua_msg *msg)
{
    struct look l = *(struct look *)skua_msg_data(msg);

    skua_msg_free(msg);
    CHECK(is_filled(l.at, l.bytes, l.pattern + 1));
    free(l.at);
}

static void show_others(uint64_t *seed)
{
    for (int n = 0; n < 100; n++) {
        struct look l = {.bytes = LEAST + some_bytes(seed), .pattern = tap_random(seed)};

        l.at = malloc(l.bytes);
        l.pe = skua_pe();
        fill(l.at, l.bytes, l.pattern);
        skua_send_copy((int)(tap_random(seed) % (uint64_t)skua_pes()), on_look, &l, sizeof l);
    }
}

static void keep_some(uint64_t *seed)
{
    for (size_t i = 0; i < HELD; i++) {
        kept[i].bytes = LEAST + some_bytes(seed);
        kept[i].at    = malloc(kept[i].bytes);
        fill(kept[i].at, kept[i].bytes, i);
    }
}

static void quiet(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    uint64_t seed = tap_seed() + 7919 * (uint64_t)skua_pe() + 1;

    blocks = argc > 1 ? atoi(argv[1]) : blocks;
    use_many(&seed);
    use_thread(2 * LEAST);
    use_thread(300 * LEAST);
    if (skua_pes() == skua_processes())
        use_child();
    if (skua_pe() == skua_pes() - 1)
        keep_some(&seed);
    show_others(&seed);
    skua_sync();
    if (skua_pe() == 0)
        skua_quiescence(skua_done_call(quiet, NULL));
}

int main(int argc, char **argv)
{
    int code;

    on_look = skua_handler_register("look", look);
    on_seen = skua_handler_register("seen", seen);
    code    = skua_main(argc, argv, start);
    for (size_t i = 0; i < HELD && kept[i].at; i++) {
        if (!is_filled(kept[i].at, kept[i].bytes, i))
            return 1;
        free(kept[i].at);
    }
    return code;
}
