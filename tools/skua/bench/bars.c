/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bars.c - see bars.h.
 *
 * The axes are linear and begin at 0.  Tick marks are at multiples of 1, 2 or 5 times a power of
 * ten, five to ten of them.  Bars of many PEs touch each other.
 */
#include "bars.h"

#include <math.h>

#include "plot.h"

#define BARS_WIDTH  900.0
#define BARS_HEIGHT 320.0 /* of a panel */
#define BARS_LEFT   80.0
#define BARS_RIGHT  170.0 /* space for the legend */
#define BARS_TOP    50.0
#define BARS_BOTTOM 50.0

#define BARS_OBJECTS    "#1f77b4"
#define BARS_BACKGROUND "#7f7f7f"
#define BARS_IDLE       "#f3e3c3"
#define BARS_MEAN       "#d62728"

struct bars_scale {
    double most; /* seconds at the top of a panel */
    double tick; /* seconds between tick marks    */
};

static double bars_max(const struct bars *panel)
{
    double most = 0;

    for (int p = 0; p < panel->pes; p++)
        most = fmax(most, panel->time[p]);
    return most;
}

static double bars_mean(const struct bars *panel)
{
    double sum = 0;

    for (int p = 0; p < panel->pes; p++)
        sum += panel->time[p];
    return sum / panel->pes;
}

static struct bars_scale bars_make_scale(const struct bars *panels, int count)
{
    double most = 0, power;

    for (int k = 0; k < count; k++)
        most = fmax(most, bars_max(&panels[k]));
    if (most <= 0)
        return (struct bars_scale){1, 0.2};
    power = pow(10, floor(log10(most)));
    power *= most / power >= 5 ? 1 : most / power >= 2 ? 0.5 : 0.2;
    return (struct bars_scale){ceil(most / power * (1 - 1e-9)) * power, power};
}

static double bars_y(const struct bars_scale *scale, double seconds)
{
    return BARS_HEIGHT - BARS_BOTTOM -
           seconds / scale->most * (BARS_HEIGHT - BARS_TOP - BARS_BOTTOM);
}

static void bars_text(FILE *to, double x, double y, const char *anchor, const char *text)
{
    fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>\n", x, y, anchor, text);
}

static void bars_rect(FILE *to, const struct bars_scale *scale, double x, double width,
                      const double seconds[2], const char *colour)
{
    double top = bars_y(scale, seconds[1]), bottom = bars_y(scale, seconds[0]);

    if (bottom - top > 0.005)
        fprintf(to, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'/>\n", x, top,
                width, bottom - top, colour);
}

static void bars_draw_grid(FILE *to, const struct bars_scale *scale)
{
    for (int k = 0; k * scale->tick <= scale->most * (1 + 1e-9); k++) {
        double y = bars_y(scale, k * scale->tick);
        char   text[32];

        fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>\n", BARS_LEFT, y,
                BARS_WIDTH - BARS_RIGHT, y);
        snprintf(text, sizeof text, "%.6g", k * scale->tick);
        bars_text(to, BARS_LEFT - 8, y + 4, "end", text);
    }
    fprintf(
        to,
        "<text transform='translate(22 %.1f) rotate(-90)' text-anchor='middle'>seconds</text>\n",
        (BARS_TOP + BARS_HEIGHT - BARS_BOTTOM) / 2);
}

/* Numbers of PEs below their bars, at most 16 of them. */
static void bars_draw_numbers(FILE *to, const struct bars *panel, double step)
{
    int every = 1;

    while (panel->pes > 16 * every)
        every *= 2;
    for (int p = 0; p < panel->pes; p += every) {
        char text[16];

        snprintf(text, sizeof text, "%d", p);
        bars_text(to, BARS_LEFT + (p + 0.5) * step, BARS_HEIGHT - BARS_BOTTOM + 16, "middle", text);
    }
    bars_text(to, (BARS_LEFT + BARS_WIDTH - BARS_RIGHT) / 2, BARS_HEIGHT - 12, "middle", "PE");
}

static void bars_draw_pes(FILE *to, const struct bars *panel, const struct bars_scale *scale,
                          double step)
{
    double gap = step > 4 ? step * 0.15 : 0, most = bars_max(panel);

    for (int p = 0; p < panel->pes; p++) {
        double x = BARS_LEFT + p * step + gap / 2, b = panel->background[p], t = panel->time[p];

        bars_rect(to, scale, x, step - gap, (double[]){t, most}, BARS_IDLE);
        bars_rect(to, scale, x, step - gap, (double[]){b, t}, BARS_OBJECTS);
        bars_rect(to, scale, x, step - gap, (double[]){0, b}, BARS_BACKGROUND);
    }
}

static void bars_draw_legend(FILE *to, const struct bars *panel, const struct bars_scale *scale)
{
    static const char *const name[]   = {"idle", "objects", "background"};
    static const char *const colour[] = {BARS_IDLE, BARS_OBJECTS, BARS_BACKGROUND};
    double                   x = BARS_WIDTH - BARS_RIGHT, y = bars_y(scale, bars_mean(panel));
    char                     text[64];

    for (int k = 0; k < 3; k++) {
        fprintf(to, "<rect x='%.1f' y='%.1f' width='12' height='12' fill='%s'/>\n", x + 14,
                BARS_TOP + 20.0 * k, colour[k]);
        bars_text(to, x + 34, BARS_TOP + 20.0 * k + 11, "start", name[k]);
    }
    fprintf(to,
            "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='2' "
            "stroke-dasharray='6 4'/>\n",
            BARS_LEFT, y, x + 8, y, BARS_MEAN);
    snprintf(text, sizeof text, "mean %.4g s", bars_mean(panel));
    bars_text(to, x + 12, fmax(y + 4, BARS_TOP + 76), "start", text);
}

static void bars_draw(FILE *to, const struct bars *panel, const struct bars_scale *scale)
{
    double step = (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) / panel->pes, mean = bars_mean(panel);

    fprintf(to, "<text x='%g' y='28' font-size='16'>%s: max %.4g s, max/mean %.3f</text>\n",
            BARS_LEFT, panel->title, bars_max(panel), mean > 0 ? bars_max(panel) / mean : 1);
    bars_draw_grid(to, scale);
    bars_draw_pes(to, panel, scale, step);
    bars_draw_numbers(to, panel, step);
    bars_draw_legend(to, panel, scale);
}

void bars_write(const struct bars *panels, int count, FILE *to)
{
    struct bars_scale scale = bars_make_scale(panels, count);

    plot_begin(to, BARS_WIDTH, count * BARS_HEIGHT);
    for (int k = 0; k < count; k++) {
        fprintf(to, "<g transform='translate(0 %g)'>\n", k * BARS_HEIGHT);
        bars_draw(to, &panels[k], &scale);
        fprintf(to, "</g>\n");
    }
    fprintf(to, "</svg>\n");
}
