/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - sends the same messages to generated programs and to the model (model.h), in all orders
 * or in many; the traces must be equal.
 *
 * usage: run [stay|move|remote] [ORDERS] [SEED] [ONLY]
 *
 * ORDERS 0: all orders of the messages of a program if it has at most 7; otherwise so many random
 * ones, or 720.  ONLY: only programs whose names begin with it.
 *
 *   stay     object and sender are on one PE
 *   move     the object migrates after a few messages, and is sent more from its new PE
 *   remote   the object stays; a few messages at a time come from one PE, then from another
 *
 * These few messages are a stretch.  A message to the entry `next` follows each stretch, and
 * arrives after it as long as the object does not migrate.  The next stretch begins there, when no
 * message is in flight, so that the order is known.  The number of a run determines the run.  The
 * result is compared on the PE of the object.
 */
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../../tap.h"
#include "support/diagnostic.h"
#include "model.h"
#include "syntax/parse_file.h"
#include "support/source.h"

enum mode { STAY, MOVE, REMOTE };

/* A class to be run. */
struct subject {
    const struct ast_class *class;
    const struct target *target;
    struct feed          feed;
    unsigned             runs, first; /* the number of runs, and the number of the first */
    bool                 all;         /* every order once */
};

struct plan {
    const struct subject *subject;
    unsigned              count;
    struct feed_message   message[FEED_MAX];
    int start_pe[FEED_MAX]; /* the PE that begins a stretch; -1: the stretch continues */
};

static struct subject subjects[1024];
static unsigned       subject_count, total_runs;
static enum mode      mode;
static unsigned       orders;
static uint64_t       seed = 1;

static skua_handler run_handler, stretch_handler, end_handler;

/* ---- plans -------------------------------------------------------------------------------- */

static void swap(struct feed_message *a, struct feed_message *b)
{
    struct feed_message c = *a;

    *a = *b;
    *b = c;
}

/* Returns the order with the given number: each digit is a choice. */
static void arrange(struct plan *plan, unsigned number)
{
    for (unsigned i = 0; i + 1 < plan->count; i++) {
        swap(&plan->message[i], &plan->message[i + number % (plan->count - i)]);
        number /= plan->count - i;
    }
}

static void shuffle(struct plan *plan, uint64_t *random)
{
    for (unsigned i = 0; i + 1 < plan->count; i++)
        swap(&plan->message[i], &plan->message[i + tap_random(random) % (plan->count - i)]);
}

static const struct subject *subject_of(unsigned run)
{
    unsigned low = 0, high = subject_count;

    while (high - low > 1) {
        unsigned middle = (low + high) / 2;

        if (subjects[middle].first <= run)
            low = middle;
        else
            high = middle;
    }
    return &subjects[low];
}

static struct plan plan_of(unsigned run)
{
    struct plan plan   = {.subject = subject_of(run)};
    uint64_t    random = (seed * 1000003u + run) * 0x9e3779b97f4a7c15u | 1;

    plan.count = plan.subject->feed.count;
    memcpy(plan.message, plan.subject->feed.message, sizeof plan.message);
    tap_random(&random);
    if (plan.subject->all)
        arrange(&plan, run - plan.subject->first);
    else
        shuffle(&plan, &random);
    for (unsigned i = 0; i < plan.count; i++)
        plan.start_pe[i] = i > 0 && (mode == STAY || tap_random(&random) % 3 == 0)
                               ? -1
                               : (int)(tap_random(&random) % (uint64_t)skua_pes());
    return plan;
}

/* ---- results ------------------------------------------------------------------------------ */

static void print_trace(const char *whose, const struct trace *trace)
{
    fprintf(stderr, "%s, %" PRIu32 " numbers:", whose, trace->count);
    for (uint32_t i = 0; i < trace->count && i < TRACE_ITEMS; i++)
        fprintf(stderr, " %" PRId32, trace->item[i]);
    fprintf(stderr, "\n");
}

/* Prints the lines of a class, up to the next class. */
static void print_program(const struct subject *subject)
{
    const struct source *source = subject->class->location.source;
    unsigned             last   = source->lines;

    if (subject + 1 < subjects + subject_count && subject[1].class->location.source == source)
        last = subject[1].class->location.line - 2;
    for (unsigned line = subject->class->location.line; line <= last; line++) {
        struct text text = source_line(source, line);

        fprintf(stderr, "%.*s\n", (int)text.length, text.at);
    }
}

static _Noreturn void failed(const struct plan *plan, unsigned run, const struct trace *got,
                             const struct trace *expected)
{
    print_program(plan->subject);
    fprintf(stderr, "messages:");
    for (unsigned i = 0; i < plan->count; i++) {
        const struct feed_message *m = &plan->message[i];

        fprintf(stderr, "%s %.*s %d %d", i ? "," : "", (int)m->entry->name.text.length,
                m->entry->name.text.at, m->k, m->v);
        if (mode != STAY && plan->start_pe[i] >= 0)
            fprintf(stderr, " (PE %d)", plan->start_pe[i]);
    }
    fprintf(stderr, "\n");
    print_trace("expected", expected);
    print_trace("got", got);
    skua_abort("%.*s, run %u of seed %" PRIu64 ": differs from the model",
               (int)plan->subject->class->name.text.length, plan->subject->class->name.text.at, run,
               seed);
}

