/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_backlog_test.c - operations that wait at their origin are issued in the order of their calls,
 * each as soon as nothing is in flight that it must not overtake, and not before.
 */
#include "onesided/rma/rma_backlog.h"

#include "onesided/rma/rma_request.h"
#include "tests/onesided_pe.h"

#define BACKLOG_TEST_MAX 16

static struct ski_rma_request *backlog_test_issued[BACKLOG_TEST_MAX];
static uint64_t                backlog_test_values[BACKLOG_TEST_MAX];
static size_t                  backlog_test_count;

static void backlog_test_issue(struct ski_pe *self, struct ski_rma_request *req,
                               const struct ski_rma_op *op, const skua_rma_params *params)
{
    (void)self;
    backlog_test_issued[backlog_test_count]   = req;
    backlog_test_values[backlog_test_count++] = op->atomic->value;
    if (params && params->signal_bytes)
        OK(memcmp(params->signal_data, "abc", 4) == 0, "the data of a signal were copied");
}

static struct ski_rma_request *backlog_test_begin(struct ski_pe        *self,
                                                  enum ski_rma_protocol protocol)
{
    struct ski_rma_op op = {
        .call = "test", .verb = SKI_RMA_PUT, .remote = skua_at((skua_region){77}, 1, 0)};
    struct ski_resolved target = {.remote_host = true, .pe = 1};

    return ski_rma_request_begin(self, &op, &target, NULL, protocol);
}

static void backlog_test_end(struct ski_pe *self, struct ski_rma_request *req)
{
    req->sealed = true;
    ski_rma_request_end(self, req);
}

static struct ski_rma_request *backlog_test_add(struct ski_pe *self, uint64_t value,
                                                const skua_rma_params *params, bool alone)
{
    struct ski_rma_request *req    = backlog_test_begin(self, SKI_RMA_BY_AM);
    struct ski_atomic       atomic = {.value = value};
    struct ski_rma_op       op     = {.verb = SKI_RMA_ATOMIC, .atomic = &atomic};

    ski_rma_backlog_add(req->on_pe,
                        &(struct ski_rma_issue){req, &op, params, backlog_test_issue, alone, NULL});
    return req;
}

static void backlog_test_behind_driver(struct ski_pe *self)
{
    static const skua_rma_params signal = {
        .signal = {SKI_HANDLERS}, .signal_data = "abc", .signal_bytes = 4};
    struct ski_rma_request *put = backlog_test_begin(self, SKI_RMA_BY_DRIVER), *a, *b;

    OK(ski_rma_backlog_needed(put->on_pe, NULL), "an operation of the driver may be overtaken");
    a = backlog_test_add(self, 1, &signal, false);
    b = backlog_test_add(self, 2, NULL, false);
    ski_rma_backlog_advance(self, put->on_pe);
    OK(backlog_test_count == 0 && put->on_pe->backlog == 2, "nothing is issued before its turn");
    backlog_test_end(self, put);
    OK(backlog_test_count == 2 && backlog_test_issued[0] == a && backlog_test_issued[1] == b &&
           backlog_test_values[0] == 1 && backlog_test_values[1] == 2,
       "the end of the put issues both, in order");
    OK(!ski_rma_backlog_needed(a->on_pe, NULL), "active messages are served in order");
    backlog_test_end(self, a);
    backlog_test_end(self, b);
    backlog_test_count = 0;
}

static void backlog_test_strict(struct ski_pe *self)
{
    static const skua_rma_params strict = {.order = SKUA_ORDER_STRICT};
    struct ski_rma_request      *get    = backlog_test_begin(self, SKI_RMA_BY_AM_DEFERRED), *a;

    OK(!ski_rma_backlog_needed(get->on_pe, NULL) && ski_rma_backlog_needed(get->on_pe, &strict),
       "only strict order waits for a deferred get");
    a = backlog_test_add(self, 3, &strict, false);
    ski_rma_backlog_advance(self, get->on_pe);
    OK(backlog_test_count == 0, "it waits for the get");
    backlog_test_end(self, get);
    OK(backlog_test_count == 1 && backlog_test_issued[0] == a, "the end of the get issues it");
    backlog_test_end(self, a);
    backlog_test_count = 0;
}

static void backlog_test_alone(struct ski_pe *self)
{
    struct ski_rma_request *copy = backlog_test_begin(self, SKI_RMA_BY_SOURCE);
    struct ski_rma_request *put  = backlog_test_begin(self, SKI_RMA_BY_AM);
    struct ski_rma_request *a    = backlog_test_add(self, 4, NULL, true),
                           *b    = backlog_test_add(self, 5, NULL, true);

    ski_rma_backlog_advance(self, put->on_pe);
    OK(backlog_test_count == 0, "one that goes alone waits for others");
    backlog_test_end(self, put);
    OK(backlog_test_count == 1 && backlog_test_issued[0] == a,
       "the first goes, though a copy is in flight, and the next waits");
    backlog_test_end(self, a);
    OK(backlog_test_count == 2 && backlog_test_issued[1] == b, "the next goes at its end");
    backlog_test_end(self, b);
    backlog_test_end(self, copy);
    backlog_test_count = 0;
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    backlog_test_behind_driver(self);
    backlog_test_strict(self);
    backlog_test_alone(self);
    backlog_test_begin(self, SKI_RMA_BY_DRIVER);
    backlog_test_add(self, 6, NULL, false); /* freed at the end of the PE, and not issued */
    test_pe_end(self);
    OK(backlog_test_count == 0, "nothing is issued at the end of a PE");
    return tap_end();
}
