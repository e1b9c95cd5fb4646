/* SPDX-License-Identifier: Apache-2.0 */
/* everything.c - the C functions of everything.ci: they send arguments and check what arrives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everything.ci.h"

/* ---- chapters --------------------------------------------------------------------------- */

static int64_t pes(void)
{
    return skua_pes();
}

void begin(Main *self, int argc, char **argv)
{
    static double some[6] = {1, 2, 3, 4, 5, 6}, ten[3] = {10, 20, 30};
    const double  x[2] = {3, 4};

    CHECK(argc == 1 && argv[0] && strcmp(greeting, "none") == 0 && !unset && weights == 4);
    CHECK(setting.level == 1 && setting.factor == 2.5 && grid[1][1] == 5);
    boss          = Main_self(self);
    setting.level = 7;
    grid[1][2]    = 60;
    weights       = 3;
    weight        = some;
    greeting      = strcpy(malloc(6), "hello");
    sides         = 40;
    length        = ten;
    word          = strcpy(malloc(8), "changed");
    verbose       = true;
    tally         = Tally_new();
    members       = Member_new((point){1, 2}, 3, (int16_t[]){1, 2, 3});
    shared        = Shared_new("shared");
    line          = Line_new(2 * skua_pes() + 1, 2, x, "line");
    walkers       = Walker_new(2 * skua_pes(), 2, 3, (double[]){1, 2, 3}, "walker");

    self->expect[HIT_READONLY] += pes();
    self->expect[HIT_CREATE] += skua_processes() + 2 * pes() + 1;
}

void check_counts(Main *self, int n, const int64_t *counts)
{
    CHECK(n == HITS);
    self->chapter++;
    for (int i = 0; i < HITS; i++)
        if (counts[i] != self->expect[i] && i != HIT_DESTROY)
            skua_abort("chapter %d: event %d happened %lld times, not %lld", self->chapter, i,
                       (long long)counts[i], (long long)self->expect[i]);
}

/* ---- read-only variables, arguments -------------------------------------------------------- */

void Member_on_create(Member *self, point home, int n, const int16_t *x)
{
    CHECK(home.x == 1 && home.y == 2 && n == 3 && x[0] == 1 && x[2] == 3);
    CHECK(self->home.x == 1 && self->home.y == 2 && self->calls == 0);
    CHECK(self->x[0] == 1 && self->x[2] == 3 && self->x[3] == 0);
    CHECK(setting.level == 7 && setting.factor == 2.5 && grid[0][0] == 1 && grid[1][2] == 60);
    CHECK(weights == 3 && weight[0] == 1 && weight[5] == 6 && verbose);
    CHECK(strcmp(greeting, "hello") == 0 && !unset);
    CHECK(strcmp(word, "changed") == 0 && length[2] == 30);
    CHECK(Member_index(self) == skua_pe());
    hit(HIT_READONLY);
}

/* Sends every kind of argument to PE 0. */
void Member_on_arguments(Member *self)
{
    Member_element to       = Member_at(Member_of(self), 0);
    double        *x        = malloc(BIG * sizeof *x);
    double         seven[7] = {0, 1, 2, 3, 4, 5, 6};
    const point    two[2]   = {{1, 2}, {3, 4}};

    Member_scalars(to, 'c', true, 1ULL << 60, 0.5f, (struct setting){3, 4}, (point){5, 6});
    Member_scalars_prio(to, -1, 'c', true, 1ULL << 60, 0.5f, (struct setting){3, 4}, (point){5, 6});
    Member_arrays(to, 2, 3, seven, "ab", two);
    Member_arrays_prio(to, 3, 0, 0, seven, NULL, NULL); /* arrays of length 0 */
    Member_texts(to, "", 0, NULL, "second", NULL);
    for (int i = 0; i < BIG; i++)
        x[i] = i;
    Member_big(to, BIG, x);
    Member_nothing(to);
    free(x);
}

void Member_on_scalars(Member *self, char c, bool b, unsigned long long u, float f,
                       struct setting s, point p)
{
    CHECK(c == 'c' && b && u == 1ULL << 60 && f == 0.5f && s.level == 3 && s.factor == 4);
    CHECK(p.x == 5 && p.y == 6 && self->home.x == 1);
    hit(HIT_ARGUMENTS);
}

