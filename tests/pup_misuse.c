/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup_misuse.c - pup functions that do not process the same fields when they measure, pack and
 * unpack, one for each word; `right' is one that does.
 *
 * usage: pup_misuse WORD
 *
 * Element 3 of an array migrates once; the job ends with 0 if it arrives.
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

/* A member with its own pup function. */
struct point {
    int32_t x, y;
};

struct thing {
    int32_t      n, m;
    int64_t      wide;
    double      *u; /* array of n elements */
    char        *name;
    struct point at;
    int          fill;
};

static skua_class      classes[2]; /* packed, by pointer */
static skua_entry      go_entry[2];
static const char     *word;
static skua_collection all;

static bool is(const char *other)
{
    return strcmp(word, other) == 0;
}

/* Unpacks the fields in another order than they are packed. */
static void pup_swapped(skua_pup *p, struct thing *t, bool swap)
{
    if (swap)
        skua_pup_value(p, &t->m);
    skua_pup_value(p, &t->n);
    if (!swap)
        skua_pup_value(p, &t->m);
}

static void pup_point(skua_pup *p, struct point *at)
{
    skua_pup_value(p, &at->x);
    if (is("part") && skua_pup_unpacking(p))
        skua_pup_values(p, &at->x, 2);
    else
        skua_pup_value(p, &at->y);
}

static void pup_memory(skua_pup *p, struct thing *t)
{
    if (is("length") && skua_pup_unpacking(p))
        t->n++;
    if (is("array"))
        skua_pup_array(p, &t->u, skua_pup_unpacking(p) ? 0 : t->n, sizeof *t->u);
    else if (is("negative") && !skua_pup_sizing(p))
        skua_pup_memory(p, &t->u, (size_t)-8);
    else
        skua_pup_memory(p, &t->u, (size_t)t->n * sizeof *t->u);
}

static void pup_thing(skua_pup *p, void *self)
{
    struct thing *t = self;

    pup_swapped(p, t,
                (is("order") && skua_pup_unpacking(p)) ||
                    (is("measure-order") && skua_pup_sizing(p)));
    if (is("size") && skua_pup_unpacking(p))
        skua_pup_bytes(p, &t->wide, 4);
    else if (!(is("missing") && skua_pup_unpacking(p)))
        skua_pup_value(p, &t->wide);
    if (is("begin"))
        skua_pup_begin(p, "a part without end");
    pup_memory(p, t);
    skua_pup_string(p, &t->name);
    skua_pup_with(p, pup_point, &t->at);
    if ((is("extra") && skua_pup_unpacking(p)) || (is("measure-less") && skua_pup_packing(p)) ||
        (is("measure-more") && skua_pup_sizing(p)) || (is("less") && !skua_pup_unpacking(p)))
        skua_pup_value(p, &t->fill);
    if (is("end"))
        skua_pup_end(p);
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct thing *t = self;

    (void)data, (void)bytes;
    t->n    = 5;
    t->u    = calloc(5, sizeof *t->u);
    t->name = strdup("name");
}

static void destroy(void *self)
{
    struct thing *t = self;

    free(t->u);
    free(t->name);
}

static void on_go(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void moved(void *self)
{
    struct thing *t = self;

    skua_exit(t->n == 5 && t->u && t->name && strcmp(t->name, "name") == 0 ? 0 : 1);
}

static void begin(int argc, char **argv)
{
    int kind = is("memory");

    (void)argc, (void)argv;
    all = skua_array_create1(classes[kind], 10, NULL, 0);
    skua_invoke_copy(skua_element1(all, 3), go_entry[kind], NULL, 0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {.size      = sizeof def,
                          .name      = "thing",
                          .bytes     = sizeof(struct thing),
                          .construct = construct,
                          .destroy   = destroy,
                          .pup       = pup_thing,
                          .moved     = moved};

    word        = argc > 1 ? argv[1] : "right";
    classes[0]  = skua_class_register(&def);
    def.name    = "shared";
    def.flags   = SKUA_CLASS_BY_POINTER;
    classes[1]  = skua_class_register(&def);
    go_entry[0] = skua_method_register(classes[0], "go", on_go, 0);
    go_entry[1] = skua_method_register(classes[1], "go", on_go, 0);
    return skua_program(argc, argv, begin);
}
