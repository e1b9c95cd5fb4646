/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charm_objects.cc - the programs of bench/charm.c, written for Charm++.
 *
 * bench/charm.c describes the programs; both have the same parameters.  A thread of the main chare
 * controls them.
 *
 * usage: charm_objects [PROGRAM]
 */
#include "charm_common.h"

enum {
    BATCHES      = 5,
    CELLS        = 1000000,
    LOCAL_CALLS  = 1000000,
    FIB          = 23,
    FIB_LARGE    = 27,
    FUTURES      = 20,
    FUTURES_LEAF = 6
};

struct board {
    int      rows, depth;          /* rows of the board; the row up to which seeds are created */
    int      row;                  /* the row of the next queen                                */
    uint32_t columns, left, right; /* columns and diagonals that are attacked                  */
};
PUPbytes(board)

#include "charm_objects.decl.h"

    static CProxy_Main control;
static CProxy_Tally tallies;

class Value : public CMessage_Value
{
  public:
    long value;

    explicit Value(long v) : value(v)
    {
    }
};

/* ---- queens -------------------------------------------------------------------------- */

/* Returns the board with a queen on the column of @p bit. */
static board board_place(const board &b, uint32_t bit)
{
    return {b.rows, b.depth, b.row + 1, b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1};
}

static uint32_t board_free(const board &b)
{
    return ((UINT32_C(1) << b.rows) - 1) & ~(b.columns | b.left | b.right);
}

static long board_solve(const board &b)
{
    long solutions = 0;

    if (b.row == b.rows)
        return 1;
    for (uint32_t free = board_free(b); free; free &= free - 1)
        solutions += board_solve(board_place(b, free & -free));
    return solutions;
}

class Tally : public CBase_Tally
{
    long solutions = 0;

  public:
    Tally()
    {
    }

    __attribute__((noinline)) void add(long n)
    {
        solutions += n;
    }

    void collect()
    {
        contribute(sizeof solutions, &solutions, CkReduction::sum_long,
                   CkCallback(CkReductionTarget(Main, finish), control));
        solutions = 0;
    }
};

class Board : public CBase_Board
{
  public:
    explicit Board(board b)
    {
        Tally *tally = tallies.ckLocalBranch();

        for (uint32_t free = board_free(b); free; free &= free - 1) {
            board next = board_place(b, free & -free);

            if (next.row < b.depth)
                CProxy_Board::ckNew(next);
            else
                tally->add(board_solve(next));
        }
        delete this;
    }
};

/* ---- fib ------------------------------------------------------------------------------- */

static long fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

class Fib : public CBase_Fib
{
    bool       is_root;
    CProxy_Fib parent;
    int        missing = 0;
    long       sum;

    void finish()
    {
        if (is_root)
            control.finish(sum);
        else
            parent.answer(sum);
        delete this;
    }

  public:
    Fib(int n, bool root, CProxy_Fib p) : is_root(root), parent(p), sum(n < 2 ? n : 0)
    {
        for (int i = 1; n >= 2 && i <= 2; i++, missing++)
            CProxy_Fib::ckNew(n - i, false, thisProxy);
        if (missing == 0)
            finish();
    }

    void answer(long value)
    {
        sum += value;
        if (--missing == 0)
            finish();
    }
};

class Waiter : public CBase_Waiter
{
  public:
    Waiter()
    {
    }

    void calc(int n, CkFuture done)
    {
        CkFuture future[2];
        long     sum = n < FUTURES_LEAF ? fib(n) : 0;

        for (int i = 0; n >= FUTURES_LEAF && i < 2; i++) {
            future[i] = CkCreateFuture();
            CProxy_Waiter(CProxy_Waiter::ckNew()).calc(n - 1 - i, future[i]);
        }
        for (int i = 0; n >= FUTURES_LEAF && i < 2; i++) {
            Value *msg = static_cast<Value *>(CkWaitFuture(future[i]));

            sum += msg->value;
            delete msg;
            CkReleaseFuture(future[i]);
        }
        CkSendToFuture(done, new Value(sum));
        delete this;
    }
};

/* ---- a large array --------------------------------------------------------------------- */

class Cell : public CBase_Cell
{
    long visits = 0;

  public:
    Cell()
    {
    }
    explicit Cell(CkMigrateMessage *)
    {
    }

    void walk()
    {
        visits++;
        if (thisIndex + 1 == CELLS)
            control.finish(0);
        else
            thisProxy[thisIndex + 1].walk();
    }
};

/* ---- main ---------------------------------------------------------------------------- */

class Main : public CBase_Main
{
    std::string only;
    Outcome     outcome;

    bool is_wanted(const char *program) const
    {
        return only.empty() || only == program;
    }

    void measure_queens(const char *name, int rows, int depth, long solutions)
    {
        double best = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            CProxy_Board::ckNew(board{rows, depth, 0, 0, 0, 0});
            CkWaitQD();
            keep_best(&best, start);
            tallies.collect();
            outcome.expect(solutions);
        }
        report(name, "ms", best * 1e3);
    }

    void measure_fib(const char *name, int n)
    {
        double best = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            long   right = fib(n);
            double start = CkWallTimer();

            CProxy_Fib::ckNew(n, true, CProxy_Fib());
            outcome.expect(right);
            keep_best(&best, start);
        }
        report(name, "ms", best * 1e3);
    }

    void measure_futures()
    {
        double best = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double   start  = CkWallTimer();
            CkFuture future = CkCreateFuture();

            CProxy_Waiter(CProxy_Waiter::ckNew()).calc(FUTURES, future);

            Value *msg = static_cast<Value *>(CkWaitFuture(future));

            keep_best(&best, start);
            if (msg->value != fib(FUTURES))
                CkAbort("the result of a program is wrong");
            delete msg;
            CkReleaseFuture(future);
        }
        report("futures", "ms", best * 1e3);
    }

    void measure_array()
    {
        double create = 0, walk = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double      start = CkWallTimer();
            CProxy_Cell cells = CProxy_Cell::ckNew(CELLS);

            CkWaitQD();
            keep_best(&create, start);
            start = CkWallTimer();
            cells[0].walk();
            outcome.expect(0);
            keep_best(&walk, start);
            cells.ckDestroy();
            CkWaitQD();
        }
        report("create", "ms", create * 1e3);
        report("walk", "ns", walk * 1e9 / CELLS);
    }

    void measure_local()
    {
        double best = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            for (int i = 0; i < LOCAL_CALLS; i++)
                tallies.ckLocalBranch()->add(i & 1);
            keep_best(&best, start);
        }
        report("local", "ns", best * 1e9 / LOCAL_CALLS);
    }

  public:
    explicit Main(CkArgMsg *args) : only(args->argc > 1 ? args->argv[1] : "")
    {
        delete args;
        control = thisProxy;
        tallies = CProxy_Tally::ckNew();
        thisProxy.run();
    }

    void run()
    {
        CkWaitQD();
        if (is_wanted("queens")) {
            measure_queens("queens-13-3", 13, 3, 73712);
            measure_queens("queens-14-4", 14, 4, 365596);
        }
        if (is_wanted("fib")) {
            measure_fib("fib", FIB);
            measure_fib("fib-large", FIB_LARGE);
        }
        if (is_wanted("futures"))
            measure_futures();
        if (is_wanted("array"))
            measure_array();
        if (is_wanted("local"))
            measure_local();
        CkExit();
    }

    void finish(long value)
    {
        outcome.set(value);
    }
};

#include "charm_objects.def.h"
