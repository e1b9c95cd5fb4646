/* SPDX-License-Identifier: Apache-2.0 */
/* job_spec_test.c - job specifications: a valid one survives encoding; truncated and corrupted ones
 * are rejected without reading beyond their memory. */
#include "protocol/job_spec.h"

#include <string.h>

#include "tests/tap.h"

#define ROUNDS 20000

static uint64_t job_spec_test_seed;

static size_t job_spec_test_below(size_t n)
{
    return tap_random(&job_spec_test_seed) % n;
}

/* Decodes a copy in memory of exactly that size.  Returns whether it is valid. */
static bool job_spec_test_decode(const char *text, size_t bytes)
{
    char           *copy = memcpy(ski_malloc(bytes + !bytes), text, bytes);
    struct job_spec spec;
    bool            valid = job_spec_decode(&spec, copy, bytes);

    if (valid && (!spec.argument[0] || job_spec_pes(&spec.head) < 1))
        OK(false, "a valid specification has a program and PEs");
    job_spec_free(&spec);
    free(copy);
    return valid;
}

static struct job_spec job_spec_test_example(void)
{
    static char *settings[]  = {"SKUA_PIN=none", "UCX_TLS=tcp", NULL};
    static char *arguments[] = {"app", "", "x y", NULL};
    static int   cpus[]      = {4, 5, 6, 7};
    static int   agents[]    = {0, 1, 2};

    return (struct job_spec){.head        = {.pes             = 8,
                                             .pes_per_process = 2,
                                             .first           = 2,
                                             .here            = 2,
                                             .host_pes        = 4,
                                             .cpus            = 4,
                                             .agents          = 3,
                                             .setting_count   = 2,
                                             .argument_count  = 3},
                             .cpu         = cpus,
                             .agent_first = agents,
                             .directory   = "/tmp",
                             .setting     = settings,
                             .argument    = arguments};
}

static void job_spec_test_round_trip(const struct buffer *text)
{
    struct job_spec spec;

    OK(job_spec_decode(&spec, text->text, text->end), "a specification is decoded");
    OK(spec.cpu[3] == 7 && strcmp(spec.directory, "/tmp") == 0 &&
           strcmp(spec.setting[1], "UCX_TLS=tcp") == 0 && !spec.setting[2],
       "with its CPUs, directory and environment");
    OK(spec.head.agents == 3 && spec.agent_first[1] == 1 && spec.agent_first[2] == 2,
       "with the first process of each agent");
    OK(strcmp(spec.argument[1], "") == 0 && strcmp(spec.argument[2], "x y") == 0 &&
           !spec.argument[3],
       "with its arguments, empty ones too");
    job_spec_free(&spec);
}

static void job_spec_test_corrupted(const struct buffer *text)
{
    int valid = 0;

    for (size_t n = 0; n < text->end; n++)
        if (job_spec_test_decode(text->text, n))
            OK(false, "a specification truncated to %zu bytes is invalid", n);
    for (int round = 0; round < ROUNDS; round++) {
        char *copy = memcpy(ski_malloc(text->end), text->text, text->end);

        for (size_t i = job_spec_test_below(4) + 1; i > 0; i--)
            copy[job_spec_test_below(text->end)] = (char)tap_random(&job_spec_test_seed);
        valid += job_spec_test_decode(copy, text->end);
        free(copy);
    }
    OK(valid > 0 && valid < ROUNDS, "corrupted: %d of %d were valid", valid, ROUNDS);
}

/* Returns whether a specification whose agents begin at @p first is valid. */
static bool job_spec_test_agents_valid(int *first, int agents)
{
    struct job_spec spec = job_spec_test_example();
    struct buffer   text = {0};
    bool            valid;

    spec.agent_first = first;
    spec.head.agents = agents;
    job_spec_encode(&spec, &text);
    valid = job_spec_test_decode(text.text, text.end);
    buffer_free(&text);
    return valid;
}

static void job_spec_test_agents(void)
{
    static int late[] = {1, 2}, mixed[] = {0, 3, 2}, beyond[] = {0, 2, 4}, other[] = {0, 1, 3};

    OK(!job_spec_test_agents_valid(late, 2) && !job_spec_test_agents_valid(mixed, 3) &&
           !job_spec_test_agents_valid(beyond, 3),
       "agents begin at process 0, ascend, and have processes");
    OK(!job_spec_test_agents_valid(other, 3), "the agent is one of them");
}

/* The last process of a job may have fewer PEs than the others. */
static void job_spec_test_pes(void)
{
    struct job_spec_head head = {.pes = 7, .pes_per_process = 3, .first = 0, .here = 2};

    OK(job_spec_pes(&head) == 6, "two full processes");
    head.first = 1;
    OK(job_spec_pes(&head) == 4, "a full process and the rest");
    head.first = 2;
    head.here  = 1;
    OK(job_spec_pes(&head) == 1, "the rest");
}

int main(void)
{
    struct job_spec spec = job_spec_test_example();
    struct buffer   text = {0};

    job_spec_test_seed = tap_seed();
    job_spec_encode(&spec, &text);
    job_spec_test_round_trip(&text);
    job_spec_test_corrupted(&text);
    job_spec_test_agents();
    job_spec_test_pes();
    buffer_free(&text);
    return tap_end();
}
