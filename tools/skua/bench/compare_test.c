/* SPDX-License-Identifier: Apache-2.0 */
/* compare_test.c - the comparison of two files of results: rows, ratios, marks, and files that are
 * refused. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define LINE(bench, series, bytes, metric, value)                                                  \
    "{\"bench\":\"" bench "\",\"series\":\"" series "\",\"bytes\":" #bytes ",\"metric\":\"" metric \
    "\",\"value\":" #value "}\n"

/* Reads a text; the message of an error is allocated. */
static bool compare_test_read(struct compare_list *list, const char *text, char **error)
{
    size_t bytes;
    FILE  *from  = fmemopen((char *)text, strlen(text), "r");
    FILE  *to    = open_memstream(error, &bytes);
    bool   valid = compare_read(list, from, "FILE", to);

    fclose(from);
    fclose(to);
    return valid;
}

/* Returns what is printed about two texts, allocated. */
static char *compare_test_print(const char *old, const char *new)
{
    struct compare_list lists[2];
    char               *errors[2], *text = NULL;
    size_t              bytes;
    FILE               *to    = open_memstream(&text, &bytes);
    bool                valid = compare_test_read(&lists[0], old, &errors[0]);

    valid = compare_test_read(&lists[1], new, &errors[1]) && valid;
    OK(valid, "both texts are read: %s%s", errors[0], errors[1]);
    compare_print(&lists[0], &lists[1], 5, to);
    fclose(to);
    for (int i = 0; i < 2; i++) {
        compare_free(&lists[i]);
        free(errors[i]);
    }
    return text;
}

/* Returns whether the texts of a list that ends with NULL are in this order. */
static bool compare_test_order(const char *text, const char *const list[])
{
    for (; *list; list++) {
        text = strstr(text, *list);
        if (!text)
            return false;
        text += strlen(*list);
    }
    return true;
}

static void compare_test_rows(void)
{
    char *text = compare_test_print(
        LINE("m", "a", 8, "put_us", 2) LINE("m", "b", 8, "rate-2pe", 100)
            LINE("m", "c", 8, "eff-2pe", 0.5) LINE("m", "d", 8, "get_us", 1)
                LINE("m", "e", 8, "get_gbs", 1) LINE("m", "gone", 8, "get_us", 1),
        LINE("m", "new", 8, "get_us", 1) LINE("m", "a", 8, "put_us", 1)
            LINE("m", "b", 8, "rate-2pe", 25) LINE("m", "c", 8, "eff-2pe", 0.6)
                LINE("m", "d", 8, "get_us", 1.04) LINE("m", "e", 8, "get_gbs", 0.9));

    OK(compare_test_order(text, (const char *const[]){"m      b", "0.250  worse\n", "m      e",
                                                      "0.900  worse\n", "m      d", "1.040\n",
                                                      "m      c", "1.200  better\n", "m      a",
                                                      "0.500  better\n", NULL}),
       "rows are in the order of their change, which is marked beyond the threshold:\n%s", text);
    OK(strstr(text, "2 results where less is better: 0.721\n"), "the mean of times");
    OK(strstr(text, "3 results where more is better: 0.646\n"), "that of rates and efficiencies");
    OK(strstr(text, "5 results in both files, 2 became worse and 2 better by more than 5 %"),
       "the number of changes");
    OK(compare_test_order(text,
                          (const char *const[]){"Only in the old file: 1 result\n", "gone",
                                                "Only in the new file: 1 result\n", "new ", NULL}),
       "results of one file");
    free(text);
}

