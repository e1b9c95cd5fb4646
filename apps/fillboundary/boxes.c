/* SPDX-License-Identifier: Apache-2.0 */
/* boxes.c - see boxes.h. */
#include "boxes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOXES_LINE   256 /* bytes of a line of a file, at most                  */
#define BOXES_ALIGN  16  /* pieces of a box are aligned to this number of cells */
#define BOXES_SPREAD 4   /* bins per box of an index, at most                   */

static void *boxes_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    if (!memory) {
        fprintf(stderr, "fillboundary: cannot allocate %zu bytes for boxes\n", count * bytes);
        abort();
    }
    return memory;
}

void boxes_free(struct box_list *list)
{
    free(list->box);
    free(list->line);
    *list = (struct box_list){0};
}

int64_t boxes_cells(const struct box_list *list)
{
    int64_t cells = 0;

    for (int i = 0; i < list->count; i++)
        cells += box_cells(&list->box[i]);
    return cells;
}

int boxes_side(const struct box_list *list)
{
    int side = 1;

    for (int i = 0; i < list->count; i++)
        for (int d = 0; d < 3; d++)
            if (box_length(&list->box[i], d) > side)
                side = box_length(&list->box[i], d);
    return side;
}

static struct box boxes_bounds(const struct box_list *list)
{
    struct box all = list->box[0];

    for (int i = 1; i < list->count; i++)
        for (int d = 0; d < 3; d++) {
            if (list->box[i].lo[d] < all.lo[d])
                all.lo[d] = list->box[i].lo[d];
            if (list->box[i].hi[d] > all.hi[d])
                all.hi[d] = list->box[i].hi[d];
        }
    return all;
}

/* ---- files -------------------------------------------------------------------------------- */

struct boxes_file {
    FILE       *from;
    const char *path;
    int         line;
    char        text[BOXES_LINE];
    char       *error;
};

static bool boxes_refuse(const struct boxes_file *file, int line, const char *why)
{
    snprintf(file->error, BOXES_ERROR_MAX, "%s:%d: %s", file->path, line, why);
    return false;
}

/* Reads the next line that is not empty. At the end of the file the text is empty. */
static bool boxes_next_line(struct boxes_file *file)
{
    while (fgets(file->text, sizeof file->text, file->from)) {
        file->line++;
        if (!strchr(file->text, '\n') && !feof(file->from))
            return boxes_refuse(file, file->line, "the line is too long for a box");
        if (file->text[strspn(file->text, " \t\r\n")])
            return true;
    }
    file->line++;
    file->text[0] = 0;
    return true;
}

static bool boxes_refuse_end(const struct boxes_file *file)
{
    return boxes_refuse(file, file->line, "the file ends before the list does");
}

/* Returns true if only white space follows. */
static bool boxes_line_ends(const char *text)
{
    return !text[strspn(text, " \t\r\n")];
}

static bool boxes_read_head(struct boxes_file *file, int *count)
{
    int used = 0;

    if (!boxes_next_line(file))
        return false;
    if (!file->text[0])
        return boxes_refuse_end(file);
    if (sscanf(file->text, " (%d %*d%n", count, &used) != 1 || !used ||
        !boxes_line_ends(file->text + used))
        return boxes_refuse(file, file->line, "expected \"(COUNT 0\"");
    if (*count < 1 || *count > BOXES_MAX)
        return boxes_refuse(file, file->line, "expected 1 to 4194304 boxes");
    return true;
}

static bool boxes_in_span(int at)
{
    return at >= -BOXES_SPAN && at <= BOXES_SPAN;
}

static bool boxes_read_box(struct boxes_file *file, struct box *b)
{
    int centred[3], used = 0;

    if (!boxes_next_line(file))
        return false;
    if (!file->text[0])
        return boxes_refuse_end(file);
    if (sscanf(file->text, " ((%d,%d,%d) (%d,%d,%d) (%d,%d,%d))%n", &b->lo[0], &b->lo[1], &b->lo[2],
               &b->hi[0], &b->hi[1], &b->hi[2], &centred[0], &centred[1], &centred[2],
               &used) != 9 ||
        !used || !boxes_line_ends(file->text + used))
        return boxes_refuse(file, file->line, "expected a box, \"((x,y,z) (x,y,z) (0,0,0))\"");
    for (int d = 0; d < 3; d++) {
        if (centred[d])
            return boxes_refuse(file, file->line, "boxes of nodes or faces are not supported");
        if (!boxes_in_span(b->lo[d]) || !boxes_in_span(b->hi[d]))
            return boxes_refuse(file, file->line, "a coordinate exceeds 32768");
        if (b->hi[d] < b->lo[d])
            return boxes_refuse(file, file->line, "the last cell is before the first");
    }
    return true;
}