void Member_on_arrays(Member *self, int n, int m, const double *x, const char *c, const point *p)
{
    CHECK(x[n * m] == n * m && (uintptr_t)x % sizeof *x == 0 && (uintptr_t)p % sizeof *x == 0);
    if (n > 0)
        CHECK(strcmp(c, "ab") == 0 && m == 3 && p[1].y == 4);
    hit(HIT_ARGUMENTS);
    (void)self;
}

void Member_on_texts(Member *self, const char *a, int n, const int32_t *x, const char *b,
                     const char *none)
{
    CHECK(!*a && n == 0 && x && strcmp(b, "second") == 0 && !none);
    hit(HIT_ARGUMENTS);
    (void)self;
}

void Member_on_big(Member *self, int n, const double *x)
{
    CHECK(n == BIG);
    for (int i = 0; i < n; i++)
        CHECK(x[i] == i);
    hit(HIT_ARGUMENTS);
    (void)self;
}

void Member_on_nothing(Member *self)
{
    (void)self;
    hit(HIT_ARGUMENTS);
}

/* ---- messages -------------------------------------------------------------------------------- */

static Plain *plain(int a)
{
    Plain *p = Plain_new();

    *p = (Plain){a, 0.5, {1, 2}};
    return p;
}

static Open *open_message(int64_t tag)
{
    Open *open = Open_new(2, 3);

    open->tag = tag;
    memcpy(open->x, (int32_t[]){3, 4}, 2 * sizeof *open->x);
    memcpy(open->y, (double[]){7, 8, 9}, 3 * sizeof *open->y);
    return open;
}

void send_messages(Main *self)
{
    Member_element last    = Member_at(members, skua_pes() - 1);
    skua_index     some[2] = {skua_index1(0), skua_index1(skua_pes() - 1)};
    Member_section both    = Member_section_of(members, some, skua_pes() > 1 ? 2 : 1);

    Member_own(last, open_message(2));
    Member_own_prio(last, -2, open_message(1));
    Member_look(last, open_message(0));
    Member_look_all(members, open_message(0));
    Member_all_all(members, plain(1));
    Member_all_section(both, plain(1));
    self->expect[HIT_MESSAGE] += 4 + 2 + 1 + pes() + pes() + (skua_pes() > 1 ? 2 : 1);
    self->expect[HIT_KEPT] += 1;
    Main_kept(boss, plain(5));
    Main_given(boss, open_message(4));
    Main_kept(boss, plain(6));
}

/* An entry owns its message, and may forward it: four times, with two messages. */
void Member_on_own(Member *self, Open *open)
{
    CHECK(open->x_count == 2 && open->x[0] == 3 && open->y_count == 3 && open->y[0] == 7);
    hit(HIT_MESSAGE);
    if (self->calls++ < 4)
        Member_own(Member_self(self), open);
    else
        Open_free(open);
}

void Member_on_look(Member *self, Open *open)
{
    CHECK(open->x[1] == 4 && open->y[2] == 9 && open->tag == 0);
    hit(HIT_MESSAGE);
    (void)self;
}

void Member_on_all(Member *self, Plain *p)
{
    CHECK(p->a == 1 && p->b == 0.5 && p->p.y == 2);
    p->a = 0; /* ours alone */
    Plain_free(p);
    hit(HIT_MESSAGE);
    (void)self;
}

/* ---- all kinds of objects ------------------------------------------------------------------- */

static void visit_arrays(void)
{
    Plane_proxy plane = Plane_new(2, 3);
    Space_proxy space = Space_new(2, 1, 2);
    Four_proxy  four  = Four_new(1, 2, 1, 2);
    Five_proxy  five  = Five_new(1, 2, 1, 1, 2);
    Six_proxy   six   = Six_new(1, 2, 1, 1, 2, 3);

    for (int i = 0; i < 2; i++) {
        Plane_visit(Plane_at(plane, i, 2), i + 2);
        Space_visit(Space_at(space, i, 0, 1), i + 1);
        Four_visit(Four_at(four, 0, i, 0, 1), i + 1);
        Five_visit(Five_at(five, 0, i, 0, 0, 1), i + 1);
        Six_visit(Six_at(six, 0, i, 0, 0, 1, 2), i + 3);
    }
    Plane_visit_all(plane, -1);
    Six_visit_all(six, -1);
}

