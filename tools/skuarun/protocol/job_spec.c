/* SPDX-License-Identifier: Apache-2.0 */
/* job_spec.c - see job_spec.h. */
#include "protocol/job_spec.h"

#include <string.h>

static void job_spec_add_string(struct buffer *to, const char *text)
{
    buffer_add(to, text, strlen(text) + 1);
}

int job_spec_pes(const struct job_spec_head *head)
{
    int64_t first = (int64_t)head->first * head->pes_per_process;
    int64_t end   = first + (int64_t)head->here * head->pes_per_process;

    return (int)((end < head->pes ? end : head->pes) - first);
}

/* Whether the numbers are possible, in a specification that any process may have sent. */
static bool job_spec_is_valid(const struct job_spec_head *h)
{
    int64_t processes;

    if (h->pes < 1 || h->pes > UINT16_MAX || h->pes_per_process < 1 || h->pes_per_process > h->pes)
        return false;
    processes = (h->pes + h->pes_per_process - 1) / h->pes_per_process;
    return h->first >= 0 && h->here >= 1 && (int64_t)h->first + h->here <= processes &&
           (h->cpus == 0 || h->cpus == job_spec_pes(h)) && h->argument_count >= 1 &&
           h->agents >= 1 && h->agents <= processes && h->host_first_pe >= 0 &&
           h->host_pes <= h->pes && (int64_t)h->host_first_pe + job_spec_pes(h) <= h->host_pes;
}

void job_spec_encode(const struct job_spec *spec, struct buffer *to)
{
    ski_assert(job_spec_is_valid(&spec->head));
    buffer_add(to, &spec->head, sizeof spec->head);
    buffer_add(to, spec->cpu, (size_t)spec->head.cpus * sizeof *spec->cpu);
    buffer_add(to, spec->agent_first, (size_t)spec->head.agents * sizeof *spec->agent_first);
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

/* Whether the first processes of the agents ascend from 0 on, and this agent has those up to the
 * next one. */
static bool job_spec_agents_valid(const struct job_spec *spec)
{
    const struct job_spec_head *h     = &spec->head;
    int                         end   = (h->pes + h->pes_per_process - 1) / h->pes_per_process;
    bool                        found = false;

    if (spec->agent_first[0] != 0)
        return false;
    for (int i = 0; i < h->agents; i++) {
        int next = i + 1 < h->agents ? spec->agent_first[i + 1] : end;

        if (next <= spec->agent_first[i] || next > end)
            return false;
        found |= spec->agent_first[i] == h->first && next == h->first + h->here;
    }
    return found;
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
           job_spec_take_numbers(&rest, spec->head.agents, &spec->agent_first) &&
           job_spec_agents_valid(spec) && (spec->directory = job_spec_take_string(&rest)) != NULL &&
           job_spec_take_strings(&rest, spec->head.setting_count, &spec->setting) &&
           job_spec_take_strings(&rest, spec->head.argument_count, &spec->argument) &&
           rest.bytes == 0;
}

void job_spec_free(struct job_spec *spec)
{
    free(spec->text);
    free(spec->cpu);
    free(spec->agent_first);
    free(spec->setting);
    free(spec->argument);
}