/* Reads the end of the list, after which only empty lines may follow. */
static bool boxes_read_end(struct boxes_file *file)
{
    const char *at;

    if (!boxes_next_line(file))
        return false;
    if (!file->text[0])
        return true;
    at = file->text + strspn(file->text, " \t");
    if (*at != ')' || !boxes_line_ends(at + 1))
        return boxes_refuse(file, file->line, "expected \")\" after the last box");
    if (!boxes_next_line(file))
        return false;
    return !file->text[0] || boxes_refuse(file, file->line, "expected nothing after the list");
}

static bool boxes_read_all(struct boxes_file *file, struct box_list *list)
{
    int count;

    if (!boxes_read_head(file, &count))
        return false;
    list->box  = boxes_alloc((size_t)count, sizeof *list->box);
    list->line = boxes_alloc((size_t)count, sizeof *list->line);
    for (; list->count < count; list->count++) {
        if (!boxes_read_box(file, &list->box[list->count]))
            return false;
        list->line[list->count] = file->line;
    }
    return boxes_read_end(file);
}

struct boxes_overlap {
    int self, other;
};

static void boxes_note_overlap(void *arg, int found, const struct box *common)
{
    struct boxes_overlap *overlap = arg;

    (void)common;
    if (found < overlap->self && (overlap->other < 0 || found < overlap->other))
        overlap->other = found;
}

static bool boxes_check_overlap(const struct boxes_file *file, const struct box_list *list)
{
    struct box_index index;
    bool             apart = true;
    char             why[64];

    box_index_make(&index, list);
    for (int i = 0; i < list->count && apart; i++) {
        struct boxes_overlap overlap = {i, -1};

        box_index_visit(&index, &list->box[i], boxes_note_overlap, &overlap);
        apart = overlap.other < 0;
        if (!apart) {
            snprintf(why, sizeof why, "the box overlaps that of line %d",
                     list->line[overlap.other]);
            boxes_refuse(file, list->line[i], why);
        }
    }
    box_index_free(&index);
    return apart;
}

bool boxes_read(struct box_list *list, const char *path, char error[BOXES_ERROR_MAX])
{
    struct boxes_file file = {.from = fopen(path, "r"), .path = path, .error = error};
    bool              good;

    *list = (struct box_list){0};
    if (!file.from) {
        snprintf(error, BOXES_ERROR_MAX, "%s: cannot be read", path);
        return false;
    }
    good = boxes_read_all(&file, list) && boxes_check_overlap(&file, list);
    fclose(file.from);
    if (!good)
        boxes_free(list);
    return good;
}

/* ---- making lists ------------------------------------------------------------------------- */

struct boxes_cube {
    int at[3];
    int far; /* squared distance from the centre */
};

static int boxes_compare_cubes(const void *a, const void *b)
{
    const struct boxes_cube *x = a, *y = b;

    if (x->far != y->far)
        return x->far < y->far ? -1 : 1;
    return memcmp(x->at, y->at, sizeof x->at); /* ties are broken by position */
}

/* Returns the squared distance between the centre of a cube and the centre of a grid of @p width
 * cubes, in units of half a cube. */
static int boxes_distance(const int at[3], int width)
{
    int sum = 0;

    for (int d = 0; d < 3; d++)
        sum += (2 * at[d] + 1 - width) * (2 * at[d] + 1 - width);
    return sum;
}

