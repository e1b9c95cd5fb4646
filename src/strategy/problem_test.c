/* SPDX-License-Identifier: Apache-2.0 */
/* problem_test.c - problems are read as they were written; wrong files are refused at their place;
 * arbitrary files are refused or are problems. */
#include "strategy/problem.h"

#include <string.h>

#include "base/memory.h"
#include "strategy/problem_make.h"
#include "tests/tap.h"

/* Writes a problem to memory that the caller frees. */
static char *problem_test_text(const skua_strategy_problem *problem, size_t *bytes)
{
    char *text;
    FILE *to = open_memstream(&text, bytes);

    ski_problem_write(to, problem);
    fclose(to);
    return text;
}

static bool problem_test_same(const skua_strategy_problem *a, const skua_strategy_problem *b)
{
    bool same = a->pes == b->pes && a->hosts == b->hosts && a->objects == b->objects &&
                a->edges == b->edges && a->seed == b->seed && !a->hops == !b->hops;

    for (int32_t p = 0; same && p < a->pes; p++)
        same = memcmp(&a->pe[p], &b->pe[p], sizeof *a->pe) == 0;
    for (uint32_t i = 0; same && i < a->objects; i++)
        same = memcmp(&a->object[i], &b->object[i], sizeof *a->object) == 0;
    for (uint32_t k = 0; same && k < a->edges; k++)
        same = memcmp(&a->edge[k], &b->edge[k], sizeof *a->edge) == 0;
    for (int x = 0; same && x < a->hosts * a->hosts; x++)
        same = ski_problem_hops(a, x / a->hosts, x % a->hosts) ==
               ski_problem_hops(b, x / a->hosts, x % a->hosts);
    return same;
}

static int problem_test_ring(const void *arg, int a, int b)
{
    int hosts = *(const int *)arg, way = a > b ? a - b : b - a;

    return way < hosts - way ? way : hosts - way;
}

static void test_problem_round_trip(uint64_t *seed)
{
    static const int hosts = 5;

    for (int k = 0; ski_problem_kinds[k]; k++) {
        struct ski_problem_size size = {9, hosts, 100, tap_random(seed)};
        struct ski_problem      made, read;
        char                    error[SKI_PROBLEM_TEXT] = "", *text;
        size_t                  bytes, at = 0;
        int                     got;

        ski_problem_make(ski_problem_kinds[k], &size, &made);
        made.problem.hops     = k % 2 ? problem_test_ring : NULL;
        made.problem.hops_arg = &hosts;
        text                  = problem_test_text(&made.problem, &bytes);
        got                   = ski_problem_read(text, bytes, &at, &read, error);
        OK(got == 1 && problem_test_same(&made.problem, &read.problem), "%s: read as written %s",
           ski_problem_kinds[k], error);
        ski_problem_destroy(&read);
        OK(ski_problem_read(text, bytes, &at, &read, error) == 0, "%s: and nothing else",
           ski_problem_kinds[k]);
        ski_problem_destroy(&made);
        free(text);
    }
}

/* ---- errors ------------------------------------------------------------------------------------
 */

#define HEAD                                                                                       \
    "{\"format\": \"skua-loads\", \"version\": 1, \"pes\": [{\"host\": 0}, {\"speed\": 2}],\n "
#define OBJECTS "\"objects\": [{\"pe\": 0, \"load\": 1}, {\"pe\": 1, \"load\": 2.5e-1}]"

static const struct problem_test_error {
    const char *text, *error;
} problem_test_errors[] = {
    {"{", "line 1, column 2: expected '\"', but the file ends"},
    {"[]", "line 1, column 1: expected '{'"},
    {"{\"version\": 1}", "\"format\" is missing"},
    {"{\"format\": \"else\"",
     "line 1, column 18: \"format\" has to be \"skua-loads\", not \"else\""},
    {"{\"format\": \"skua-loads\", \"version\": 2}", "version 2 of the format"},
    {HEAD "\"object\": []}", "line 2, column 2: \"object\" is unknown here"},
    {HEAD OBJECTS ", \"pes\": []}", "\"pes\" comes twice"},
    {HEAD "\"objects\": [{\"pe\": 2, \"load\": 1}]}",
     "line 2, column 21: \"pe\" has to be a whole number from 0 to 1, not 2"},
    {HEAD "\"objects\": [{\"pe\": 0}]}", "line 2, column 22: \"load\" is missing"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": -1}]}", "line 2, column 32: \"load\" is negative"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1e999}]}", "\"load\": 1e999 is too large"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1.7e308}]}",
     "load 1.7e+308, which has to be 0 to 1e+100"},
    {"{\"format\": \"skua-loads\", \"version\": 1, \"pes\": [{\"speed\": 1e-300}], \"objects\": "
     "[]}",
     "speed 1e-300 has to be 0 or 1e-100 to 1e+100"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": nan}]}", "expected a number"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 01}]}", "a number does not begin with 0"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1.}]}", "'1.' is no number"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1, \"bytes\": -3}]}", "\"bytes\" has to be"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1, \"movable\": 1}]}", "has to be true or false"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1, \"position\": [1, 2]}]}", "expected ','"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1},]}", "expected '{'"},
    {HEAD "\"edges\": [[0, 1, 1, 1]]}", "\"objects\" has to come before \"edges\""},
    {"{\"format\": \"skua-loads\", \"version\": 1, \"objects\": [{\"pe\": 0",
     "\"pes\" has to come before \"objects\""},
    {HEAD OBJECTS ", \"edges\": [[0, 2, 1, 1]]}", "\"to\" has to be a whole number from 0 to 1"},
    {HEAD OBJECTS ", \"edges\": [[1, 0, 1, 1], [0, 1, 1, 1]]}", "edges have to be sorted"},
    {HEAD OBJECTS ", \"edges\": [[0, 0, 1, 1]]}", "from object 0 to itself"},
    {HEAD OBJECTS ", \"hosts\": 2, \"hops\": [[0, 1], [1]]}", "row 2 of \"hops\" has 1 numbers"},
    {HEAD OBJECTS ", \"hosts\": 2, \"hops\": [[0], [1], [1], [0]]}",
     "\"hops\" has 4 rows of 1 numbers, but there are 2 hosts"},
    {HEAD "\"objects\": [{\"pe\": 0, \"load\": 1, \"bytes\": 9223372036854775808}]}",
     "\"bytes\" has to be a whole number from 0 to 17592186044415"},
    {HEAD OBJECTS "} x", NULL},
    {HEAD OBJECTS ", \"seed\": 18446744073709551615}", NULL},
};