static void visit_line(Main *self)
{
    skua_index   some[2] = {skua_index1(0), skua_index1(2 * skua_pes())};
    Line_section ends    = Line_section_of(line, some, 2);

    for (int i = 0; i <= 2 * skua_pes(); i++)
        Line_visit(Line_at(line, i), i);
    Line_some_section(ends, 2, (int[]){4, 5});
    skua_complete(Line_done_done(Line_at(line, 1)), NULL, 0);
    skua_complete(Line_done_done_all(line), NULL, 0);
    skua_complete(Line_sum_done_section(ends), &(int){11}, sizeof(int));
    self->expect[HIT_INDEX] += 2 * pes() + 1 + 2 + 1 + (2 * pes() + 1) + 2;
}

static Named_element named(Named_proxy all, const char *name, int number)
{
    struct key key = {"", number};

    strcpy(key.name, name);
    return Named_at(all, key);
}

/* Elements are found whatever the padding of their index contains. */
static Padded_element padded_at(Padded_proxy all, int padding, int number)
{
    padded index;

    memset(&index, padding, sizeof index);
    index.in.kind   = 'k';
    index.in.number = number;
    index.last      = 'l';
    return Padded_at(all, index);
}

static void visit_padded(Main *self)
{
    Padded_proxy all = Padded_new();

    for (int i = 0; i < 4; i++)
        Padded_insert(padded_at(all, 1, i), SKUA_ANY_PE);
    skua_array_close(all.all);
    for (int i = 0; i < 4; i++)
        Padded_visit(padded_at(all, 2, i));
    self->expect[HIT_CREATE] += 4;
    self->expect[HIT_INDEX] += 4;
}

static void visit_named(Main *self)
{
    Named_proxy all = Named_new();

    Named_insert(named(all, "one", 1), skua_pes() - 1);
    Named_home(named(all, "one", 1), 1);
    for (int i = 2; i < 6; i++) {
        Named_home(named(all, "home", i), i);
        Named_nearby(named(all, "here", i), i);
        Named_item(named(all, "here", i), i);
    }
    visit_padded(self);
    self->expect[HIT_CREATE] += 1 + 4 + 4;
    self->expect[HIT_INDEX] += 1 + 4 + 4 + 4;
}

void create_all(Main *self)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        Leaf_end(Leaf_new_on(pe, plain(pe)));
    Leaf_end(Leaf_new(plain(0)));
    Blank_end(Blank_new());
    skua_complete(Blank_end_done(Blank_new_on(0)), NULL, 0);
    self->expect[HIT_CREATE] += 2 * (pes() + 1) + 2;
    for (int process = 0; process < skua_processes(); process++)
        Shared_call(Shared_at(shared, process), process);
    Shared_call_all(shared, -1);
    self->expect[HIT_CREATE] += 2 * skua_processes();
    visit_arrays();
    self->expect[HIT_INDEX] += 10 + 6 + 12;
    visit_line(self);
    visit_named(self);
}

void Leaf_on_create(Leaf *self, Plain *p)
{
    CHECK(p->a < skua_pes() && p->p.x == 1 && self);
    hit(HIT_CREATE);
}

void Leaf_on_end(Leaf *self)
{
    hit(HIT_CREATE);
    skua_object_destroy(self);
}

void Leaf_on_destroy(Leaf *self)
{
    (void)self;
    hit(HIT_DESTROY);
}

void Blank_on_end(Blank *self)
{
    hit(HIT_CREATE);
    skua_object_destroy(self);
}

void Names_on_add(Names *self, int n)
{
    (void)self, (void)n;
}

void Line_on_create(Line *self, int n, const double *x, const char *name)
{
    CHECK(n == 2 && self->n == 2 && self->x != x && memcmp(self->x, x, 2 * sizeof *x) == 0);
    CHECK(self->x[2] == 0);
    CHECK(self->name != name && strcmp(self->name, "line") == 0 && self->radius == 10);
    hit(HIT_CREATE);
}

void Line_on_visit(Line *self, int sum)
{
    CHECK(Line_index(self) == sum);
    hit(HIT_INDEX);
}

void Line_on_some(Line *self, int n, const int *x)
{
    CHECK(n == 2 && x[1] == 5 && Line_index(self) % (2 * skua_pes()) == 0);
    hit(HIT_INDEX);
}

void Line_on_done(Line *self)
{
    (void)self;
    hit(HIT_INDEX);
}

