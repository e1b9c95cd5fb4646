/* SPDX-License-Identifier: Apache-2.0 */
/* kvs_test.c - the key-value store: control records are checked, waiting requests are answered, the
 * store grows up to its limit. */
#include "protocol/kvs.h"

#include <string.h>

#include "tests/tap.h"

static void kvs_test_decode(void)
{
    struct ski_control head = {.kind = SKI_CONTROL_GET, .process = 3, .key = "ports"}, read;
    const char        *text = (const char *)&head;

    OK(kvs_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "a get is decoded");
    OK(!kvs_decode(SKI_CONTROL_GET, 3, text, sizeof head, &read), "the process does not exist");
    OK(!kvs_decode(SKI_CONTROL_PUT, 4, text, sizeof head, &read), "a get is no put");
    OK(!kvs_decode(SKI_CONTROL_GET, 4, text, sizeof head - 1, &read), "a truncated get");
    head.process = -1;
    OK(!kvs_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "a get of process -1");
    head.process = 3;
    head.bytes   = 7;
    OK(!kvs_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "a get with a value");
    head.bytes = 0;
    memset(head.key, 'k', sizeof head.key);
    OK(!kvs_decode(SKI_CONTROL_GET, 4, text, sizeof head, &read), "a key without its 0");
}

static int kvs_test_answers, kvs_test_requester;

static void kvs_test_on_answer(void *arg, int requester, const struct ski_control *head,
                               const char *value)
{
    (void)arg;
    kvs_test_answers++;
    kvs_test_requester = requester;
    if (head->kind != SKI_CONTROL_VALUE || head->bytes != 5 || memcmp(value, "value", 5) != 0)
        OK(false, "the answer is the value that was put");
}

static struct ski_control kvs_test_key(int process)
{
    return (struct ski_control){
        .kind = SKI_CONTROL_PUT, .bytes = 5, .process = process, .phase = 1, .key = "key"};
}

static void kvs_test_wait(struct kvs *kvs)
{
    struct ski_control head = kvs_test_key(7);

    OK(kvs_get(kvs, &head, 1) == KVS_FIRST, "the first request waits");
    OK(kvs_get(kvs, &head, 2) == KVS_WAITING, "the second one too");
    OK(kvs_put(kvs, &head, "value") && kvs_test_answers == 2, "a put answers both");
    OK(kvs_get(kvs, &head, 3) == KVS_ANSWERED && kvs_test_requester == 3,
       "a later request is answered at once");
    OK(!kvs_put(kvs, &head, "other"), "a value is put once");
}

/* A value belongs to a phase, and takes no room beside that of the phase before. */
static void kvs_test_phases(void)
{
    struct kvs        *kvs   = kvs_create(1, kvs_test_on_answer, NULL);
    struct ski_control first = kvs_test_key(3), second = kvs_test_key(3);

    kvs_test_answers = 0;
    second.phase     = 2;
    OK(kvs_put(kvs, &first, "value"), "a value of phase 1");
    OK(kvs_get(kvs, &second, 1) == KVS_FIRST && kvs_test_answers == 0, "is not that of phase 2");
    OK(kvs_get(kvs, &first, 1) == KVS_FULL, "and cannot be asked for any more");
    OK(!kvs_put(kvs, &first, "value"), "nor be put");
    OK(kvs_put(kvs, &second, "value") && kvs_test_answers == 1, "the put of phase 2 answers");
    second.phase = 3;
    OK(kvs_put(kvs, &second, "value"), "a put of phase 3 replaces it");
    OK(kvs_get(kvs, &second, 4) == KVS_ANSWERED && kvs_test_requester == 4, "and is found");
    kvs_destroy(kvs);
}

static void kvs_test_grow(struct kvs *kvs)
{
    struct ski_control head;

    for (int i = 1000; i < 1999; i++) {
        head = kvs_test_key(i);
        if (!kvs_put(kvs, &head, "value"))
            OK(false, "key %d is stored", i);
    }
    head = kvs_test_key(5000);
    OK(kvs_get(kvs, &head, 1) == KVS_FULL, "the store has a limit");
    for (int i = 1000; i < 1999; i++) {
        head = kvs_test_key(i);
        if (kvs_get(kvs, &head, i) != KVS_ANSWERED || kvs_test_requester != i)
            OK(false, "key %d is found", i);
    }
}

int main(void)
{
    struct kvs *kvs = kvs_create(1000, kvs_test_on_answer, NULL);

    kvs_test_decode();
    kvs_test_wait(kvs);
    kvs_test_grow(kvs);
    kvs_destroy(kvs);
    kvs_test_phases();
    return tap_end();
}
