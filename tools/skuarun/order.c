/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - see order.h. */
#include "order.h"

#include <string.h>

static void add_string(struct buffer *to, const char *text)
{
    buffer_add(to, text, strlen(text) + 1);
}

int order_pes(const struct order_head *head)
{
    int64_t first = (int64_t)head->first * head->pes_per_process;
    int64_t end   = first + (int64_t)head->here * head->pes_per_process;

    return (int)((end < head->pes ? end : head->pes) - first);
}

void order_encode(const struct order *order, struct buffer *to)
{
    buffer_add(to, &order->head, sizeof order->head);
    buffer_add(to, order->cpu, (size_t)order->head.cpus * sizeof *order->cpu);
    add_string(to, order->folder);
    for (int i = 0; i < order->head.settings; i++)
        add_string(to, order->setting[i]);
    for (int i = 0; i < order->head.arguments; i++)
        add_string(to, order->argument[i]);
}

/* What is still to be read. */
struct rest {
    char  *at;
    size_t bytes;
};

static char *take(struct rest *rest, size_t bytes)
{
    char *taken = rest->at;

    rest->at += bytes;
    rest->bytes -= bytes;
    return taken;
}

/* The next string; NULL: there is none. */
static char *take_string(struct rest *rest)
{
    size_t n = strnlen(rest->at, rest->bytes);

    return n < rest->bytes ? take(rest, n + 1) : NULL;
}

/* So many strings and a NULL. */
static bool take_strings(struct rest *rest, int32_t count, char ***strings)
{
    if (count < 0 || (size_t)count > rest->bytes) /* each has a byte at least */
        return false;
    *strings = ski_calloc((size_t)count + 1, sizeof **strings);
    for (int32_t i = 0; i < count; i++)
        if (!((*strings)[i] = take_string(rest)))
            return false;
    return true;
}

static bool take_cpus(struct rest *rest, int32_t count, int **cpu)
{
    size_t bytes = (size_t)count * sizeof **cpu;

    if (count == 0)
        return true;
    if (bytes > rest->bytes)
        return false;
    *cpu = ski_malloc(bytes);
    memcpy(*cpu, take(rest, bytes), bytes);
    return true;
}

static bool is_sane(const struct order_head *h)
{
    int64_t processes;

    if (h->pes < 1 || h->pes > UINT16_MAX || h->pes_per_process < 1 || h->pes_per_process > h->pes)
        return false;
    processes = (h->pes + h->pes_per_process - 1) / h->pes_per_process;
    return h->first >= 0 && h->here >= 1 && (int64_t)h->first + h->here <= processes &&
           (h->cpus == 0 || h->cpus == order_pes(h)) && h->arguments >= 1 && h->beside_first >= 0 &&
           h->beside <= h->pes && (int64_t)h->beside_first + order_pes(h) <= h->beside;
}

bool order_decode(struct order *order, const char *data, size_t bytes)
{
    struct rest rest = {.bytes = bytes};

    *order = (struct order){0};
    if (bytes < sizeof order->head)
        return false;
    memcpy(&order->head, data, sizeof order->head);
    if (!is_sane(&order->head))
        return false;
    rest.at = order->text = memcpy(ski_malloc(bytes), data, bytes);
    take(&rest, sizeof order->head);
    return take_cpus(&rest, order->head.cpus, &order->cpu) &&
           (order->folder = take_string(&rest)) != NULL &&
           take_strings(&rest, order->head.settings, &order->setting) &&
           take_strings(&rest, order->head.arguments, &order->argument) && rest.bytes == 0;
}

void order_free(struct order *order)
{
    free(order->text);
    free(order->cpu);
    free(order->setting);
    free(order->argument);
}