void Line_on_sum(Line *self, int sum)
{
    CHECK(sum == 11 && Line_index(self) % (2 * skua_pes()) == 0);
    hit(HIT_INDEX);
}

static void visited(int index, int sum)
{
    CHECK(sum < 0 || sum == index);
    hit(HIT_INDEX);
}

void Plane_on_visit(Plane *self, int sum)
{
    Plane_position at = Plane_index(self);

    visited(at.i + at.j, sum);
}

void Space_on_visit(Space *self, int sum)
{
    Space_position at = Space_index(self);

    visited(at.i + at.j + at.k, sum);
}

void Four_on_visit(Four *self, int sum)
{
    Four_position at = Four_index(self);

    visited(at.i + at.j + at.k + at.l, sum);
}

void Five_on_visit(Five *self, int sum)
{
    Five_position at = Five_index(self);

    visited(at.i + at.j + at.k + at.l + at.m, sum);
}

void Six_on_visit(Six *self, int sum)
{
    Six_position at = Six_index(self);

    visited(at.i + at.j + at.k + at.l + at.m + at.n, sum);
}

void Named_on_create(Named *self)
{
    CHECK(self->seen == 0);
    hit(HIT_CREATE);
}

void Named_on_home(Named *self, int number)
{
    struct key key = Named_index(self);

    CHECK(key.number == number && strcmp(key.name, number == 1 ? "one" : "home") == 0);
    hit(HIT_INDEX);
}

void Named_on_nearby(Named *self, int number)
{
    struct key key = Named_index(self);

    CHECK(key.number == number && strcmp(key.name, "here") == 0 && skua_pe() == 0);
    hit(HIT_INDEX);
}

