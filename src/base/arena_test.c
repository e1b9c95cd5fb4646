/* SPDX-License-Identifier: Apache-2.0 */
/* arena_test.c - mapping, spans, and that freed pages go back to the system unless
 * they are wanted again. */
#include "base/arena.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static size_t resident_bytes(int fd)
{
    struct stat file;
    return fstat(fd, &file) == 0 ? (size_t)file.st_blocks * 512 : 0;
}

static void *span(struct ski_arena *arena, size_t bytes)
{
    void *memory = NULL;
    ski_span_alloc(arena, bytes, SKI_UNIT_LARGE, &memory);
    return memory;
}

static void test_sharing(struct ski_arena *arena, int fd)
{
    int  *number = span(arena, 4096);
    int   status;
    pid_t child;

    *number = 1;
    child   = fork();
    if (child == 0) {
        struct ski_arena *mine;
        ski_arena_detach(arena);
        if (ski_arena_attach(fd, &mine) != SKUA_OK || mine != arena || *number != 1)
            _exit(1);
        *number = 2;
        _exit(0);
    }
    waitpid(child, &status, 0);
    OK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "another process maps it at the same address");
    OK(*number == 2, "and what it writes is seen here");
    ski_span_free(arena, number);
}

static void test_descriptor(int fd)
{
    struct stat file;

    OK(fstat(fd, &file) == 0 && (file.st_mode & 0777) == 0600, "nobody else may open it");
    OK(ftruncate(fd, 4096) < 0, "nobody can shrink it");
}

/* Takes and touches a span, frees it again; true: it has kept its pages. */
static bool stays(struct ski_arena *arena, int fd, size_t bytes)
{
    char *large = span(arena, bytes);

    memset(large, 1, bytes);
    ski_span_free(arena, large);
    return resident_bytes(fd) >= bytes;
}

static void test_pages(struct ski_arena *arena, int fd)
{
    size_t before = resident_bytes(fd);
    char  *large  = span(arena, 64 * MIB);
    int    bad    = 0;

    OK(resident_bytes(fd) - before < MIB, "a span takes no pages before it is touched");
    memset(large, 1, 64 * MIB);
    OK(resident_bytes(fd) - before >= 64 * MIB, "touching takes them");
    ski_span_free(arena, large);
    OK(resident_bytes(fd) - before < 2 * MIB, "freeing a large span gives them back");
    large = span(arena, MIB);
    memset(large, 1, MIB);
    ski_span_free(arena, large);
    OK(resident_bytes(fd) - before >= MIB, "a small one keeps them, for quick reuse");
    OK(span(arena, MIB) == large, "and is the next to be used");
    ski_span_free(arena, large);
    for (int i = 0; i < 3; i++)
        bad += stays(arena, fd, 64 * MIB);
    OK(bad == 0, "a bound that was chosen stays");
}

static void test_regret(void)
{
    struct ski_arena *arena;
    int               fd;

    OK(ski_arena_create(512 * MIB, 0, 0, &arena, &fd) == SKUA_OK, "an arena that may keep more");
    OK(stays(arena, fd, 32 * MIB), "keeps some pages from the beginning");
    OK(!stays(arena, fd, 80 * MIB), "not many");
    OK(stays(arena, fd, 80 * MIB), "but those that are wanted again after they went");
    OK(stays(arena, fd, 80 * MIB), "and ever again");
    OK(!stays(arena, fd, 160 * MIB) && !stays(arena, fd, 160 * MIB) && !stays(arena, fd, 160 * MIB),
       "never more than a quarter of the arena");
    ski_arena_detach(arena);
    close(fd);
}

static void test_exhaustion(struct ski_arena *arena)
{
    size_t free_bytes = ski_arena_free_bytes(arena);
    void  *memory     = &memory;

    OK(ski_span_alloc(arena, free_bytes + 1, SKI_UNIT_LARGE, &memory) == SKUA_ERR_NOMEM &&
           memory == &memory,
       "more than there is, is a status and leaves the result alone");
    OK(ski_span_alloc(arena, SIZE_MAX, SKI_UNIT_LARGE, &memory) == SKUA_ERR_NOMEM, "also far more");
    OK(ski_span_alloc(arena, free_bytes, SKI_UNIT_LARGE, &memory) == SKUA_OK,
       "all that there is can be had");
    OK(ski_arena_free_bytes(arena) == 0, "then nothing is left");
    ski_span_free(arena, memory);
    OK(ski_arena_free_bytes(arena) == free_bytes, "until it comes back");
}

/* Random spans, each filled with a value of its own that must survive. */
static void test_random(struct ski_arena *arena)
{
    enum { HELD = 200, STEPS = 20000 };
    static struct {
        unsigned char *memory;
        size_t         bytes;
    } held[HELD];
    uint64_t seed  = tap_seed();
    size_t   whole = ski_arena_free_bytes(arena);
    int      bad   = 0;

    for (int step = 0; step < STEPS; step++) {
        int i = (int)(tap_random(&seed) % HELD);
        if (held[i].memory) {
            bad += held[i].memory[0] != (unsigned char)i ||
                   held[i].memory[held[i].bytes - 1] != (unsigned char)i;
            ski_span_free(arena, held[i].memory);
            held[i].memory = NULL;
        } else {
            held[i].bytes  = 1 + tap_random(&seed) % (SKI_UNIT_BYTES << tap_random(&seed) % 6);
            held[i].memory = span(arena, held[i].bytes);
            if (!held[i].memory)
                continue;
            held[i].memory[0]                 = (unsigned char)i;
            held[i].memory[held[i].bytes - 1] = (unsigned char)i;
        }
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].memory)
            ski_span_free(arena, held[i].memory);
    OK(bad == 0, "spans do not overlap");
    OK(ski_arena_free_bytes(arena) == whole, "all of them come back");
    OK(arena->unit[arena->bin[0]].units != 1 || arena->bin[0] == 0, "and are merged");
}

static void test_failures(struct ski_arena *arena, int fd)
{
    struct ski_arena *other;
    int               other_fd = open("/dev/null", O_RDONLY);
    int               empty    = memfd_create("empty", 0);

    OK(ski_arena_attach(fd, &other) == SKUA_ERR_ADDRESS, "an address that is taken is an error");
    OK(ski_arena_attach(other_fd, &other) == SKUA_ERR_INVAL,
       "a descriptor of something else is one");
    OK(ski_arena_attach(empty, &other) == SKUA_ERR_INVAL, "so is an empty memfd");
    OK(ski_arena_attach(-1, &other) == SKUA_ERR_INVAL, "and none at all");
    OK(ski_arena_create(4096, 0, 0, &other, &other_fd) == SKUA_ERR_INVAL, "too small an arena");
    OK(ski_arena_create(MIB, (uintptr_t)arena, 0, &other, &other_fd) == SKUA_ERR_ADDRESS,
       "creating one where another is");
    close(empty);
}

int main(void)
{
    struct ski_arena *arena;
    int               fd;

    OK(ski_arena_create(256 * MIB, 0, 8 * MIB, &arena, &fd) == SKUA_OK, "create");
    test_descriptor(fd);
    test_sharing(arena, fd);
    test_pages(arena, fd);
    test_regret();
    test_exhaustion(arena);
    test_random(arena);
    test_failures(arena, fd);
    ski_arena_detach(arena);
    close(fd);
    return tap_end();
}