void boxes_ball(struct box_list *list, int count, int side)
{
    struct boxes_cube *cube;
    int                width = 2, all;

    while (width * width * width < 2 * count)
        width += 2;
    all  = width * width * width;
    cube = boxes_alloc((size_t)all, sizeof *cube);
    for (int i = 0; i < all; i++) {
        cube[i]     = (struct boxes_cube){.at = {i % width, i / width % width, i / width / width}};
        cube[i].far = boxes_distance(cube[i].at, width);
    }
    qsort(cube, (size_t)all, sizeof *cube, boxes_compare_cubes);
    *list = (struct box_list){.box = boxes_alloc((size_t)count, sizeof *list->box), .count = count};
    for (int i = 0; i < count; i++)
        for (int d = 0; d < 3; d++) {
            list->box[i].lo[d] = cube[i].at[d] * side;
            list->box[i].hi[d] = cube[i].at[d] * side + side - 1;
        }
    free(cube);
}

bool boxes_refine(struct box_list *list, int ratio, char error[BOXES_ERROR_MAX])
{
    struct box all = boxes_bounds(list);

    for (int d = 0; d < 3; d++)
        if (box_length(&all, d) > BOXES_SPAN / ratio || abs(all.lo[d]) > BOXES_SPAN / ratio) {
            snprintf(error, BOXES_ERROR_MAX, "--refine=%d makes more than %d cells in a direction",
                     ratio, BOXES_SPAN);
            return false;
        }
    for (int i = 0; i < list->count; i++)
        for (int d = 0; d < 3; d++) {
            list->box[i].hi[d] = (list->box[i].hi[d] + 1) * ratio - 1;
            list->box[i].lo[d] *= ratio;
        }
    return true;
}

/* The division of a box in one direction into `pieces`, whose lengths are multiples of `unit`. */
struct boxes_cut {
    int lo, pieces, units, unit;
};

static struct boxes_cut boxes_cut(const struct box *b, int d, int most)
{
    struct boxes_cut cut    = {.lo = b->lo[d], .unit = BOXES_ALIGN};
    int              length = box_length(b, d);

    while (cut.unit > 1 && (b->lo[d] % cut.unit || length % cut.unit || most % cut.unit))
        cut.unit /= 2;
    cut.pieces = (length + most - 1) / most;
    cut.units  = length / cut.unit;
    return cut;
}

/* Returns the first cell of a piece. */
static int boxes_cut_at(const struct boxes_cut *cut, int piece)
{
    return cut->lo + (int)((int64_t)cut->units * piece / cut->pieces) * cut->unit;
}

static int64_t boxes_pieces(const struct box *b, int most)
{
    int64_t pieces = 1;

    for (int d = 0; d < 3; d++)
        pieces *= boxes_cut(b, d, most).pieces;
    return pieces;
}

/* Appends the pieces of a box. */
static void boxes_add_pieces(struct box_list *list, const struct box *b, int most)
{
    struct boxes_cut cut[3];
    int              n[3];

    for (int d = 0; d < 3; d++) {
        cut[d] = boxes_cut(b, d, most);
        n[d]   = cut[d].pieces;
    }
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        int         at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        struct box *piece = &list->box[list->count++];

        for (int d = 0; d < 3; d++) {
            piece->lo[d] = boxes_cut_at(&cut[d], at[d]);
            piece->hi[d] = boxes_cut_at(&cut[d], at[d] + 1) - 1;
        }
    }
}

bool boxes_chop(struct box_list *list, int most, char error[BOXES_ERROR_MAX])
{
    struct box_list chopped = {0};
    int64_t         count   = 0;

    for (int i = 0; i < list->count; i++)
        count += boxes_pieces(&list->box[i], most);
    if (count > BOXES_MAX) {
        snprintf(error, BOXES_ERROR_MAX, "--chop=%d makes more than %d boxes", most, BOXES_MAX);
        return false;
    }
    chopped.box = boxes_alloc((size_t)count, sizeof *chopped.box);
    for (int i = 0; i < list->count; i++)
        boxes_add_pieces(&chopped, &list->box[i], most);
    boxes_free(list);
    *list = chopped;
    return true;
}

int boxes_halvings(const struct box_list *list, int most)
{
    for (int i = 0; i < list->count; i++)
        for (int d = 0; d < 3; d++)
            while (list->box[i].lo[d] % (1 << most) || box_length(&list->box[i], d) % (1 << most))
                most--;
    return most;
}

void boxes_coarsen(struct box_list *list, const struct box_list *from, int times)
{
    *list = (struct box_list){.box   = boxes_alloc((size_t)from->count, sizeof *list->box),
                              .count = from->count};
    for (int i = 0; i < from->count; i++)
        for (int d = 0; d < 3; d++) {
            list->box[i].lo[d] = from->box[i].lo[d] / (1 << times);
            list->box[i].hi[d] =
                list->box[i].lo[d] + box_length(&from->box[i], d) / (1 << times) - 1;
        }
}

