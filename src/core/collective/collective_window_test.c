/* SPDX-License-Identifier: Apache-2.0 */
/* collective_window_test.c - which credits contributions to reductions request, and what a sender
 * gets of its window if the receiver has another one. */
#include "core/collective/collective.h"
#include "tests/tap.h"

#define WINDOW 8192
#define COST   300

/* Counts a contribution in @p window.  Returns its request. */
static uint8_t window_contribute(struct ski_window *window, int pe)
{
    window->in_flight += COST;
    return ski_window_request(window, pe);
}

/* A PE that contributes to one PE requests credits of an eighth of its window, from a quarter on.
 */
static bool window_requests_few(void)
{
    struct ski_window window = {.bytes = WINDOW, .credit_pe = -1};
    bool              good   = true;

    while (window.in_flight < WINDOW) {
        bool    used    = window.in_flight + COST >= WINDOW / 4;
        uint8_t request = window_contribute(&window, 3);

        good = good && (request != 0) == used;
        good = good && (!used || ski_credit_least(64 * WINDOW, request) == WINDOW / 8);
        good = good && ski_credit_least(WINDOW / 4, request) == WINDOW / 32;
    }
    return good;
}

/* After the window was nearly empty, another PE is the one that contributions go to. */
static bool window_changes_pe(void)
{
    struct ski_window window = {.bytes = WINDOW, .credit_pe = -1};
    uint8_t           first, other;

    while (window.in_flight < WINDOW / 2)
        window_contribute(&window, 1);
    other            = window_contribute(&window, 2);
    window.in_flight = 0;
    first            = window_contribute(&window, 2);
    window.in_flight = WINDOW / 2;
    return other == SKI_CREDIT_NOW && first == 0 &&
           window_contribute(&window, 2) > SKI_CREDIT_NOW &&
           window_contribute(&window, 1) == SKI_CREDIT_NOW;
}

/* Windows of any size request credits of at most an eighth, and requests of any value are safe. */
static bool window_requests_any(void)
{
    bool good = true;

    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 62; bytes += bytes / 3 + 1) {
        struct ski_window window = {.bytes = bytes, .in_flight = bytes, .credit_pe = 1};
        uint64_t          least  = ski_credit_least(UINT64_MAX, ski_window_request(&window, 1)),
                 most            = bytes / 8;

        good = good && least >= 1 && least <= (most ? most : 1) && least >= most / 2;
    }
    for (int request = 0; request <= UINT8_MAX; request++)
        good = good && ski_credit_least(WINDOW, (uint8_t)request) <= WINDOW / 8;
    return good;
}

#define PES     3
#define PENDING 64 /* more than fit into a window */

/* A sender, and the PEs that it contributes to. */
struct window_model {
    struct ski_window window;
    uint64_t          random;
    uint64_t          held[PES]; /* credits that a PE accumulates */
    uint64_t          results;   /* bytes of calls that leave the count when they are over */
    size_t            pending;   /* contributions that were not combined */
    struct {
        int      pe;
        uint64_t cost;
        uint8_t  request;
    } contribution[PENDING];
};

/* Begins a call: a contribution that a credit is due for, mostly to PE 0, or one that ends with its
 * result. */
static void window_model_call(struct window_model *model)
{
    uint64_t cost = SKI_CALL_COST + tap_random(&model->random) % 700;
    int      pe   = (int)(tap_random(&model->random) % 8);

    model->window.in_flight += cost;
    if (tap_random(&model->random) % 3 == 0) {
        model->results += cost;
        return;
    }
    pe                                            = pe < PES ? pe : 0;
    model->contribution[model->pending].pe        = pe;
    model->contribution[model->pending].cost      = cost;
    model->contribution[model->pending++].request = ski_window_request(&model->window, pe);
}

/* Combines any of the contributions, on a PE whose window has @p bytes. */
static void window_model_combine(struct window_model *model, uint64_t bytes)
{
    size_t    i    = (size_t)(tap_random(&model->random) % model->pending);
    uint64_t *held = &model->held[model->contribution[i].pe];

    *held += model->contribution[i].cost;
    if (*held >= ski_credit_least(bytes, model->contribution[i].request)) {
        model->window.in_flight -= *held;
        *held = 0;
    }
    model->contribution[i] = model->contribution[--model->pending];
}

/* Whatever the windows of the receivers and the order in which they combine contributions: once all
 * are combined, more than half of a full window is free. */
static bool window_model_opens(uint64_t bytes)
{
    struct window_model model = {.window = {.bytes = WINDOW, .credit_pe = -1},
                                 .random = tap_seed()};
    bool                good  = true;

    for (int round = 0; round < 2000 && good; round++) {
        while (!ski_window_full(&model.window)) {
            window_model_call(&model);
            if (model.pending && tap_random(&model.random) % 4 == 0)
                window_model_combine(&model, bytes);
        }
        while (model.pending)
            window_model_combine(&model, bytes);
        model.window.in_flight -= model.results;
        model.results = 0;
        good          = model.window.in_flight < WINDOW / 4 + WINDOW / 8;
    }
    return good;
}

int main(void)
{
    OK(window_requests_few(), "the usual PE accumulates an eighth of the sender's window");
    OK(window_changes_pe(), "the usual PE changes when the window is nearly empty");
    OK(window_requests_any(), "windows and requests of all sizes");
    OK(window_model_opens(WINDOW) && window_model_opens(WINDOW / 16),
       "a full window opens if that of the receivers is not larger");
    OK(window_model_opens(64 * WINDOW), "a full window opens if that of the receivers is larger");
    return tap_end();
}
