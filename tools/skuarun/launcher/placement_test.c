/* SPDX-License-Identifier: Apache-2.0 */
/* placement_test.c - where the processes of the next epoch run, and which agents read its images.
 */
#include "launcher/placement.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/tap.h"

#define PLACEMENT_TEST_AGENTS 7

/* A job of 7 hosts: each has images of the process of its number and of the one before. */
struct placement_test_job {
    struct remote_agent agent[PLACEMENT_TEST_AGENTS];
    struct image_record record[PLACEMENT_TEST_AGENTS][2];
    struct proc_map     map;
};

static void placement_test_begin(struct placement_test_job *job, int hosts)
{
    *job = (struct placement_test_job){.map = {.pes        = hosts,
                                               .threads    = 1,
                                               .processes  = hosts,
                                               .generation = 8,
                                               .agent_of = ski_calloc((size_t)hosts, sizeof(int))}};
    for (int i = 0; i < hosts; i++) {
        int before = (i + hosts - 1) % hosts;

        job->map.agent_of[i] = i;
        job->record[i][0]    = (struct image_record){8, i, hosts, hosts};
        job->record[i][1]    = (struct image_record){8, before, hosts, hosts};
        job->agent[i]        = (struct remote_agent){.record = job->record[i], .records = 2};
    }
}

/* Writes the agents of the processes, and those that read the images, in digits. */
static const char *placement_test_text(const struct placement_test_job *job)
{
    static char text[64];
    size_t      used = 0;

    for (int i = 0; i < job->map.processes; i++)
        text[used++] = (char)('0' + job->map.agent_of[i]);
    text[used++] = ' ';
    for (int i = 0; i < job->map.formers; i++)
        text[used++] = (char)('0' + job->map.reader_of[i]);
    text[used] = '\0';
    return text;
}

static void placement_test_expect(struct placement_test_job *job, int pes, int hosts,
                                  const char *expected)
{
    const char *text =
        placement_make(&job->map, pes, 1, job->agent, hosts) ? placement_test_text(job) : "no host";

    OK(strcmp(text, expected) == 0, "%d PEs on %d hosts: \"%s\" is \"%s\"", pes, hosts, text,
       expected);
}

static void placement_test_lose(struct placement_test_job *job, int host)
{
    job->agent[host].conn.in = -1;
    job->agent[host].records = 0;
}

static void placement_test_losses(void)
{
    struct placement_test_job job;

    placement_test_begin(&job, 3);
    placement_test_expect(&job, 3, 3, "012 012");
    placement_test_lose(&job, 1);
    placement_test_expect(&job, 3, 3, "002 022");
    placement_test_expect(&job, 2, 3, "02 020");
    placement_test_lose(&job, 0);
    placement_test_lose(&job, 2);
    placement_test_expect(&job, 3, 3, "no host");
    proc_map_free(&job.map);

    placement_test_begin(&job, 3);
    job.agent[3] = (struct remote_agent){.records = 0}; /* a spare host */
    placement_test_expect(&job, 3, 4, "012 012");
    placement_test_lose(&job, 1);
    placement_test_expect(&job, 3, 4, "032 022");
    proc_map_free(&job.map);
}

static void placement_test_sizes(void)
{
    struct placement_test_job job;

    placement_test_begin(&job, 7);
    OK(placement_least(job.agent, 7, 8, 1) == 4 && placement_least(job.agent, 7, 8, 5) == 5 &&
           placement_least(job.agent, 7, 8, 9) == 9,
       "every other host is enough");
    OK(placement_least(job.agent, 7, 0, 1) == 1, "without images any is");
    placement_test_expect(&job, 4, 7, "0153 0133550");
    placement_test_expect(&job, 9, 7, "015324601 0123456");
    proc_map_free(&job.map);
    placement_test_begin(&job, 2);
    placement_test_expect(&job, 1, 2, "0 00");
    placement_test_expect(&job, 5, 2, "01010 01");
    proc_map_free(&job.map);
}

int main(void)
{
    placement_test_losses();
    placement_test_sizes();
    return tap_end();
}
