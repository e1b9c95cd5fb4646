/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_rates_test.c - rates of CPUs are measured, and what is printed about them. */
#include "cpu_rates.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* Returns whether the sentence about the samples contains @p text; if that is empty, whether there
 * is none. */
static bool cpu_rates_test_says(const struct cpu_rates *rates, const char *text)
{
    char  *printed;
    size_t bytes;
    FILE  *to = open_memstream(&printed, &bytes);
    bool   says;

    cpu_rates_print(rates, to);
    fclose(to);
    says = *text ? strstr(printed, text) != NULL : bytes == 0;
    free(printed);
    return says;
}

static void cpu_rates_test_sentences(void)
{
    static const double even[] = {10, 9, 9.5}, disturbed[] = {4, 8, 8};
    struct cpu_rates    rates = {0};

    OK(cpu_rates_test_says(&rates, ""), "without a sample nothing is printed");
    cpu_rates_add(&rates, even, 3);
    OK(cpu_rates_test_says(&rates, "at 0.90 of the best rate or more"), "even rates");
    cpu_rates_add(&rates, disturbed, 3);
    OK(cpu_rates_test_says(&rates, "Before 1 of 2 runs a CPU worked at less than 0.8") &&
           cpu_rates_test_says(&rates, "(at 0.40)"),
       "one CPU works slower than in the best sample");
    cpu_rates_free(&rates);
    OK(cpu_rates_test_says(&rates, ""), "after they are freed there are no samples");
}

static void cpu_rates_test_measure(void)
{
    struct cpu_rates rates = {0};

    cpu_rates_measure(&rates);
    cpu_rates_measure(&rates);
    OK(rates.samples == 2 && rates.slowest[0] > 0 && rates.slowest[1] > 0 &&
           rates.slowest[0] <= rates.best && rates.slowest[1] <= rates.best,
       "two samples of this host");
    cpu_rates_free(&rates);
}

int main(void)
{
    cpu_rates_test_sentences();
    cpu_rates_test_measure();
    return tap_end();
}
