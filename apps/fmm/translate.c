/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translate.c - see translate.h.
 *
 * A direction has the angles alpha (about z) and beta (from z).  The rotation by beta mixes the
 * coefficients of one degree l; cosines and sines stay apart.  Its matrices are integrals of
 * products of harmonics, computed by a quadrature that is exact for them.  With |d| the distance,
 * in units of the width of the larger box, the matrices along z are
 *
 *     M2L  (-1)^(l+m) (l+j)! / (n(l,m) n(j,m) |d|^(l+j+1))    from l to j
 *     M2M  n(l,m) / (n(k,m) (l-k)!) |d|^(l-k) / 2^k           from k to l >= k
 *     L2L  the transpose of M2M, halved
 *
 * with n(l,m)^2 = (l+m)! (l-m)!.  Directions with the same beta or |d| share their matrices.
 */
#include "translate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"
#include "kernels.h"

/* ---- matrices ------------------------------------------------------------------------------- */

/* Returns the number of elements of blocks. */
static size_t translate_elements(const struct translate_block *block, int blocks)
{
    size_t sum = 0;

    for (int i = 0; i < blocks; i++)
        sum += (size_t)block[i].out * (size_t)block[i].in;
    return sum;
}

/* Adds to element (i, j) of a block that begins at @p a; elements are stored panel by panel. */
static void translate_add(double *a, const struct translate_block *b, int i, int j, double x)
{
    int first = i - i % PANEL, rows = b->out - first < PANEL ? b->out - first : PANEL;

    a[first * b->in + j * rows + i % PANEL] += x;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Rotations by one beta, and its transpose. */
struct translate_rotation {
    double                  cosine;
    struct translate_matrix forth, back;
};

/* Translations along z over one distance. */
struct translate_shift {
    int                     kind; /* TO_PARENT ... */
    double                  distance;
    struct translate_matrix matrix;
};

enum { TO_PARENT, TO_CHILD, TO_LOCAL };

struct translate_step {
    const struct translate_rotation *rotation;
    const struct translate_shift    *shift;
    /* Cosines and sines of m alpha. */
    double cosine[ORDER_MAX + 1], sine[ORDER_MAX + 1];
};

/* A node of the quadrature on the sphere. */
struct translate_node {
    double at[3], weight;
};

struct translate_tables {
    struct translate_block     by_degree[2 * ORDER_MAX + 1], by_m[2 * ORDER_MAX + 1];
    int16_t                    row[4 * EXPANSION_MAX];
    struct translate_rotation *rotation;
    struct translate_shift    *shift;
    int                        rotations, shifts;
    struct translate_node     *node;
    int                        nodes;
    bool                       failed; /* no memory */
};

static void translate_set_block(struct translate_block *b, int16_t **row, int first, int last,
                                int m, int s)
{
    b->out_row = b->in_row = *row;
    b->out = b->in = last - first + 1;
    for (int i = first; i <= last; i++) { /* degrees of one m, or all m of one degree */
        int l = m < 0 ? last : i, at = m < 0 ? i : m;

        *(*row)++ = (int16_t)(l * l + at + s * l);
    }
}

static void translate_set_blocks(struct translate_tables *tables, int order)
{
    int16_t *row = tables->row;
    int      n = 0, k = 0;

    for (int l = 0; l <= order; l++)
        for (int s = 0; s <= (l > 0); s++)
            translate_set_block(&tables->by_degree[n++], &row, s, l, -1, s);
    for (int m = 0; m <= order; m++)
        for (int s = 0; s <= (m > 0); s++)
            translate_set_block(&tables->by_m[k++], &row, m, order, m, s);
}

/* Gauss-Legendre nodes in cos(theta) by Newton's method, and equidistant ones in phi. */
static void translate_set_nodes(struct translate_tables *tables, int order)
{
    int rings = order + 1, each = 2 * order + 2;

    tables->nodes = rings * each;
    tables->node  = malloc((size_t)tables->nodes * sizeof *tables->node);
    if (!tables->node)
        return;
    for (int i = 0; i < rings; i++) {
        double x = cos(M_PI * (i + 0.75) / (rings + 0.5)), slope = 1;

        for (int pass = 0; pass < 100; pass++) {
            double p = 1, q = 0, step;

            for (int l = 1; l <= rings; l++) {
                double next = ((2 * l - 1) * x * p - (l - 1) * q) / l;

                q = p;
                p = next;
            }
            slope = rings * (x * p - q) / (x * x - 1);
            step  = p / slope;
            x -= step;
            if (fabs(step) < 1e-15)
                break;
        }
        for (int j = 0; j < each; j++) {
            double phi = 2 * M_PI * (j + 0.5) / each, r = sqrt(1 - x * x);

            tables->node[i * each + j] = (struct translate_node){
                {r * cos(phi), r * sin(phi), x}, 1 / ((1 - x * x) * slope * slope) / each};
        }
    }
}

/* Adds the products of harmonics at one node to the rotations. */
static void translate_add_node(const struct translator *t, struct translate_rotation *to,
                               const struct translate_node *node, double sine)
{
    double here[EXPANSION_MAX], there[EXPANSION_MAX], *forth = to->forth.at, *back = to->back.at;
    double turned[3] = {to->cosine * node->at[0] - sine * node->at[2], node->at[1],
                        sine * node->at[0] + to->cosine * node->at[2]};

    expansion_harmonics(here, t->expansion, node->at, false);
    expansion_harmonics(there, t->expansion, turned, false);
    for (int n = 0; n < to->forth.blocks; n++) {
        const struct translate_block *b = &to->forth.block[n];
        int                           l = (n + 1) / 2;

        for (int i = 0; i < b->out; i++)
            for (int j = 0; j < b->in; j++) {
                double x = (2 * l + 1) * node->weight * there[b->out_row[i]] * here[b->in_row[j]];

                translate_add(forth, b, i, j, x);
                translate_add(back, b, j, i, x);
            }
        forth += b->out * b->in;
        back += b->out * b->in;
    }
}

static bool translate_alloc(struct translate_matrix *to, const struct translate_block *block,
                            int blocks)
{
    *to = (struct translate_matrix){block, blocks,
                                    calloc(translate_elements(block, blocks), sizeof(double))};
    return to->at != NULL;
}

static const struct translate_rotation *translate_rotation_of(const struct translator *t,
                                                              double                   cosine)
{
    struct translate_tables   *tables = t->tables;
    struct translate_rotation *r;
    int                        blocks = 2 * t->expansion->order + 1;

    for (r = tables->rotation; r < tables->rotation + tables->rotations; r++)
        if (fabs(r->cosine - cosine) < 1e-12)
            return r;
    r->cosine = cosine;
    tables->rotations++;
    if (!translate_alloc(&r->forth, tables->by_degree, blocks) ||
        !translate_alloc(&r->back, tables->by_degree, blocks)) {
        tables->failed = true;
        return r;
    }
    for (int i = 0; i < tables->nodes; i++)
        translate_add_node(t, r, &tables->node[i], sqrt(fmax(0, 1 - cosine * cosine)));
    return r;
}

/* Returns the logarithm of n(l,m). */
static double translate_norm(int l, int m)
{
    return 0.5 * (log_factorial(l + m) + log_factorial(l - m));
}

/* Returns the element of a matrix along z from degree k to degree l. */
static double translate_element(const struct translate_shift *s, int l, int k, int m)
{
    double d = log(s->distance), half = log(0.5);

    switch (s->kind) {
    case TO_PARENT:
        return l < k ? 0
                     : exp(translate_norm(l, m) - translate_norm(k, m) - log_factorial(l - k) +
                           (l - k) * d + k * half);
    case TO_CHILD:
        return k < l ? 0
                     : exp(translate_norm(k, m) - translate_norm(l, m) - log_factorial(k - l) +
                           (k - l) * d + (l + 1) * half);
    default:
        return ((k + m) % 2 ? -1 : 1) * exp(log_factorial(l + k) - translate_norm(l, m) -
                                            translate_norm(k, m) - (l + k + 1) * d);
    }
}

static const struct translate_shift *translate_shift_of(const struct translator *t, int kind,
                                                        double distance)
{
    struct translate_tables *tables = t->tables;
    struct translate_shift  *s;
    double                  *a;

    for (s = tables->shift; s < tables->shift + tables->shifts; s++)
        if (s->kind == kind && fabs(s->distance - distance) < 1e-12)
            return s;
    *s = (struct translate_shift){.kind = kind, .distance = distance};
    tables->shifts++;
    if (!translate_alloc(&s->matrix, tables->by_m, 2 * t->expansion->order + 1)) {
        tables->failed = true;
        return s;
    }
    a = s->matrix.at;
    for (int n = 0; n < s->matrix.blocks; n++) {
        const struct translate_block *b = &s->matrix.block[n];
        int                           m = (n + 1) / 2;

        for (int i = 0; i < b->out; i++)
            for (int j = 0; j < b->in; j++)
                translate_add(a, b, i, j, translate_element(s, m + i, m + j, m));
        a += b->out * b->in;
    }
    return s;
}

static void translate_set_step(const struct translator *t, struct translate_step *step, int kind,
                               const double to[3])
{
    double distance = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
    double alpha    = atan2(to[1], to[0]);

    step->rotation = translate_rotation_of(t, to[2] / distance);
    step->shift    = translate_shift_of(t, kind, distance);
    for (int m = 0; m <= t->expansion->order; m++) {
        step->cosine[m] = cos(m * alpha);
        step->sine[m]   = sin(m * alpha);
    }
}

/* ---- creation ------------------------------------------------------------------------------- */

int translate_directions(const struct translator *t)
{
    int side = 2 * t->reach + 1;

    return side * side * side;
}

static void translate_set_families(struct translator *t)
{
    for (int octant = 0; octant < 8; octant++) {
        double to[3];

        for (int d = 0; d < 3; d++)
            to[d] = octant >> d & 1 ? 0.25 : -0.25;
        translate_set_step(t, &t->to_parent[octant], TO_PARENT, to);
        translate_set_step(t, &t->to_child[octant], TO_CHILD, to);
    }
}

static void translate_set_locals(struct translator *t, int separation)
{
    for (int z = -t->reach; z <= t->reach; z++)
        for (int y = -t->reach; y <= t->reach; y++)
            for (int x = -t->reach; x <= t->reach; x++)
                if (abs(x) > separation || abs(y) > separation || abs(z) > separation)
                    translate_set_step(t, &t->to_local[translate_direction(t, (int[3]){x, y, z})],
                                       TO_LOCAL, (double[3]){x, y, z});
}

bool translator_create(struct translator *t, const struct expansion *e, int separation)
{
    size_t directions;

    *t           = (struct translator){.expansion = e, .reach = 2 * separation + 1};
    directions   = (size_t)translate_directions(t);
    t->tables    = calloc(1, sizeof *t->tables);
    t->to_parent = calloc(16 + directions, sizeof *t->to_parent);
    if (!t->tables || !t->to_parent)
        return false;
    t->to_child = t->to_parent + 8;
    t->to_local = t->to_parent + 16;
    /* An upper bound of their number. */
    t->tables->rotation = calloc(directions, sizeof *t->tables->rotation);
    t->tables->shift    = calloc(directions + 2, sizeof *t->tables->shift);
    translate_set_blocks(t->tables, e->order);
    translate_set_nodes(t->tables, e->order);
    if (!t->tables->rotation || !t->tables->shift || !t->tables->node)
        return false;
    translate_set_families(t);
    translate_set_locals(t, separation);
    return !t->tables->failed;
}

void translator_free(struct translator *t)
{
    for (int i = 0; t->tables && i < t->tables->rotations; i++) {
        free(t->tables->rotation[i].forth.at);
        free(t->tables->rotation[i].back.at);
    }
    for (int i = 0; t->tables && i < t->tables->shifts; i++)
        free(t->tables->shift[i].matrix.at);
    if (t->tables) {
        free(t->tables->rotation);
        free(t->tables->shift);
        free(t->tables->node);
    }
    free(t->tables);
    free(t->to_parent);
    *t = (struct translator){0};
}

/* ---- translations --------------------------------------------------------------------------- */

/* Two coefficients of an expansion. */
typedef double translate_two __attribute__((vector_size(16), aligned(8), may_alias));

/* Returns the first, or the second, numbers of two vectors. */
static inline vec translate_firsts(vec a, vec b)
{
    return (vec){a[0], b[0]};
}

static inline vec translate_seconds(vec a, vec b)
{
    return (vec){a[1], b[1]};
}

/* Transposes @p n expansions into lanes; unused lanes repeat the first expansion. */
static void translate_gather(int stride, const double *const *from, int n, lanes *to)
{
    for (int v = 0; v < VECTORS; v++) {
        const double *a = from[2 * v < n ? 2 * v : 0], *b = from[2 * v + 1 < n ? 2 * v + 1 : 0];

        for (int i = 0; i < stride; i += 2) {
            vec x = *(const translate_two *)(a + i), y = *(const translate_two *)(b + i);

            to[i].v[v]     = translate_firsts(x, y);
            to[i + 1].v[v] = translate_seconds(x, y);
        }
    }
}

/* Adds lanes to @p n expansions. */
static void translate_scatter(int stride, const lanes *from, double *const *to, int n)
{
    for (int k = 0; k < n; k++) {
        double *x = to[k];

        for (int i = 0; i < stride; i += 2) {
            vec a = from[i].v[k / 2], b = from[i + 1].v[k / 2];

            *(translate_two *)(x + i) += k % 2 ? translate_seconds(a, b) : translate_firsts(a, b);
        }
    }
}

static void translate_batch(const struct translator *t, const struct translate_step *step,
                            const double *const *from, double *const *to, int n)
{
    const struct fmm_kernels     *kernels = kernels_best();
    int                           order = t->expansion->order, stride = expansion_stride(order);
    _Alignas(sizeof(lanes)) lanes x[EXPANSION_MAX], y[EXPANSION_MAX];

    translate_gather(stride, from, n, x);
    kernels->turn(step->cosine, step->sine, order, 1, x);
    kernels->multiply(&step->rotation->forth, x, y);
    kernels->multiply(&step->shift->matrix, y, x);
    kernels->multiply(&step->rotation->back, x, y);
    kernels->turn(step->cosine, step->sine, order, -1, y);
    y[stride - 1] = stride > expansion_count(order) ? lanes_of(0) : y[stride - 1];
    translate_scatter(stride, y, to, n);
}

void translate_to_parent(const struct translator *t, int octant, const double *const *child,
                         double *const *parent, int n)
{
    translate_batch(t, &t->to_parent[octant], child, parent, n);
}

void translate_to_child(const struct translator *t, int octant, const double *const *parent,
                        double *const *child, int n)
{
    translate_batch(t, &t->to_child[octant], parent, child, n);
}

void translate_to_local(const struct translator *t, int direction, const double *const *from,
                        double *const *to, int n)
{
    translate_batch(t, &t->to_local[direction], from, to, n);
}
