/* SPDX-License-Identifier: Apache-2.0 */
/* mesh_test.c - a route from every PE to every other has at most as many hops as the mesh
 * dimensions, for all numbers of PEs up to 130, also where the mesh has a gap. */
#include "objects/services/mesh.h"

#include <string.h>

#include "tests/tap.h"

#define PES_MAX 130

/* The coordinates of each PE of the mesh that is tested, and the hops of the routes that are known;
 * 0: unknown. */
static int           coord[PES_MAX][SKUA_MESH_DIMS];
static unsigned char hops[PES_MAX][PES_MAX];

#define NO_ROUTE 100

/* Returns the slot, on the PE at @p here, of the next hop of a route to the PE at @p there: a route
 * corrects the coordinates from the last to the first. */
static int mesh_test_slot(const skua_mesh *mesh, const int *here, const int *there)
{
    int slot = ski_mesh_slots(mesh);

    for (int k = mesh->dims - 1; k > 0; k--) {
        slot -= mesh->size[k];
        if (there[k] != here[k])
            return slot + there[k];
    }
    return there[0];
}

static int mesh_test_route(const skua_mesh *mesh, int from, int to)
{
    return mesh_test_slot(mesh, coord[from], coord[to]);
}

/* Returns the hops from one PE to another, NO_ROUTE or more if the route does not end. */
static int mesh_test_hops(const skua_mesh *mesh, int from, int to)
{
    int slot, next;

    if (from == to)
        return 0;
    if (hops[from][to])
        return hops[from][to];
    hops[from][to] = NO_ROUTE; /* while it is computed: a route that returns does not end */
    slot           = mesh_test_route(mesh, from, to);
    if (slot < 0 || slot >= ski_mesh_slots(mesh))
        return NO_ROUTE;
    next = ski_mesh_slot_pe(mesh, from, slot);
    if (next < 0 || next >= mesh->pes || (ski_mesh_slot_last(mesh, slot) && next != to))
        return NO_ROUTE;
    next = mesh_test_hops(mesh, next, to);
    if (next < NO_ROUTE)
        hops[from][to] = (unsigned char)(1 + next);
    return hops[from][to];
}

static int mesh_test_longest_route(const skua_mesh *mesh)
{
    int longest = 0;

    memset(hops, 0, sizeof hops);
    for (int from = 0; from < mesh->pes; from++)
        for (int to = 0; to < mesh->pes; to++) {
            int n   = mesh_test_hops(mesh, from, to);
            longest = n > longest ? n : longest;
        }
    return longest;
}

static bool mesh_test_itself_is_last(const skua_mesh *mesh)
{
    for (int pe = 0; pe < mesh->pes; pe++) {
        int slot = mesh_test_route(mesh, pe, pe);
        if (!ski_mesh_slot_last(mesh, slot) || ski_mesh_slot_pe(mesh, pe, slot) != pe)
            return false;
    }
    return true;
}

static bool mesh_test_coordinates_agree(const skua_mesh *mesh)
{
    for (int pe = 0; pe < mesh->pes; pe++) {
        skua_mesh_coord(mesh, pe, coord[pe]);
        if (skua_mesh_pe(mesh, coord[pe]) != pe)
            return false;
    }
    return true;
}

/* Returns whether streams compute the routes that the mesh has, on some of its PEs. */
static bool mesh_test_streams_agree(const skua_mesh *mesh)
{
    skua_stream_port port = {0};
    bool             same = true;

    for (int from = 0; from < mesh->pes; from += 1 + mesh->pes / 7) {
        ski_mesh_routes(mesh, from, port.dim);
        for (int to = 0; to < mesh->pes; to++)
            same = same && skua_stream_route(&port, (uint32_t)to) ==
                               (uint32_t)mesh_test_route(mesh, from, to);
    }
    return same;
}

static bool mesh_test_sound(const skua_mesh *mesh)
{
    return mesh_test_coordinates_agree(mesh) && mesh_test_streams_agree(mesh) &&
           mesh_test_itself_is_last(mesh) && mesh_test_longest_route(mesh) <= mesh->dims;
}

