/* SPDX-License-Identifier: Apache-2.0 */
/* barneshut.h - the chares Piece and Domain of barneshut.ci. */
#ifndef BARNESHUT_H
#define BARNESHUT_H

#include <skua/skua.h>
#include <stdint.h>

#include "check.h"
#include "forces.h"
#include "options.h"
#include "plummer.h"

/** Priorities of messages: requests and replies, then remote walks, then all others, then forces,
 * in the order of Pieces. */
enum { PRIORITY_BRANCH = -20, PRIORITY_WALK = -10, PRIORITY_COMPUTE = 10 };

/** A cell of the decomposition: the bodies whose keys agree with `key` in the first `depth`
 *  bits. */
struct cell {
    uint64_t key;
    int64_t  depth, bodies;
};

/** The cells that contain bodies. */
struct cells {
    struct cell *at; /* sorted by key */
    int64_t      count, room;
};

/** The root of the tree of a cell. */
struct cell_root {
    int64_t     cell;
    struct node node;
};

/** Seconds that PEs have spent, and the number of messages of the cache: sums over PEs. */
struct domain_times {
    double decompose, build, forces; /* elapsed time of each phase, on each PE */
    double busy;                     /* time spent in computation */
    double requests, merged;         /* merged: requests that joined one in flight */
};

#define DOMAIN_TIMES (int)(sizeof(struct domain_times) / sizeof(double))

struct Piece {
    struct body  *body;
    struct field *field;
    int64_t       bodies, room; /* room: number of bodies that `body` can hold */
    int64_t       expected;     /* number of bodies in the cells of this Piece */
    int64_t       step;
    int64_t       interactions; /* number of interactions in this step */
    struct tree   tree;         /* rebuilt after a migration, not packed */
    int32_t       missing;      /* number of requested nodes that have not arrived */
    int32_t       next;         /* the node at which the computation of forces continues */
    bool          sorted;
};

/** A Piece that waits for the children of a node, which the bodies of its node `target` open. */
struct cache_wait {
    struct Piece *piece;
    int32_t       target;
    int64_t       next; /* the next wait for the same node; -1: none */
};

struct cache_request {
    struct node *node;
    int64_t      wait; /* index of the first wait for this node */
};

struct Domain {
    struct tree_rule rule;
    struct cells     cells;
    int64_t          active; /* number of cells with too many bodies */
    struct node     *top;    /* the top of the tree; the root is first */
    int64_t          top_count;

    struct cache_request *request;
    int64_t               requests, requests_room;
    struct cache_wait    *wait;
    int64_t               waits, waits_room;
    struct Branch       **branch; /* received replies, whose nodes are in use */
    int64_t               branches, branches_room;

    struct domain_times times; /* times since step 1 */
    double              mark;  /* time at which the current phase began */
    int64_t             step;
};

/** Returns the Domain of the calling PE. */
Domain *domain_here(void);

/** Returns a good number of Pieces for this job, which keeps it when it is restarted. */
int64_t choose_pieces(void);

/** Returns the number of Pieces. */
int64_t pieces_of_job(void);

/** Returns the Piece of a cell. */
int64_t piece_of_cell(const Domain *domain, int64_t cell);

/** Returns the first cell of a Piece or, if the Piece has none, of the next Piece that has one. */
int64_t piece_first_cell(const Domain *domain, int64_t piece);

/** Returns zeroed memory for @p count elements of @p bytes.  Ends the job if there is not enough
 *  memory. */
void *allocate(int64_t count, size_t bytes);

/** Returns @p memory, enlarged to hold at least @p count elements of @p bytes, and updates @p room.
 *  Ends the job if there is not enough memory. */
void *grow(void *memory, int64_t count, int64_t *room, size_t bytes);

/* Main */
void add_step(Main *main, struct body_sums sums, int64_t step);
void report(const Main *main);
void keep_samples(Main *main, int count, const struct check_sample *sample);
void compare_samples(Main *main, const double *direct);

/* piece.c */

/** Chooses recursive bisection of the positions of Pieces, unless SKUA_BALANCE is set. */
void choose_strategy(void);

void contribute_means(Piece *piece);
void advance(Piece *piece);
bool is_balance_due(const Piece *piece);
void contribute_bounds(Piece *piece);
void sort_bodies(Piece *piece, const struct cube *cube);
void send_bodies(Piece *piece);
void receive_bodies(Piece *piece, const Bodies *bodies);
void build_tree(Piece *piece);
void start_compute(Piece *piece);
void end_step(Piece *piece);

/* domain.c */

/** Returns the cell that contains a key, or the last one before it. */
int64_t cell_of_key(const Domain *domain, uint64_t key);

void begin_cells(Domain *domain, struct bounds bounds);
void count_bodies(Domain *domain);
void divide_cells(Domain *domain, const int64_t *count);
void end_cells(Domain *domain);

/* cache.c */

/** Determines which remote nodes the bodies of a Piece open, and requests them. */
void cache_walk(Domain *domain, Piece *piece);

/** Drops all remote nodes. */
void cache_clear(Domain *domain);

#endif