/* ---- finding boxes ------------------------------------------------------------------------ */

/* Returns the bin of a cell in a direction. Cells beyond the grid belong to the outermost bins. */
static int box_index_bin(const struct box_index *index, int d, int cell)
{
    int bin = cell < index->lo[d] ? 0 : (cell - index->lo[d]) / index->side;

    return bin < index->bins[d] ? bin : index->bins[d] - 1;
}

/* Stores the bins in which a box has cells, as a box of bins. */
static struct box box_index_bins(const struct box_index *index, const struct box *b)
{
    struct box bins;

    for (int d = 0; d < 3; d++) {
        bins.lo[d] = box_index_bin(index, d, b->lo[d]);
        bins.hi[d] = box_index_bin(index, d, b->hi[d]);
    }
    return bins;
}

/* Returns the number of the i-th bin of a box of bins. */
static int box_index_number(const struct box_index *index, const struct box *bins, int64_t i)
{
    int     x = box_length(bins, 0), y = box_length(bins, 1);
    int64_t at[3] = {bins->lo[0] + i % x, bins->lo[1] + i / x % y, bins->lo[2] + i / x / y};

    return (int)((at[2] * index->bins[1] + at[1]) * index->bins[0] + at[0]);
}

/* Chooses bins as large as the largest box, or larger where boxes are far apart. */
static int64_t box_index_choose(struct box_index *index)
{
    struct box all = boxes_bounds(index->list);
    int64_t    count;

    index->side = boxes_side(index->list);
    for (;; index->side *= 2) {
        count = 1;
        for (int d = 0; d < 3; d++) {
            index->lo[d]   = all.lo[d];
            index->bins[d] = (box_length(&all, d) + index->side - 1) / index->side;
            count *= index->bins[d];
        }
        if (count <= BOXES_SPREAD * (int64_t)index->list->count)
            return count;
    }
}

void box_index_make(struct box_index *index, const struct box_list *list)
{
    int64_t count;

    *index       = (struct box_index){.list = list};
    count        = box_index_choose(index);
    index->first = boxes_alloc((size_t)count + 1, sizeof *index->first);
    /* The first pass counts the members of each bin, the second stores them. */
    for (int pass = 0; pass < 2; pass++) {
        for (int b = list->count - 1; b >= 0; b--) {
            struct box bins = box_index_bins(index, &list->box[b]);

            for (int64_t i = 0; i < box_cells(&bins); i++) {
                int *first = &index->first[box_index_number(index, &bins, i)];

                if (pass == 0)
                    ++*first;
                else
                    index->member[--*first] = b;
            }
        }
        if (pass == 0) {
            for (int64_t i = 0; i < count; i++)
                index->first[i + 1] += index->first[i];
            index->member = boxes_alloc((size_t)index->first[count], sizeof *index->member);
        }
    }
}

/* A box may be a member of several bins; it is visited in that of the first common cell. */
void box_index_visit(const struct box_index *index, const struct box                  *box,
                     void (*fn)(void *arg, int found, const struct box *common), void *arg)
{
    struct box bins = box_index_bins(index, box), common, first;

    for (int64_t i = 0; i < box_cells(&bins); i++) {
        int bin = box_index_number(index, &bins, i);

        for (int m = index->first[bin]; m < index->first[bin + 1]; m++) {
            if (!box_intersect(box, &index->list->box[index->member[m]], &common))
                continue;
            first = box_index_bins(index, &common);
            if (box_index_number(index, &first, 0) == bin)
                fn(arg, index->member[m], &common);
        }
    }
}

static void box_index_note(void *arg, int found, const struct box *common)
{
    (void)common;
    *(int *)arg = found;
}

int box_index_find(const struct box_index *index, const int cell[3])
{
    struct box one   = {{cell[0], cell[1], cell[2]}, {cell[0], cell[1], cell[2]}};
    int        found = -1;

    box_index_visit(index, &one, box_index_note, &found);
    return found;
}

void box_index_free(struct box_index *index)
{
    free(index->first);
    free(index->member);
}
