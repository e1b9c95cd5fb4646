/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_list_test.c - partial results stay in the order of their numbers, also across the wrap;
 * each is found, and combines its contributions. */
#include "objects/collective/reduction_list.h"

#include <string.h>

#include "tests/tap.h"

/* A record of a module that needs more than the list does. */
struct reduction_list_test_record {
    struct ski_reduction_partial result;
    int                          mark;
};

static const struct reduction_list_test_record reduction_list_test_fresh = {.mark = 7};

static struct ski_reduction_partial *reduction_list_test_get(struct ski_reduction_partial **list,
                                                             uint32_t                       number)
{
    return *ski_reduction_list_seek(list, number, &reduction_list_test_fresh,
                                    sizeof reduction_list_test_fresh);
}

static void reduction_list_test_seeks(void)
{
    struct ski_reduction_partial *list = NULL, *five, *three, **at;

    OK(!ski_reduction_list_find(list, 5), "an empty list has no partial result");
    five  = reduction_list_test_get(&list, 5);
    three = reduction_list_test_get(&list, 3);
    OK(list == three && three->next == five && !five->next, "a list is in order");
    OK(((struct reduction_list_test_record *)three)->mark == 7, "a new record begins as given");
    OK(three->number == 3 && !three->contributions && !three->buffer.filled, "and is empty");
    OK(reduction_list_test_get(&list, 5) == five, "a number is added once");
    OK(ski_reduction_list_find(list, 3) == three && !ski_reduction_list_find(list, 4) &&
           !ski_reduction_list_find(list, 6),
       "a number that was not added is not found");
    at = ski_reduction_list_seek(&three->next, 4, &reduction_list_test_fresh,
                                 sizeof reduction_list_test_fresh);
    OK(at == &three->next && (*at)->number == 4 && (*at)->next == five, "from a link on");
    ski_reduction_list_free(&list);
    OK(!list, "a freed list is empty");
}

static void reduction_list_test_wraps(void)
{
    struct ski_reduction_partial *list  = NULL, *at;
    const uint32_t                first = UINT32_MAX - 1;
    uint32_t                      next  = first;

    for (uint32_t i = 4; i-- > 0;)
        reduction_list_test_get(&list, first + i);
    for (at = list; at && at->number == next; at = at->next)
        next++;
    OK(!at && next == first + 4, "numbers that wrap around are in order");
    ski_reduction_list_free(&list);
}

static void reduction_list_test_adds(void)
{
    struct ski_reduction_partial *list    = NULL;
    struct ski_reduction_partial *partial = reduction_list_test_get(&list, 0);
    struct ski_reduction_spec     spec    = {SKUA_SUM, SKUA_INT32, 1};
    skua_completion               none = {0}, first = {.kind = 1}, second = {.kind = 2};
    int32_t                       one = 1, sum;

    ski_reduction_partial_add(partial, &spec, &one, sizeof one, &none, 3);
    ski_reduction_partial_add(partial, &spec, &one, sizeof one, &first, 4);
    ski_reduction_partial_add(partial, &spec, &one, sizeof one, &second, 5);
    memcpy(&sum, partial->buffer.data, sizeof sum);
    OK(sum == 3 && partial->buffer.pe == 3, "contributions are combined");
    OK(partial->buffer.to.kind == 1, "the first completion that is known gets the result");
    ski_reduction_list_free(&list);
}

int main(void)
{
    reduction_list_test_seeks();
    reduction_list_test_wraps();
    reduction_list_test_adds();
    return tap_end();
}
