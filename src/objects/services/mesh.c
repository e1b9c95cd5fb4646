/* SPDX-License-Identifier: Apache-2.0 */
/* mesh.c - see mesh.h. */
#include "objects/services/mesh.h"

#include <stdint.h>

#define LINE_MOST   32   /* more PEs than that form a square ... */
#define SQUARE_MOST 2048 /* ... or a cube                        */

/* ---- making ---------------------------------------------------------------------- */

static int up(int a, int b)
{
    return (a + b - 1) / b;
}

/* The smallest n with n^power >= x. */
static int root_up(int x, int power)
{
    int n = 1;

    for (;; n++) {
        int64_t product = 1;
        for (int i = 0; i < power; i++)
            product *= n;
        if (product >= x)
            return n;
    }
}

bool ski_mesh_of(int pes, int dims, const int size[SKUA_MESH_DIMS], skua_mesh *mesh)
{
    skua_mesh made  = {.pes = pes, .dims = dims};
    int64_t   block = 1;

    for (int k = dims - 1; k >= 0; k--) {
        made.block[k] = (int)block;
        made.size[k]  = k == 0 && size[0] == 0 ? up(pes, (int)block) : size[k];
        block *= made.size[k];
        if (made.size[k] < 1 || (k > 0 && block > INT32_MAX / 2))
            return false;
    }
    if (block < pes || block - made.block[0] >= pes)
        return false;
    *mesh = made;
    return true;
}

static int dims_for(int pes, int row)
{
    if (pes <= LINE_MOST)
        return 1;
    if (row > 1)
        return up(pes, row) <= 2 * LINE_MOST ? 2 : 3;
    return pes <= SQUARE_MOST ? 2 : 3;
}

skua_mesh ski_mesh_choose(int pes, int dims, int row)
{
    int       size[SKUA_MESH_DIMS] = {0};
    int       rest                 = pes; /* of PEs that one step in the next dimension spans */
    skua_mesh mesh                 = {0};

    row  = row < pes ? row : 0;
    dims = dims ? dims : dims_for(pes, row);
    for (int k = dims - 1; k > 0; k--) {
        size[k] = k == dims - 1 && row > 1 ? row : root_up(rest, k + 1);
        rest    = up(rest, size[k]);
    }
    ski_mesh_of(pes, dims, size, &mesh);
    return mesh;
}

/* ---- coordinates ------------------------------------------------------------------- */

static int coordinate(const skua_mesh *mesh, int pe, int k)
{
    return pe / mesh->block[k] % mesh->size[k];
}

void skua_mesh_coord(const skua_mesh *mesh, int pe, int coord[SKUA_MESH_DIMS])
{
    for (int k = 0; k < mesh->dims; k++)
        coord[k] = coordinate(mesh, pe, k);
}

int skua_mesh_pe(const skua_mesh *mesh, const int coord[SKUA_MESH_DIMS])
{
    int64_t pe = 0;

    for (int k = 0; k < mesh->dims; k++) {
        if (coord[k] < 0 || coord[k] >= mesh->size[k])
            return -1;
        pe += (int64_t)coord[k] * mesh->block[k];
    }
    return pe < mesh->pes ? (int)pe : -1;
}

/* ---- ways ------------------------------------------------------------------------- */

int ski_mesh_slots(const skua_mesh *mesh)
{
    int slots = 0;

    for (int k = 0; k < mesh->dims; k++)
        slots += mesh->size[k];
    return slots;
}

bool ski_mesh_slot_last(const skua_mesh *mesh, int slot)
{
    return slot < mesh->size[0];
}

int ski_mesh_slot_pe(const skua_mesh *mesh, int from, int slot)
{
    int     k = 0;
    int64_t pe;

    while (slot >= mesh->size[k])
        slot -= mesh->size[k++];
    pe = from + (int64_t)(slot - coordinate(mesh, from, k)) * mesh->block[k];
    if (pe >= mesh->pes && k > 0)
        pe -= mesh->block[k - 1];
    return (int)pe;
}

int ski_mesh_route(const skua_mesh *mesh, int from, int to)
{
    int slot = ski_mesh_slots(mesh);

    for (int k = mesh->dims - 1; k > 0; k--) {
        int c = coordinate(mesh, to, k);
        slot -= mesh->size[k];
        if (c != coordinate(mesh, from, k))
            return slot + c;
    }
    return coordinate(mesh, to, 0);
}