void Named_on_item(Named *self, int number)
{
    CHECK(Named_index(self).number == number);
    hit(HIT_INDEX);
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* A threaded entry, which waits for answers. */
void Member_on_ask(Member *self)
{
    Member_element to     = Member_at(members, skua_pes() - 1);
    skua_future    answer = SKUA_FUTURE_INIT;
    point          p;
    const int     *twice;
    size_t         bytes;

    CHECK(Member_twice(to, 21) == 42 && Member_twice_slowly(to, 4) == 8);
    p = Member_mirror(to, (point){1, 2}, 2, (double[]){10, 20});
    CHECK(p.x == 12 && p.y == 21);
    Member_wait(to);
    Member_twice_reply(to, 5, skua_done_future(&answer));
    twice = skua_future_wait(&answer, &bytes);
    CHECK(twice && bytes == sizeof *twice && *twice == 10);
    skua_future_clear(&answer);
    Member_now(Member_self(self), 1);
    CHECK(self->order == 1); /* at once */
    Member_later(Member_self(self), 2);
    Member_soon(Member_self(self), 3);
    Member_sooner(Member_self(self), 4);
    CHECK(Member_area(Member_self(self), 3) == 6 && !strcmp(Member_name(Member_self(self)), "me"));
    skua_complete(Main_none_done(boss), NULL, 0);
    skua_complete(Main_one_done(boss), &(double){0.5}, sizeof(double));
    skua_complete(Main_many_done(boss), (double[]){4, 5, 6}, 3 * sizeof(double));
    skua_complete(Main_pointed_done(boss), &(point){1, 2}, sizeof(point));
    Main_asked(boss);
}

int Member_on_twice(Member *self, int x)
{
    (void)self;
    return 2 * x;
}

int Member_on_twice_slowly(Member *self, int x)
{
    return Member_twice(Member_at(Member_of(self), 0), x);
}

point Member_on_mirror(Member *self, point p, int n, const double *x)
{
    CHECK(n == 2 && self);
    return (point){p.y + x[0], p.x + x[1]};
}

void Member_on_wait(Member *self)
{
    (void)self;
}

static void in_order(Member *self, int x)
{
    CHECK(x == 1 || skua_pe() == 0);
    self->order = x;
}

void Member_on_now(Member *self, int x)
{
    in_order(self, x);
}

void Member_on_later(Member *self, int x)
{
    CHECK(self->order == 3 || self->order == 4); /* it overtook the ordinary message */
    in_order(self, x);
}

void Member_on_soon(Member *self, int x)
{
    in_order(self, x);
}

void Member_on_sooner(Member *self, int x)
{
    in_order(self, x);
}

double Member_on_area(Member *self, double by)
{
    return self->home.x * self->home.y * by;
}

const char *Member_on_name(Member *self)
{
    (void)self;
    return "me";
}

/* ---- interfaces ----------------------------------------------------------------------------- */

static Letter *letter(void)
{
    Letter *l = Letter_new(3, 5);

    l->tag  = 1;
    l->x[2] = 0.5;
    memcpy(l->text, "post", 5);
    return l;
}

static void use_shape(Shape_element shape)
{
    Shape_grow(shape, 1);
    Shape_post(shape, letter());
    Shape_label(shape, "label", 2, (int[]){7, 8});
    Shape_label_prio(shape, 0, "label", 2, (int[]){7, 8});
    Shape_grow_prio(shape, -1, -1);
    Shape_area(shape, Main_areas_done(boss));
}

void use_shapes(Main *self)
{
    Square_proxy squares = Square_new(6);

    use_shape(Square_as_Shape(Square_at(squares, skua_pes() - 1)));
    use_shape(Line_as_Shape(Line_at(line, 2 * skua_pes())));
    Shape_corners_reply(Line_as_Shape(Line_at(line, 0)), 1, skua_done_nothing());
    Square_grow_all(squares, 0);
    self->expect[HIT_SQUARE] += pes();
    self->expect[HIT_SHAPE] += 10 + 1 + pes();
}

void Line_on_grow(Line *self, int by)
{
    self->radius += by;
    hit(HIT_SHAPE);
}

void Line_on_post(Line *self, Letter *l)
{
    CHECK(l->n == 3 && strcmp(l->text, "post") == 0 && self->radius >= 9);
    Letter_free(l);
    hit(HIT_SHAPE);
}

void Line_on_label(Line *self, const char *text, int n, const int *x)
{
    CHECK(strcmp(text, "label") == 0 && x[n - 1] == 8 && self);
    hit(HIT_SHAPE);
}

int Line_on_corners(Line *self, int more)
{
    (void)self;
    hit(HIT_SHAPE);
    return more;
}

/* ---- items ---------------------------------------------------------------------------------- */

void send_items(Main *self)
{
    for (int i = 0; i < 1000; i++) {
        Member_item(Member_at(members, i % skua_pes()), i, (point){i, -i});
        Member_batch(Member_at(members, i % skua_pes()), (uint64_t)i);
        Line_item(Line_at(line, i % (2 * skua_pes() + 1)), i % (2 * skua_pes() + 1), 0.5 * i);
    }
    self->expect[HIT_ITEM] += 3000;
}

void Member_on_item(Member *self, int a, point p)
{
    CHECK(a % skua_pes() == Member_index(self) && p.x == a && p.y == -a);
    hit(HIT_ITEM);
}

void Member_on_batch(Member *self, int n, const uint64_t *a)
{
    for (int i = 0; i < n; i++) {
        CHECK(a[i] % (uint64_t)skua_pes() == (uint64_t)Member_index(self));
        hit(HIT_ITEM);
    }
}

void Line_on_item(Line *self, int to, double x)
{
    CHECK(Line_index(self) == to && (int)(2 * x) % (2 * skua_pes() + 1) == to);
    hit(HIT_ITEM);
}

/* ---- objects that walk ---------------------------------------------------------------------- */

void fill(Walker *self)
{
    CHECK(self->start == 2 && self->twice == 4 && self->n == 3 && self->x[2] == 3);
    CHECK(strcmp(self->label, "walker") == 0 && strcmp(self->copy, "walker") == 0 && !self->empty);
    CHECK(self->label != self->copy && self->origin.x == 1 && self->origin.y == 2);
    CHECK(self->cache && self->cache[2] == 0 && !self->scratch);
    for (int i = 0; i < self->twice; i++) {
        bag *b = &self->bags[i];

        b->chains   = i;
        b->list     = calloc((size_t)i + 1, sizeof *b->list);
        b->fixed[2] = i;
        b->two[1]   = (point){i, i};
        for (int k = 0; k < i; k++) {
            b->list[k].n    = k;
            b->list[k].at   = calloc((size_t)k + 1, sizeof *b->list[k].at);
            b->list[k].name = k ? strdup("chain") : NULL;
            for (int j = 0; j < k; j++)
                b->list[k].at[j].x = i * k + j;
        }
        self->fixed[i] = i;
    }
}

static void check_bag(const bag *b, int i)
{
    CHECK(b->chains == i && b->fixed[2] == i && b->two[1].y == i);
    for (int k = 0; k < i; k++) {
        CHECK(b->list[k].n == k);
        CHECK(k ? strcmp(b->list[k].name, "chain") == 0 : !b->list[k].name);
        for (int j = 0; j < k; j++)
            CHECK(b->list[k].at[j].x == i * k + j);
    }
}

void check_walker(const Walker *self)
{
    CHECK(self->start == 2 && self->twice == 4 && self->n == 3 && self->x[1] == 2);
    CHECK(strcmp(self->label, "walker") == 0 && strcmp(self->copy, "walker") == 0 && !self->empty);
    CHECK(self->origin.y == 2 && self->running == 0 && self->marks[1] == 8);
    for (int i = 0; i < self->twice; i++) {
        CHECK(self->fixed[i] == i);
        check_bag(&self->bags[i], i);
    }
}

void move_on(Walker *self)
{
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

void check_step(const Walker *self, int round, int n, const int *v, const char *text)
{
    CHECK(n == round + 1 && v[0] == 100 + round && v[n - 1] == 100 + round);
    CHECK(strcmp(text, round % 2 ? "odd" : "even") == 0);
    check_walker(self);
}

/* Sends what one walker waits for, in an order in which it cannot consume the messages directly. */
static void send_early(Walker_element w)
{
    for (int round = ROUNDS - 1; round >= 0; round--) {
        int v[ROUNDS] = {100 + round, 100 + round, 100 + round, 100 + round};

        Walker_right(w, round, 1);
        for (int i = EACH - 1; i >= 0; i--)
            Walker_item(w, round * EACH + i, i);
        Walker_left(w, round, 2);
        Walker_note(w, round, round % 2 ? "odd" : "even");
        Walker_step(w, round, round + 1, v);
        Walker_deep(w, round, 10);
    }
}

static void send_rest(Walker_element w)
{
    for (int value = 0; value < ROUNDS; value++)
        for (int id = 0; id < EACH; id++)
            Walker_token_prio(w, 0, id, value);
    for (int i = 0; i < 2; i++) {
        Walker_c(w, 2);
        Walker_a(w, 1);
        Walker_b(w, 1);
    }
}

void walk_all(Main *self)
{
    for (int i = 0; i < 2 * skua_pes(); i++) {
        send_early(Walker_at(walkers, i));
        if (i % 2)
            send_rest(Walker_at(walkers, i));
    }
    Walker_walk_all(walkers, ROUNDS);
    for (int i = 0; i < 2 * skua_pes(); i += 2)
        send_rest(Walker_at(walkers, i));
    self->expect[HIT_FLOW] += 2 * pes() * (ROUNDS - 1 + EACH + 1);
}

void check_walk(int n, const int64_t *sums)
{
    int64_t each = 0;

    for (int round = 0; round < ROUNDS; round++)
        each += 2 * (100 + round) + 1 + 2 + 0 + 1 + 2;
    each += 10 * (ROUNDS - 1);
    CHECK(n == 1 && sums[0] == 2 * pes() * each);
}

/* ---- objects that wander -------------------------------------------------------------------- */

void wander(Main *self)
{
    Own_proxy all = Own_new_with(&(skua_array_def){.dims  = 1,
                                                   .range = {.dims = 1, .upper = {3}},
                                                   .map   = {.kind = SKUA_MAP_CYCLIC}},
                                 4);

    Own_go_all(all, 5);
    self->expect[HIT_OWN] += 3 * 2;
}

void Own_on_create(Own *self, int n)
{
    self->n = n;
    self->x = malloc((size_t)n * sizeof *self->x);
    for (int i = 0; i < n; i++)
        self->x[i] = i;
    hit(HIT_OWN);
}

void Own_on_destroy(Own *self)
{
    free(self->x);
    hit(HIT_DESTROY);
}

void Own_on_pup(skua_pup *p, Own *self)
{
    skua_pup_value(p, &self->n);
    skua_pup_value(p, &self->moves);
    skua_pup_memory(p, &self->x, (size_t)self->n * sizeof *self->x);
}

void check_own(const Own *self)
{
    CHECK(self->n == 4 && self->moves == 5);
    for (int i = 0; i < self->n; i++)
        CHECK(self->x[i] == i);
    hit(HIT_OWN);
}
