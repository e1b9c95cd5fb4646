/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heavy.c - an element for which the runtime has more data than a message of its migration can
 * state ends the job with an error; here it claims to keep messages of 5 GB.
 */
#include <skua/skua.h>

#include "objects/model/class.h"
#include "objects/model/lifecycle.h"
#include "tap.h"

static skua_class heavy_class;
static skua_entry go_entry;

static bool heavy_report(const struct ski_object *object, struct ski_text *text)
{
    (void)object, (void)text;
    return false;
}

static size_t heavy_bytes(const struct ski_object *object)
{
    (void)object;
    return (size_t)5 << 30;
}

static void heavy_pack(struct ski_object *object, void *to)
{
    (void)object, (void)to;
    skua_abort("it is packed");
}

static const struct ski_baggage heavy = {.bytes = heavy_bytes, .pack = heavy_pack};

static void on_go(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, 1 - skua_pe());
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() == 0)
        skua_invoke_copy(skua_element1(skua_array_create1(heavy_class, 1, NULL, 0), 0), go_entry,
                         NULL, 0);
}

int main(int argc, char **argv)
{
    static const char flow;

    heavy_class = skua_class_register(&(skua_class_def){
        .name = "Heavy", .bytes = 64, .pup = skua_pup_plain, .flags = SKUA_CLASS_BY_POINTER});
    go_entry    = skua_method_register(heavy_class, "go", on_go, 0);
    ski_class_set_flow(heavy_class, &flow, 0, heavy_report, &heavy);
    return skua_main(argc, argv, start);
}
