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

    if (valid && (!spec.argument[0] || job_spec_pes(&spec, spec.head.agent) < 1))
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
    static int   agents[]    = {0, 2, 1, 2};

    return (struct job_spec){.head      = {.pes             = 8,
                                           .pes_per_process = 2,
                                           .agent           = 2,
                                           .host_pes        = 4,
                                           .cpus            = 4,
                                           .agents          = 3,
                                           .setting_count   = 2,
                                           .argument_count  = 3},
                             .cpu       = cpus,
                             .agent_of  = agents,
                             .directory = "/tmp",
                             .setting   = settings,
                             .argument  = arguments};
}

static void job_spec_test_round_trip(const struct buffer *text)
{
    struct job_spec spec;

    OK(job_spec_decode(&spec, text->text, text->end), "a specification is decoded");
    OK(spec.cpu[3] == 7 && strcmp(spec.directory, "/tmp") == 0 &&
           strcmp(spec.setting[1], "UCX_TLS=tcp") == 0 && !spec.setting[2],
       "with its CPUs, directory and environment");
    OK(spec.head.agents == 3 && spec.agent_of[1] == 2 && spec.agent_of[2] == 1,
       "with the agent of each process");
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

/* Returns whether a specification with these agents of the processes is valid. */
static bool job_spec_test_agents_valid(int *agent_of, int agents)
{
    struct job_spec spec = job_spec_test_example();
    struct buffer   text = {0};
    bool            valid;

    spec.agent_of    = agent_of;
    spec.head.agents = agents;
    job_spec_encode(&spec, &text);
    valid = job_spec_test_decode(text.text, text.end);
    buffer_free(&text);
    return valid;
}

static void job_spec_test_agents(void)
{
    static int two[] = {2, 1, 0, 2}, below[] = {2, -1, 2, 0}, beyond[] = {2, 2, 3, 0};
    static int three[] = {2, 2, 0, 2}, none[] = {0, 1, 1, 0}, one[] = {0, 2, 1, 0};

    OK(job_spec_test_agents_valid(two, 3), "processes of an agent need not be consecutive");
    OK(!job_spec_test_agents_valid(below, 3) && !job_spec_test_agents_valid(beyond, 3),
       "the agents are those of the job");
    OK(!job_spec_test_agents_valid(three, 3), "each PE of the agent has a CPU");
    OK(job_spec_test_agents_valid(one, 3), "PEs of other agents of the host may have some of them");
    OK(!job_spec_test_agents_valid(none, 3), "the agent has processes");
}

/* The last process of a job may have fewer PEs than the others. */
static void job_spec_test_pes(void)
{
    int             agent_of[] = {0, 0, 1};
    struct job_spec spec       = {.head = {.pes = 7, .pes_per_process = 3}, .agent_of = agent_of};

    OK(job_spec_pes(&spec, 0) == 6, "two full processes");
    OK(job_spec_pes(&spec, 1) == 1, "the rest");
    agent_of[1] = 1;
    OK(job_spec_pes(&spec, 1) == 4, "a full process and the rest");
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
