/* SPDX-License-Identifier: Apache-2.0 */
/* job_spec.c - see job_spec.h. */
#include "protocol/job_spec.h"

#include <string.h>

static void job_spec_add_string(struct buffer *to, const char *text)
{
    buffer_add(to, text, strlen(text) + 1);
}

int job_spec_processes(const struct job_spec_head *h)
{
    return (h->pes + h->pes_per_process - 1) / h->pes_per_process;
}

int job_spec_pes(const struct job_spec *spec, int agent)
{
    const struct job_spec_head *h         = &spec->head;
    int                         processes = job_spec_processes(h), sum = 0;

    for (int i = 0; i < processes; i++)
        if (spec->agent_of[i] == agent)
            sum += i < processes - 1 ? h->pes_per_process
                                     : h->pes - (processes - 1) * h->pes_per_process;
    return sum;
}

/* Returns whether the numbers are possible, in a specification that any process may have sent. */
static bool job_spec_is_valid(const struct job_spec_head *h)
{
    return h->pes >= 1 && h->pes <= UINT16_MAX && h->pes_per_process >= 1 &&
           h->pes_per_process <= h->pes && h->agents >= 1 && h->agents <= UINT16_MAX &&
           h->agent >= 0 && h->agent < h->agents && h->cpus >= 0 && h->cpus <= h->pes &&
           h->argument_count >= 1 && h->epoch >= 0 && h->reads >= 0 && h->reads <= UINT16_MAX &&
           h->host_first_pe >= 0 && h->host_pes <= h->pes;
}

void job_spec_encode(const struct job_spec *spec, struct buffer *to)
{
    ski_assert(job_spec_is_valid(&spec->head));
    buffer_add(to, &spec->head, sizeof spec->head);
    buffer_add(to, spec->cpu, (size_t)spec->head.cpus * sizeof *spec->cpu);
    buffer_add(to, spec->agent_of,
               (size_t)job_spec_processes(&spec->head) * sizeof *spec->agent_of);
    buffer_add(to, spec->read, (size_t)spec->head.reads * sizeof *spec->read);
    job_spec_add_string(to, spec->directory);
    for (int i = 0; i < spec->head.setting_count; i++)
        job_spec_add_string(to, spec->setting[i]);
    for (int i = 0; i < spec->head.argument_count; i++)
        job_spec_add_string(to, spec->argument[i]);
}

/* The bytes that have not been decoded yet. */
struct job_spec_cursor {
    char  *at;
    size_t bytes;
};

static char *job_spec_take(struct job_spec_cursor *rest, size_t bytes)
{
    char *taken = rest->at;

    ski_assert(bytes <= rest->bytes);
    rest->at += bytes;
    rest->bytes -= bytes;
    return taken;
}

/* Decodes a string.  Returns NULL if no terminating 0 is left. */
static char *job_spec_take_string(struct job_spec_cursor *rest)
{
    size_t n = strnlen(rest->at, rest->bytes);

    return n < rest->bytes ? job_spec_take(rest, n + 1) : NULL;
}

/* Decodes @p count strings into an array ended by NULL. */
static bool job_spec_take_strings(struct job_spec_cursor *rest, int32_t count, char ***strings)
{
    if (count < 0 || (size_t)count > rest->bytes) /* a string has at least its 0 */
        return false;
    *strings = ski_calloc((size_t)count + 1, sizeof **strings);
    for (int32_t i = 0; i < count; i++)
        if (!((*strings)[i] = job_spec_take_string(rest)))
            return false;
    return true;
}

/* Decodes @p count numbers into an array; NULL if there are none. */
static bool job_spec_take_numbers(struct job_spec_cursor *rest, int32_t count, int **numbers)
{
    size_t bytes = (size_t)count * sizeof **numbers;

    if (count == 0)
        return true;
    if (bytes > rest->bytes)
        return false;
    *numbers = ski_malloc(bytes);
    memcpy(*numbers, job_spec_take(rest, bytes), bytes);
    return true;
}

/* Returns whether each process has an agent, and this one has PEs that fit into its host. */
static bool job_spec_agents_valid(const struct job_spec *spec)
{
    const struct job_spec_head *h = &spec->head;
    int                         pes;

    for (int i = 0; i < job_spec_processes(h); i++)
        if (spec->agent_of[i] < 0 || spec->agent_of[i] >= h->agents)
            return false;
    pes = job_spec_pes(spec, h->agent);
    return pes > 0 && (h->cpus == 0 || h->cpus == h->host_pes) &&
           (int64_t)h->host_first_pe + pes <= h->host_pes;
}

bool job_spec_decode(struct job_spec *spec, const char *data, size_t bytes)
{
    struct job_spec_cursor rest = {.bytes = bytes};

    *spec = (struct job_spec){0};
    if (bytes < sizeof spec->head)
        return false;
    memcpy(&spec->head, data, sizeof spec->head);
    if (!job_spec_is_valid(&spec->head))
        return false;
    rest.at = spec->text = memcpy(ski_malloc(bytes), data, bytes);
    job_spec_take(&rest, sizeof spec->head);
    return job_spec_take_numbers(&rest, spec->head.cpus, &spec->cpu) &&
           job_spec_take_numbers(&rest, job_spec_processes(&spec->head), &spec->agent_of) &&
           job_spec_take_numbers(&rest, spec->head.reads, &spec->read) &&
           job_spec_agents_valid(spec) && (spec->directory = job_spec_take_string(&rest)) != NULL &&
           job_spec_take_strings(&rest, spec->head.setting_count, &spec->setting) &&
           job_spec_take_strings(&rest, spec->head.argument_count, &spec->argument) &&
           rest.bytes == 0;
}

void job_spec_free(struct job_spec *spec)
{
    free(spec->text);
    free(spec->cpu);
    free(spec->agent_of);
    free(spec->read);
    free(spec->setting);
    free(spec->argument);
}
