/* SPDX-License-Identifier: Apache-2.0 */
/* plot_test.c - SVG plots: every point is inside the axes, ticks suit the range, names do not
 * overlap. */
#include "plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* Writes a plot into memory, which the caller frees. */
static char *plot_test_write(const struct plot *plot)
{
    char  *text = NULL;
    size_t bytes;
    FILE  *to = open_memstream(&text, &bytes);

    plot_write(plot, to);
    fclose(to);
    return text;
}

static int plot_test_count(const char *text, const char *what)
{
    int count = 0;

    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

/* Returns whether all circles, which mark the points, are inside the axes. */
static bool plot_test_inside(const char *text)
{
    double x, y;

    for (; (text = strstr(text, "<circle ")) != NULL; text++)
        if (sscanf(text, "<circle cx='%lf' cy='%lf'", &x, &y) != 2 || x < 79.9 || x > 730.1 ||
            y < 49.9 || y > 500.1)
            return false;
    return true;
}

static void plot_test_points(void)
{
    struct plot_curve curve[2] = {{.name = "first", .colour = "red", .dash = ""},
                                  {.name = "second", .colour = "blue", .dash = "5 4"}};
    struct plot       plot     = {"title", "bytes", "microseconds", curve, 2};
    char             *text;

    for (double x = 1; x <= 1 << 22; x *= 4) {
        plot_curve_add(&curve[0], x, 0.1 + x * 1e-4);
        plot_curve_add(&curve[1], x, x < 100 ? 0 : x * 1e-4);
    }
    plot_curve_add(&curve[0], 0, 1);
    OK(curve[0].points == 12 && curve[1].points == 8, "what was not measured is left out");
    text = plot_test_write(&plot);
    OK(strncmp(text, "<svg ", 5) == 0 && strstr(text, "</svg>\n"), "an SVG file");
    OK(plot_test_count(text, "<circle ") == 20 && plot_test_count(text, "<polyline ") == 2,
       "a line for each curve and a circle for each point");
    OK(plot_test_inside(text), "all points are inside the axes");
    OK(strstr(text, ">1 M<") && strstr(text, ">10 k<"), "large ticks have a unit");
    OK(strstr(text, ">first<") && strstr(text, ">second<"), "the curves have their names");
    free(text);
}

/* Values that are close together have ticks 1, 2, 5; a single value has an axis, too. */
static void plot_test_ticks(void)
{
    struct plot_curve curve = {.name = "curve", .colour = "red", .dash = ""};
    struct plot       plot  = {"title", "PEs", "GUP/s", &curve, 1};
    char             *text;

    plot_curve_add(&curve, 3, 0.03);
    text = plot_test_write(&plot);
    OK(plot_test_inside(text), "one point is inside the axes");
    free(text);
    plot_curve_add(&curve, 7, 0.04);
    text = plot_test_write(&plot);
    OK(strstr(text, ">2<") && strstr(text, ">5<") && strstr(text, ">10<") && !strstr(text, ">1<"),
       "values that are close have ticks 2, 5, 10");
    OK(plot_test_inside(text), "and are inside the axes");
    free(text);
    curve.points = 0;
    text         = plot_test_write(&plot);
    OK(!strstr(text, "nan") && !strstr(text, "inf"), "a plot without points has finite numbers");
    free(text);
}

/* Numbers of PEs over powers of two, fractions from 0, and a line between them. */
static void plot_test_axes(void)
{
    struct plot_curve curve = {.name = "curve", .colour = "red", .dash = ""};
    struct plot       plot  = {"title", "PEs", "efficiency", &curve, 1};
    struct plot_axes  axes  = {PLOT_LOG2, PLOT_LINEAR, 2, "two cores"};
    char             *text  = NULL;
    size_t            bytes;
    FILE             *to = open_memstream(&text, &bytes);

    for (int pes = 1; pes <= 16; pes *= 2)
        plot_curve_add(&curve, pes, 1 - 0.05 * pes);
    plot_write_axes(&plot, 1, &axes, to);
    fclose(to);
    OK(strstr(text, ">8<") && strstr(text, ">16<") && !strstr(text, ">10<"),
       "ticks at powers of two");
    OK(strstr(text, ">0<") && strstr(text, ">0.8<"), "ticks of a linear axis begin at 0");
    OK(plot_test_inside(text), "points are inside these axes");
    OK(strstr(text, ">two cores<"), "the line that divides the plot has its name");
    free(text);
}

/* Of two plots one has no points. */
static void plot_test_partial(void)
{
    struct plot_curve curve[2] = {{.name = "none", .colour = "red", .dash = ""},
                                  {.name = "some", .colour = "red", .dash = ""}};
    struct plot       plot[2]  = {{"empty", "bytes", "seconds", &curve[0], 1},
                                  {"full", "bytes", "seconds", &curve[1], 1}};
    char             *text     = NULL;
    size_t            bytes;
    FILE             *to = open_memstream(&text, &bytes);

    plot_curve_add(&curve[1], 8, 1);
    plot_write_all(plot, 2, to);
    fclose(to);
    OK(!strstr(text, ">empty<") && strstr(text, ">full<") && strstr(text, " height='560' "),
       "what was not measured has no frame");
    OK(plot_test_inside(text), "the plot below takes its place");
    free(text);
}

/* Curves that end at one point have names below each other. */
static void plot_test_names(void)
{
    enum { CURVES = 5 };
    struct plot_curve curve[CURVES];
    struct plot       plot = {"title", "bytes", "microseconds", curve, CURVES};
    char             *text;
    const char       *at;
    double            y, last = -INFINITY;
    bool              apart = true;

    for (int c = 0; c < CURVES; c++) {
        curve[c] = (struct plot_curve){.name = "@curve", .colour = "red", .dash = ""};
        plot_curve_add(&curve[c], 1, 1);
    }
    text = plot_test_write(&plot);
    OK(plot_test_count(text, "@curve") == CURVES, "each curve has its name");
    for (at = text; (at = strstr(at, "<text x='768.0' y='")) != NULL; at++) {
        y = atof(at + strlen("<text x='768.0' y='"));
        apart &= y >= last + 15;
        last = y;
    }
    OK(apart && isfinite(last), "names do not overlap");
    OK(strstr(text, " width='900' "), "short names leave the width as it is");
    free(text);
    curve[0].name = "a name of thirty-four letters, 1 PE";
    text          = plot_test_write(&plot);
    OK(strstr(text, " width='1013' "), "a long name makes the picture wider");
    free(text);
}

int main(void)
{
    plot_test_points();
    plot_test_ticks();
    plot_test_axes();
    plot_test_partial();
    plot_test_names();
    return tap_end();
}