static void mesh_test_chosen(int dims, int row)
{
    int bad = 0;

    for (int pes = 1; pes <= PES_MAX; pes++) {
        skua_mesh mesh = ski_mesh_choose(pes, dims, row), same;

        if (dims == 0) { /* a mesh of 1 to 3 dimensions, which is tested as such */
            same = ski_mesh_choose(pes, mesh.dims, row);
            bad += memcmp(&mesh, &same, sizeof mesh) != 0;
        } else {
            bad += mesh.pes != pes || !mesh_test_sound(&mesh);
        }
    }
    OK(bad == 0, "1 to %d PEs in %d dimensions, rows of %d (%d wrong)", PES_MAX, dims, row, bad);
}

/* Every shape a user may ask for. */
static void mesh_test_given(void)
{
    int bad = 0, made = 0;

    for (int pes = 1; pes <= 40; pes++)
        for (int b = 1; b <= pes; b++)
            for (int c = 1; c <= pes; c++) {
                int       size[] = {0, b, c};
                skua_mesh mesh;
                if (!ski_mesh_of(pes, 3, size, &mesh))
                    continue;
                made++;
                bad += !mesh_test_sound(&mesh);
            }
    OK(bad == 0 && made > 1000, "%d meshes of given sizes (%d wrong)", made, bad);
}

static void mesh_test_refused(void)
{
    skua_mesh mesh;

    OK(!ski_mesh_of(10, 1, (int[3]){9}, &mesh), "too small");
    OK(!ski_mesh_of(10, 2, (int[3]){4, 5}, &mesh), "an empty row");
    OK(!ski_mesh_of(10, 2, (int[3]){2, -5}, &mesh), "a size below 1");
    OK(!ski_mesh_of(10, 3, (int[3]){1, 1 << 20, 1 << 20}, &mesh), "larger than any job");
    OK(ski_mesh_of(10, 2, (int[3]){3, 4}, &mesh), "a gap");
    OK(skua_mesh_pe(&mesh, (int[3]){2, 1}) == 9 && skua_mesh_pe(&mesh, (int[3]){2, 2}) == -1 &&
           skua_mesh_pe(&mesh, (int[3]){3, 0}) == -1 && skua_mesh_pe(&mesh, (int[3]){0, -1}) == -1,
       "no PE is in it, or outside");
}

static void mesh_test_sizes(void)
{
    skua_mesh mesh = ski_mesh_choose(4096, 0, 0);

    OK(mesh.dims == 3 && ski_mesh_slots(&mesh) == 48, "4096 PEs have 48 neighbours each");
    mesh = ski_mesh_choose(1000, 0, 0);
    OK(mesh.dims == 2 && ski_mesh_slots(&mesh) <= 64, "1000 PEs at most 64");
    mesh = ski_mesh_choose(512, 0, 16);
    OK(mesh.dims == 2 && mesh.size[1] == 16 && mesh.size[0] == 32, "a host is a row");
    mesh = ski_mesh_choose(65536, 0, 64);
    OK(mesh.dims == 3 && mesh.size[2] == 64 && ski_mesh_slots(&mesh) == 128, "also in a cube");
}

#define MESH_TEST_MAX (1 << 30)

/* Routes of more PEs than any job has, at the ends of rows. */
static void mesh_test_large(void)
{
    bool same = true;

    for (int row = 1; row < 70000; row += 1 + row / 3) {
        int              here[SKUA_MESH_DIMS], there[SKUA_MESH_DIMS];
        skua_stream_port port = {0};
        skua_mesh        mesh;

        if (!ski_mesh_of(MESH_TEST_MAX, 2, (int[3]){0, row}, &mesh))
            continue;
        ski_mesh_routes(&mesh, 3 % row, port.dim);
        skua_mesh_coord(&mesh, 3 % row, here);
        for (int i = 0, to = MESH_TEST_MAX - 1; i < 1000; i++, to -= i % 2 ? 1 : row - 1) {
            skua_mesh_coord(&mesh, to, there);
            same = same && skua_stream_route(&port, (uint32_t)to) ==
                               (uint32_t)mesh_test_slot(&mesh, here, there);
        }
    }
    OK(same, "routes of %d PEs", MESH_TEST_MAX);
}

int main(void)
{
    for (int dims = 0; dims <= SKUA_MESH_DIMS; dims++) {
        mesh_test_chosen(dims, 0);
        if (dims == 1)
            continue; /* which has no rows */
        mesh_test_chosen(dims, 2);
        mesh_test_chosen(dims, 7);
    }
    mesh_test_given();
    mesh_test_refused();
    mesh_test_sizes();
    mesh_test_large();
    return tap_end();
}
