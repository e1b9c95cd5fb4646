/* SPDX-License-Identifier: Apache-2.0 */
/* rma_request_test.c - requests in flight: what flushes, fences and orders see of them. */
#include "onesided/rma/rma_request.h"

#include "onesided/rma/am_sent.h"
#include "tests/onesided_pe.h"

#define REQUESTS 500

struct request_counts {
    uint32_t all, rma, deferred, before, before_rma;
};

static struct ski_rma_request *request_begin(struct ski_pe *self, int pe, bool remote_host,
                                             enum ski_rma_protocol  protocol,
                                             const skua_rma_params *params)
{
    struct ski_rma_op op = {
        .call = "test", .verb = SKI_RMA_PUT, .remote = skua_at((skua_region){77}, pe, 0)};
    struct ski_resolved target = {.remote_host = remote_host, .pe = pe};

    return ski_rma_request_begin(self, &op, &target, params, protocol);
}

static void request_end(struct ski_pe *self, struct ski_rma_request *req)
{
    req->sealed = true;
    ski_rma_request_end(self, req);
}

static bool request_counts_hold(struct ski_pe *self, const struct request_counts *want,
                                uint64_t open)
{
    for (int pe = 0; pe < TEST_PES; pe++) {
        struct ski_outstanding on = ski_rma_outstanding_on(self, pe);

        if (on.all != want[pe].all || on.rma != want[pe].rma || on.deferred != want[pe].deferred ||
            on.before != want[pe].before || on.before_rma != want[pe].before_rma)
            return false;
    }
    return ski_onesided_pe(self)->outstanding == open && !ski_fast_path_open() == (open > 0);
}

/* A fence puts all requests on a PE, or on all, before what follows. */
static void request_fence(uint64_t random, struct request_counts *want)
{
    int one = (int)(random % (2 * TEST_PES));

    if (one < TEST_PES)
        skua_fence(one);
    else
        skua_fence_all();
    for (int pe = 0; pe < TEST_PES; pe++)
        if (one >= TEST_PES || pe == one) {
            want[pe].before     = want[pe].all;
            want[pe].before_rma = want[pe].rma;
        }
}

/* Requests that begin and end in any order are counted by PE and protocol. */
static bool request_counts_random(struct ski_pe *self)
{
    struct ski_rma_request *open[REQUESTS];
    struct request_counts   want[TEST_PES] = {{0}};
    uint64_t                random = tap_seed(), n = 0;

    for (int step = 0; step < 5000; step++) {
        if (tap_random(&random) % 16 == 0) {
            request_fence(tap_random(&random), want);
        } else if (n < REQUESTS && (n == 0 || tap_random(&random) % 2)) {
            int                   pe       = (int)(tap_random(&random) % TEST_PES);
            enum ski_rma_protocol protocol = (enum ski_rma_protocol)(tap_random(&random) % 3);

            open[n++] = request_begin(self, pe, false, protocol, NULL);
            want[pe].all++;
            want[pe].rma += protocol == SKI_RMA_BY_DRIVER;
            want[pe].deferred += protocol == SKI_RMA_BY_AM_DEFERRED;
        } else {
            uint64_t                i   = tap_random(&random) % n;
            struct ski_rma_request *req = open[i];

            if (req->epoch != req->on_pe->epoch) {
                want[req->remote.pe].before--;
                want[req->remote.pe].before_rma -= req->protocol == SKI_RMA_BY_DRIVER;
            }
            want[req->remote.pe].all--;
            want[req->remote.pe].rma -= req->protocol == SKI_RMA_BY_DRIVER;
            want[req->remote.pe].deferred -= req->protocol == SKI_RMA_BY_AM_DEFERRED;
            request_end(self, req);
            open[i] = open[--n];
        }
        if (!request_counts_hold(self, want, n))
            return false;
    }
    while (n > 0)
        request_end(self, open[--n]);
    return ski_onesided_pe(self)->outstanding == 0 && ski_fast_path_open();
}

static void request_fast_path(struct ski_pe *self)
{
    struct ski_rma_request *req = request_begin(self, 3, true, SKI_RMA_BY_AM, NULL);

    OK(ski_fast_path_open() && ski_onesided_pe(self)->outstanding == 1,
       "a request to another host leaves the fast path of this one open");
    request_end(self, req);
}

static void request_completions(struct ski_pe *self)
{
    skua_handle             handle  = {0};
    skua_counter            counter = SKUA_COUNTER_INIT;
    skua_rma_params         params  = {.handle = &handle, .remote = skua_done_count(&counter)};
    struct ski_rma_request *a       = request_begin(self, 1, false, SKI_RMA_BY_AM, &params);
    struct ski_rma_request *b       = request_begin(self, 2, false, SKI_RMA_BY_AM, &params);

    OK(handle.pending == 2 && counter.value == 0, "a handle of two requests");
    request_end(self, a);
    OK(handle.pending == 1 && counter.value == 1, "one of them ends");
    request_end(self, b);
    OK(handle.pending == 0 && counter.value == 2, "both have");
}

/* A request ends when the PE that it was sent to acknowledges it, once. */
static void request_acknowledged(struct ski_pe *self)
{
    const struct ski_rma_pe *rma  = ski_rma_pe(self);
    struct ski_rma_request  *req  = request_begin(self, 1, true, SKI_RMA_BY_AM, NULL);
    struct ski_am_sent       sent = {.req = req, .bytes = 8, .server = 1};
    uint32_t                 id   = ski_am_sent_add(self, &sent);

    req->parts  = 1;
    req->sealed = true;
    OK(ski_am_sent_find(rma, 1, id) && ski_am_sent_acks_quietly(rma, 1, id),
       "a request is found by its id and the PE that it was sent to");
    OK(!ski_am_sent_find(rma, 2, id) && !ski_am_sent_acks_quietly(rma, 2, id) &&
           !ski_am_sent_ack(self, 2, id) && ski_rma_outstanding_on(self, 1).all == 1,
       "another PE cannot acknowledge it");
    OK(ski_am_sent_ack(self, 1, id) && ski_rma_outstanding_on(self, 1).all == 0,
       "it ends when that PE does");
    OK(!ski_am_sent_ack(self, 1, id), "and not again");
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    OK(request_counts_random(self),
       "requests are counted by PE and protocol, and those before a fence");
    request_fast_path(self);
    request_completions(self);
    request_acknowledged(self);
    test_pe_end(self);
    return tap_end();
}
