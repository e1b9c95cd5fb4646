/* SPDX-License-Identifier: Apache-2.0 */
/* mesh.c - see mesh.h. */
#include "objects/services/mesh.h"

#include <stdint.h>

#include "base/assert.h"

#define MESH_LINE_MAX   32   /* more PEs than that form a square ... */
#define MESH_SQUARE_MAX 2048 /* ... or a cube                        */

/* ---- shapes ------------------------------------------------------------------------- */

static int mesh_divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* Returns the smallest n with n^power >= x. */
static int mesh_root_up(int x, int power)
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

    ski_assert(dims >= 1 && dims <= SKUA_MESH_DIMS && pes > 0);
    for (int k = dims - 1; k >= 0; k--) {
        made.block[k] = (int)block;
        made.size[k]  = k == 0 && size[0] == 0 ? mesh_divide_up(pes, (int)block) : size[k];
        block *= made.size[k];
        if (made.size[k] < 1 || (k > 0 && block > INT32_MAX / 2))
            return false;
    }
    if (block < pes || block - made.block[0] >= pes)
        return false;
    *mesh = made;
    return true;
}

static int mesh_dims_for(int pes, int row)
{
    if (pes <= MESH_LINE_MAX)
        return 1;
    if (row > 1)
        return mesh_divide_up(pes, row) <= 2 * MESH_LINE_MAX ? 2 : 3;
    return pes <= MESH_SQUARE_MAX ? 2 : 3;
}

skua_mesh ski_mesh_choose(int pes, int dims, int row)
{
    int       size[SKUA_MESH_DIMS] = {0};
    int       rest                 = pes; /* PEs that the dimensions before share */
    skua_mesh mesh                 = {0};

    row  = row < pes ? row : 0;
    dims = dims ? dims : mesh_dims_for(pes, row);
    for (int k = dims - 1; k > 0; k--) {
        size[k] = k == dims - 1 && row > 1 ? row : mesh_root_up(rest, k + 1);
        rest    = mesh_divide_up(rest, size[k]);
    }
    ski_mesh_of(pes, dims, size, &mesh);
    ski_assert(mesh.pes == pes && mesh.dims == dims);
    return mesh;
}

/* ---- coordinates -------------------------------------------------------------------- */

static int mesh_coordinate(const skua_mesh *mesh, int pe, int k)
{
    return pe / mesh->block[k] % mesh->size[k];
}

void skua_mesh_coord(const skua_mesh *mesh, int pe, int coord[SKUA_MESH_DIMS])
{
    for (int k = 0; k < mesh->dims; k++)
        coord[k] = mesh_coordinate(mesh, pe, k);
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

/* ---- routes ------------------------------------------------------------------------- */

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

    ski_assert(slot >= 0 && from >= 0 && from < mesh->pes);
    while (slot >= mesh->size[k])
        slot -= mesh->size[k++];
    pe = from + (int64_t)(slot - mesh_coordinate(mesh, from, k)) * mesh->block[k];
    if (pe >= mesh->pes && k > 0)
        pe -= mesh->block[k - 1];
    return (int)pe;
}

/* Computes the division by @p size: with 2^l >= size and m = 2^(32 + l) / size, rounded up, n * m
 * is less than n more than n * 2^(32 + l) / size.  The next integer is at least 1 / size above
 * n / size, and n / 2^(32 + l) < 1 / size, so the quotient is exact for n < 2^31. */
static void mesh_invert(uint32_t size, skua_stream_dim *dim)
{
    uint32_t log2 = 0;

    while (UINT64_C(1) << log2 < size)
        log2++;
    dim->size    = size;
    dim->shift   = 32 + log2;
    dim->inverse = ((UINT64_C(1) << dim->shift) + size - 1) / size;
}

void ski_mesh_routes(const skua_mesh *mesh, int from, skua_stream_dim dim[SKUA_MESH_DIMS - 1])
{
    int slot = ski_mesh_slots(mesh);

    for (int k = mesh->dims - 1, i = 0; i < SKUA_MESH_DIMS - 1; k--, i++) {
        dim[i] = (skua_stream_dim){0};
        if (k < 1)
            continue;
        slot -= mesh->size[k];
        mesh_invert((uint32_t)mesh->size[k], &dim[i]);
        dim[i].own  = (uint32_t)mesh_coordinate(mesh, from, k);
        dim[i].slot = (uint32_t)slot;
    }
}