static void compare(const struct plan *plan, unsigned run, const struct trace *got)
{
    struct model       *model    = model_new(plan->subject->class);
    const struct trace *expected = model_trace(model);

    for (unsigned i = 0; i < plan->count; i++)
        model_send(model, &plan->message[i]);
    CHECK(model_steps(model) < MODEL_STEPS);
    if (memcmp(got, expected, sizeof *got) != 0)
        failed(plan, run, got, expected);
    model_free(model);
}

/* ---- runs --------------------------------------------------------------------------------- */

struct stretch {
    skua_ref    to;
    struct turn turn;
};

static void send_stretch(const struct plan *plan, skua_ref to, struct turn turn)
{
    const struct subject *subject = plan->subject;

    do {
        const struct feed_message *m = &plan->message[turn.at];

        subject->target->send(to, entry_number(subject->class, m->entry), m->k, m->v);
    } while (++turn.at < (int)plan->count && plan->start_pe[turn.at] < 0);
    turn.moved = false;
    subject->target->next(to, turn);
}

static void on_stretch(skua_msg *msg)
{
    const struct stretch *stretch = skua_msg_data(msg);
    struct plan           plan    = plan_of((unsigned)stretch->turn.run);

    send_stretch(&plan, stretch->to, stretch->turn);
    skua_msg_free(msg);
}

void next_turn(void *self, skua_ref me, const struct trace *trace, struct turn turn)
{
    struct plan    plan = plan_of((unsigned)turn.run);
    struct stretch stretch;

    if (turn.at == (int)plan.count) {
        compare(&plan, (unsigned)turn.run, trace);
        skua_object_destroy(self);
        skua_send_copy(turn.owner, run_handler, &turn.run, sizeof turn.run);
    } else if (mode == REMOTE) {
        stretch = (struct stretch){me, turn};
        skua_send_copy(plan.start_pe[turn.at], stretch_handler, &stretch, sizeof stretch);
    } else if (mode == MOVE && !turn.moved && plan.start_pe[turn.at] != skua_pe()) {
        turn.moved = true;
        plan.subject->target->next(me, turn);
        skua_migrate(self, plan.start_pe[turn.at]);
    } else {
        send_stretch(&plan, me, turn);
    }
}

/* Runs when a run has ended: starts the next one of this PE. */
static void on_run(skua_msg *msg)
{
    int                   run = *(const int *)skua_msg_data(msg) + skua_pes();
    const struct subject *subject;

    skua_msg_free(msg);
    if (run >= (int)total_runs) {
        skua_send_copy(0, end_handler, NULL, 0);
        return;
    }
    subject = subject_of((unsigned)run);
    subject->target->next(subject->target->create(mode == REMOTE ? run % skua_pes() : skua_pe()),
                          (struct turn){.run = run, .owner = skua_pe()});
}

static void on_end(skua_msg *msg)
{
    static int ended;

    skua_msg_free(msg);
    if (++ended < skua_pes())
        return;
    printf("# %u programs, %u runs\n", subject_count, total_runs);
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    int before = skua_pe() - skua_pes();

    (void)argc, (void)argv;
    skua_send_copy(skua_pe(), run_handler, &before, sizeof before);
}

/* ---- subjects ----------------------------------------------------------------------------- */

static void add_subject(const struct ast_class *class, const struct target *target)
{
    struct subject *subject = &subjects[subject_count++];

    CHECK(subject_count < sizeof subjects / sizeof *subjects);
    *subject = (struct subject){class,      target,     feed_of(class), orders ? orders : 720,
                                total_runs, orders == 0};
    CHECK(subject->feed.count > 0);
    subject->all &= subject->feed.count <= 7;
    if (subject->all) {
        subject->runs = 1;
        for (unsigned i = 2; i <= subject->feed.count; i++)
            subject->runs *= i;
    }
    total_runs += subject->runs;
}

static void add_program(const struct program *program, const char *only)
{
    struct source       *source = source_read(program->path);
    const struct target *target = program->target;
    struct ast_tree     *tree;

    CHECK(source);
    tree = parse_file(source);
    CHECK(diagnostic_error_count() == 0);
    program->add();
    for (const struct ast_module *module = tree->modules; module; module = module->next)
        for (const struct ast_item *item = module->items; item; item = item->next)
            if (item->kind == ITEM_CLASS) {
                if (strncmp(item->is.class->name.text.at, only, strlen(only)) == 0)
                    add_subject(item->is.class, target);
                target++;
            }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "stay";

    mode = !strcmp(how, "move") ? MOVE : !strcmp(how, "remote") ? REMOTE : STAY;
    if (argc > 2)
        orders = (unsigned)strtoul(argv[2], NULL, 0);
    if (argc > 3)
        seed = strtoull(argv[3], NULL, 0);
    for (const struct program *program = programs; program->path; program++)
        add_program(program, argc > 4 ? argv[4] : "");
    run_handler     = skua_handler_register("run", on_run);
    stretch_handler = skua_handler_register("stretch", on_stretch);
    end_handler     = skua_handler_register("end", on_end);
    return skua_main(argc, argv, start);
}