/* Names differ in one field each; a value of 0 has no ratio; results that come twice. */
static void compare_test_names(void)
{
    char *text = compare_test_print(LINE("m", "a", 8, "put_us", 2) LINE("n", "a", 8, "put_us", 3),
                                    LINE("n", "a", 8, "put_us", 3) LINE("m", "a", 16, "put_us", 2));

    OK(strstr(text, "Of 1 result in both files, 0 became worse and 0 better"),
       "another benchmark or size is another result");
    free(text);
    text = compare_test_print(LINE("m", "a", 0, "wait_us", 0) LINE("m", "b", 0, "put_us", 1),
                              LINE("m", "a", 0, "wait_us", 2) LINE("m", "b", 0, "put_us", 1));
    OK(compare_test_order(text,
                          (const char *const[]){"1.000\n", " 0           2         -\n",
                                                "1 result where less is better: 1.000\n", NULL}),
       "a value of 0 has no ratio");
    free(text);
    text = compare_test_print(LINE("m", "a", 0, "put_us", 3) LINE("m", "a", 0, "put_us", 2)
                                  LINE("m", "a", 0, "put_us", 4) LINE("m", "b", 0, "rate-2pe", 3)
                                      LINE("m", "b", 0, "rate-2pe", 4),
                              LINE("m", "a", 0, "put_us", 2) LINE("m", "b", 0, "rate-2pe", 4));
    OK(strstr(text, "less is better: 1.000") && strstr(text, "more is better: 1.000"),
       "of results that come twice the best one counts");
    free(text);
    text = compare_test_print(LINE("m", "a", 0, "put_us", 3), LINE("m", "b", 0, "put_us", 3));
    OK(strncmp(text, "Of 0 results in both files", 26) == 0, "files without a common result");
    free(text);
}

/* The columns of CSV, line ends of other systems, spaces of other writers. */
static void compare_test_formats(void)
{
    char *text = compare_test_print(
        "bench,series,bytes,metric,value\r\nm,a,8,put_us,2\r\n\r\n"
        "bench,series,bytes,metric,value\nm,b,8,put_us,1e-3",
        " { \"bench\": \"m\", \"series\": \"a\", \"bytes\": 8, \"metric\": \"put_us\", \"value\": "
        "2.0 } \r\n\nm,b,8,put_us,0.001");

    OK(strstr(text, "Of 2 results in both files, 0 became worse and 0 better"),
       "CSV and JSON have the same results");
    free(text);
}

static void compare_test_refuse(const char *text, const char *why, const char *what)
{
    struct compare_list list;
    char               *error;
    bool                valid = compare_test_read(&list, text, &error);

    OK(!valid && strstr(error, why) && !list.result, "%s is refused: %s", what, error);
    free(error);
}

static void compare_test_refused(void)
{
    compare_test_refuse("\n", "FILE: has no results", "an empty line");
    compare_test_refuse("bench,series,bytes,metric,value\n", "has no results", "columns alone");
    compare_test_refuse(LINE("m", "a", 8, "put_us", 2) "hello\n", "line 2, column 1: not a result",
                        "a line of text");
    compare_test_refuse("{\"bench\":\"m\",\"series\":\"a\",\"bytes\":8,\"metric\":\"put_us\"}\n",
                        "line 1, column 37: ", "a value is missing");
    compare_test_refuse("{\"bench\":\"m\",\"series\":7}", "line 1, column 14: ", "no string");
    compare_test_refuse(LINE("m", "a", 8, "put_us", nan), "line 1", "no number");
    compare_test_refuse("m,a,8,put_us,inf\n", "line 1", "a number without end");
    compare_test_refuse("m,a,-8,put_us,1\n", "line 1", "a negative size");
    compare_test_refuse("{\"bench\":\"m\",\"series\":\"a\",\"bytes\":8,\"metric\":\"put_us\","
                        "\"value\":2",
                        "line 1", "a line that was cut off");
    compare_test_refuse("m,a,8,put_us,1,2\n", "line 1", "one column too many");
    compare_test_refuse(LINE("m", "a", 8, "a_metric_that_has_32_characters_1", 2),
                        "column 37: ", "a name that is too long");
}

int main(void)
{
    compare_test_rows();
    compare_test_names();
    compare_test_formats();
    compare_test_refused();
    return tap_end();
}
