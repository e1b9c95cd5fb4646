/* SPDX-License-Identifier: Apache-2.0 */
/* collective_window_test.c - which contributions to reductions request their credit. */
#include "core/collective/collective.h"
#include "tests/tap.h"

#define WINDOW 8192
#define COST   300

/* Counts a contribution in @p window.  Returns whether it requests its credit. */
static bool window_contribute(struct ski_window *window, int pe)
{
    window->in_flight += COST;
    return ski_window_wants_credit(window, pe, COST);
}

/* A PE that contributes to one PE requests a credit for every eighth of a window. */
static bool window_requests_few(void)
{
    struct ski_window window      = {.bytes = WINDOW, .credit_pe = -1};
    uint64_t          unrequested = 0;
    int               requests    = 0;
    bool              good        = true;

    while (window.in_flight < WINDOW) {
        bool used = window.in_flight + COST >= WINDOW / 4;

        if (window_contribute(&window, 3)) {
            good        = good && used;
            unrequested = 0;
            requests++;
        } else if (used) {
            unrequested += COST;
        }
        good = good && unrequested < WINDOW / 8;
    }
    return good && requests >= 5 && requests <= 7;
}

/* The contributions to other PEs request a credit each once a quarter of the window is used, so
 * that the bytes without a request are bounded whatever the number of PEs. */
static bool window_requests_of_others(void)
{
    struct ski_window window      = {.bytes = WINDOW, .credit_pe = -1};
    uint64_t          unrequested = 0;

    for (int pe = 0; window.in_flight < WINDOW; pe++)
        unrequested += window_contribute(&window, pe % 40) ? 0 : COST;
    return unrequested < WINDOW / 4 + WINDOW / 8;
}

/* After the window was nearly empty, another PE is the one that contributions go to. */
static bool window_changes_pe(void)
{
    struct ski_window window = {.bytes = WINDOW, .credit_pe = -1};
    bool              first, other;

    while (window.in_flight < WINDOW / 2)
        window_contribute(&window, 1);
    other            = window_contribute(&window, 2);
    window.in_flight = 0;
    first            = window_contribute(&window, 2);
    window.in_flight = WINDOW / 2;
    return other && !first && !window_contribute(&window, 2) && window_contribute(&window, 1);
}

int main(void)
{
    OK(window_requests_few(), "one request for an eighth of a window, to the usual PE");
    OK(window_requests_of_others(), "other PEs are requested to send credits at once");
    OK(window_changes_pe(), "the usual PE changes when the window is nearly empty");
    return tap_end();
}