static void test_problem_errors(void)
{
    for (size_t k = 0; k < sizeof problem_test_errors / sizeof *problem_test_errors; k++) {
        const struct problem_test_error *t = &problem_test_errors[k];
        struct ski_problem               read;
        char                             error[SKI_PROBLEM_TEXT] = "";
        size_t                           at                      = 0;
        int got = ski_problem_read(t->text, strlen(t->text), &at, &read, error);

        OK(t->error ? got == -1 && strstr(error, t->error) : got == 1, "%s",
           t->error ? error : "accepted");
        ski_problem_destroy(&read);
    }
}

static void test_problem_several(void)
{
    const char *text = HEAD OBJECTS "}\n" HEAD OBJECTS ", \"seed\": 2} rest";
    struct ski_problem                         read;
    char                                       error[SKI_PROBLEM_TEXT] = "";
    size_t                                     at                      = 0;

    OK(ski_problem_read(text, strlen(text), &at, &read, error) == 1, "the first of two problems");
    ski_problem_destroy(&read);
    OK(ski_problem_read(text, strlen(text), &at, &read, error) == 1 && read.problem.seed == 2,
       "the second");
    ski_problem_destroy(&read);
    OK(ski_problem_read(text, strlen(text), &at, &read, error) == -1, "text after them: %s", error);
}

/* ---- arbitrary files ----------------------------------------------------------------------------
 */

/* Changes a text at a few places: a byte, a piece removed, a piece doubled. */
static size_t problem_test_spoil(char *text, size_t bytes, size_t room, uint64_t *seed)
{
    static const char parts[] = "{}[],:\"0123456789.eE+-tfn \n\\";

    for (unsigned n = (unsigned)(tap_random(seed) % 3) + 1; n > 0 && bytes > 1; n--) {
        size_t at = tap_random(seed) % bytes, piece = tap_random(seed) % 40 + 1;

        piece = piece < bytes - at ? piece : bytes - at;
        switch (tap_random(seed) % 4) {
        case 0: text[at] = (char)tap_random(seed); break;
        case 1: text[at] = parts[tap_random(seed) % (sizeof parts - 1)]; break;
        case 2:
            memmove(text + at, text + at + piece, bytes - at - piece);
            bytes -= piece;
            break;
        default:
            if (bytes + piece > room)
                break;
            memmove(text + at + piece, text + at, bytes - at);
            bytes += piece;
        }
    }
    return bytes;
}

static void test_problem_fuzz(uint64_t *seed)
{
    struct ski_problem_size size = {4, 2, 12, 1};
    struct ski_problem      made, read;
    size_t                  bytes, room;
    char                   *good, *text, error[SKI_PROBLEM_TEXT];
    int                     accepted = 0, bad = 0;

    ski_problem_make("varied", &size, &made);
    good = problem_test_text(&made.problem, &bytes);
    room = bytes + 200;
    for (int round = 0; round < 20000; round++) {
        size_t n, at = 0;
        int    got;

        text = ski_malloc(room); /* of its own, so that AddressSanitizer sees the end */
        memcpy(text, good, bytes);
        n    = problem_test_spoil(text, bytes, room, seed);
        text = ski_realloc(text, n);
        got  = ski_problem_read(text, n, &at, &read, error);
        accepted += got == 1;
        bad += got == 1 && (!ski_problem_check(&read.problem, error) || at > n);
        bad += got == -1 && !strstr(error, "line ");
        ski_problem_destroy(&read);
        free(text);
    }
    OK(bad == 0, "20000 corrupted files are refused or are problems (%d accepted, %d wrong)",
       accepted, bad);
    free(good);
    ski_problem_destroy(&made);
}

int main(void)
{
    uint64_t seed = tap_seed();

    test_problem_round_trip(&seed);
    test_problem_errors();
    test_problem_several();
    test_problem_fuzz(&seed);
    return tap_end();
}
