/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charm_arrays.cc - the programs of bench/charm_arrays.c, written for Charm++.
 *
 * bench/charm_arrays.c describes the programs; both have the same parameters.  A thread of the main
 * chare controls them.
 *
 * usage: charm_arrays [PROGRAM]
 */
#include <cmath>

#include "charm_common.h"
#include "ckmulticast.h"

enum {
    BATCHES     = 20,
    ROUNDS      = 100,
    LARGEST     = 100000,
    FORWARDED   = 1000,
    GRID        = 16,
    SIDE        = 8,
    BLOCKS      = GRID * GRID,
    STEPS       = 10,
    WORKERS     = 1000,
    MOVERS      = 1000,
    MOVED_BYTES = 4096,
    MESSAGES    = 10000,
    TASKS       = 500000
};

#include "charm_arrays.decl.h"

static CProxy_Main    control;
static CProxy_Counter counters;
static char           payload[LARGEST];

/* ---- two elements ------------------------------------------------------------------------ */

class Forwarded : public CMessage_Forwarded
{
  public:
    char *data;
};

class Pair : public CBase_Pair
{
    CProxyElement_Pair partner;
    int                trips = 0; /* that are left, in element 0 */

    /* Returns whether the message that has arrived is the last one. */
    bool is_done()
    {
        if (trips == 0 || --trips > 0) /* element 1 counts none */
            return false;
        control.finish(0);
        return true;
    }

  public:
    Pair() : partner(thisProxy[1 - thisIndex])
    {
    }
    explicit Pair(CkMigrateMessage *)
    {
    }

    void serve(int n, int bytes, bool sends_on)
    {
        trips = n;
        if (sends_on)
            partner.forward(new (bytes) Forwarded);
        else
            partner.ping(bytes, payload);
    }

    void ping(int bytes, char *)
    {
        if (!is_done())
            partner.ping(bytes, payload);
    }

    void forward(Forwarded *msg)
    {
        if (is_done())
            delete msg;
        else
            partner.forward(msg);
    }
};

/* ---- jacobi -------------------------------------------------------------------------------- */

class Edge : public CMessage_Edge
{
  public:
    int    step, side; /* the side of the receiver: above, below, left, right */
    double cell[SIDE];
};

/* A block with a border of cells of its neighbours.  A neighbour is at most one step ahead, so that
 * edges of two steps are kept. */
class Block : public CBase_Block
{
    CProxyElement_Block neighbour[4];
    int    step = 0, last = 0;  /* the current step; the first one that is not to be made */
    int    arrived[2] = {0, 0}; /* edges of even and odd steps */
    double edges[2][4][SIDE];
    double cell[SIDE + 2][SIDE + 2];

    void send_edges()
    {
        for (int side = 0; side < 4; side++) {
            Edge *msg = new Edge;

            msg->step = step;
            msg->side = side ^ 1; /* the opposite one */
            for (int i = 0; i < SIDE; i++)
                msg->cell[i] = side < 2 ? cell[side == 0 ? 1 : SIDE][i + 1]
                                        : cell[i + 1][side == 2 ? 1 : SIDE];
            neighbour[side].edge(msg);
        }
    }

    /* Makes a step with the edges that have arrived. */
    void compute()
    {
        const double(*edge)[SIDE] = edges[step & 1];
        double next[SIDE][SIDE];

        for (int i = 0; i < SIDE; i++) {
            cell[0][i + 1]        = edge[0][i];
            cell[SIDE + 1][i + 1] = edge[1][i];
            cell[i + 1][0]        = edge[2][i];
            cell[i + 1][SIDE + 1] = edge[3][i];
        }
        for (int i = 1; i <= SIDE; i++)
            for (int j = 1; j <= SIDE; j++)
                next[i - 1][j - 1] = 0.2 * (cell[i][j] + cell[i - 1][j] + cell[i + 1][j] +
                                            cell[i][j - 1] + cell[i][j + 1]);
        for (int i = 0; i < SIDE; i++)
            memcpy(&cell[i + 1][1], next[i], sizeof next[i]);
    }

    void finish()
    {
        double sum = 0;

        for (int i = 1; i <= SIDE; i++)
            for (int j = 1; j <= SIDE; j++)
                sum += cell[i][j];
        contribute(sizeof sum, &sum, CkReduction::sum_double,
                   CkCallback(CkReductionTarget(Main, finish_cells), control));
    }

    /* Makes the steps whose edges have arrived. */
    void advance()
    {
        while (step < last && arrived[step & 1] == 4) {
            compute();
            arrived[step++ & 1] = 0;
            if (step < last)
                send_edges();
            else
                finish();
        }
    }

  public:
    Block()
    {
        int x = thisIndex.y, y = thisIndex.x;

        neighbour[0] = thisProxy((y + GRID - 1) % GRID, x);
        neighbour[1] = thisProxy((y + 1) % GRID, x);
        neighbour[2] = thisProxy(y, (x + GRID - 1) % GRID);
        neighbour[3] = thisProxy(y, (x + 1) % GRID);
        for (int i = 1; i <= SIDE; i++)
            for (int j = 1; j <= SIDE; j++)
                cell[i][j] = y * GRID + x;
    }
    explicit Block(CkMigrateMessage *)
    {
    }

    void begin()
    {
        last += STEPS;
        send_edges();
        advance();
    }

    void edge(Edge *msg)
    {
        memcpy(edges[msg->step & 1][msg->side], msg->cell, sizeof msg->cell);
        arrived[msg->step & 1]++;
        delete msg;
        advance();
    }
};

/* ---- broadcasts, multicasts and reductions ------------------------------------------------- */

class Multicast : public CkMcastBaseMsg, public CMessage_Multicast
{
};

class Worker : public CBase_Worker
{
    CkSectionInfo section;

  public:
    Worker()
    {
    }
    explicit Worker(CkMigrateMessage *)
    {
    }

    void round()
    {
        long one = 1;

        contribute(sizeof one, &one, CkReduction::sum_long,
                   CkCallback(CkReductionTarget(Main, finish), control));
    }

    void member(Multicast *msg)
    {
        long       one = 1;
        CkCallback done(CkReductionTarget(Main, finish), control);

        CkGetSectionInfo(section, msg);
        CProxySection_Worker::contribute(sizeof one, &one, CkReduction::sum_long, section, done);
        delete msg;
    }
};

/* ---- migration ------------------------------------------------------------------------------- */

class Mover : public CBase_Mover
{
    char data[MOVED_BYTES];

  public:
    Mover()
    {
        memset(data, 0, sizeof data);
    }
    explicit Mover(CkMigrateMessage *)
    {
    }

    void pup(PUP::er &p) override
    {
        PUParray(p, data, MOVED_BYTES);
    }

    void move()
    {
        migrateMe((CkMyPe() + 1) % CkNumPes());
    }

    void ckJustMigrated() override
    {
        CBase_Mover::ckJustMigrated();
        contribute(CkCallback(CkReductionTarget(Main, finish_nothing), control));
    }
};

class Owner : public CBase_Owner
{
    char *data = nullptr;

  public:
    Owner() : data(static_cast<char *>(calloc(1, MOVED_BYTES)))
    {
    }
    explicit Owner(CkMigrateMessage *)
    {
    }
    ~Owner() override
    {
        free(data);
    }

    void pup(PUP::er &p) override
    {
        if (p.isUnpacking())
            data = static_cast<char *>(malloc(MOVED_BYTES));
        PUParray(p, data, MOVED_BYTES);
    }

    void move()
    {
        migrateMe((CkMyPe() + 1) % CkNumPes());
    }

    void ckJustMigrated() override
    {
        CBase_Owner::ckJustMigrated();
        contribute(CkCallback(CkReductionTarget(Main, finish_nothing), control));
    }
};

/* ---- priorities ------------------------------------------------------------------------------ */

class Listener : public CBase_Listener
{
    int heard = 0, latest = 0; /* messages, and the priority of the latest one */

  public:
    Listener()
    {
    }
    explicit Listener(CkMigrateMessage *)
    {
    }

    /* Element 0 sends all messages to element 1. */
    void send()
    {
        CProxyElement_Listener listener = thisProxy[1];
        uint32_t               draw     = 1;

        for (int i = 0; i < MESSAGES; i++) {
            CkEntryOptions options;
            int            priority;

            draw     = draw * 1664525 + 1013904223;
            priority = static_cast<int>(draw >> 16);
            options.setPriority(static_cast<prio_t>(priority));
            listener.listen(priority, &options);
        }
    }

    /* Checks the order on one PE: there all messages are in the queue before one of them runs. */
    void listen(int priority)
    {
        if (CkNumPes() == 1 && heard > 0 && priority < latest)
            CkAbort("a message has overtaken one whose priority is smaller");
        latest = priority;
        if (++heard < MESSAGES)
            return;
        heard = 0;
        control.finish(0);
    }
};

/* ---- tasks ----------------------------------------------------------------------------------- */

/* The tasks of a PE that have run. */
class Counter : public CBase_Counter
{
    long tasks = 0;

  public:
    Counter()
    {
    }

    void add()
    {
        tasks++;
    }

    void count()
    {
        contribute(sizeof tasks, &tasks, CkReduction::sum_long,
                   CkCallback(CkReductionTarget(Main, finish), control));
        tasks = 0;
    }
};

class Task : public CBase_Task
{
  public:
    Task()
    {
        counters.ckLocalBranch()->add();
        delete this;
    }
};

class Branch : public CBase_Branch
{
  public:
    Branch(int first, int last)
    {
        while (first < last) {
            int middle = (first + last + 1) / 2;

            CProxy_Branch::ckNew(middle, last);
            last = middle - 1;
        }
        counters.ckLocalBranch()->add();
        delete this;
    }
};

/* ---- main ------------------------------------------------------------------------------------ */

class Main : public CBase_Main
{
    std::string only;
    Outcome     outcome;

    bool is_wanted(const char *program) const
    {
        return only.empty() || only == program;
    }

    static int trips_of(int bytes)
    {
        return bytes <= 1000 ? 1000 : 100;
    }

    void measure_trips(CProxy_Pair pairs, const char *name, int bytes, bool forward)
    {
        int    trips = trips_of(bytes);
        double best  = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            pairs[0].serve(trips, bytes, forward);
            outcome.expect(0);
            keep_best(&best, start);
        }
        report(name, "ns", best * 1e9 / (2 * trips));
    }

    void measure_pingpong()
    {
        CProxy_Pair pairs = CProxy_Pair::ckNew(2);

        for (int bytes : {8, 100, 1000, 10000, int{LARGEST}})
            measure_trips(pairs, ("pingpong-" + std::to_string(bytes)).c_str(), bytes, false);
        measure_trips(pairs, "forward", FORWARDED, true);
        pairs.ckDestroy();
    }

    void measure_jacobi()
    {
        CProxy_Block grid = CProxy_Block::ckNew(GRID, GRID);
        double       best = 0;

        CkWaitQD();
        for (int batch = 0; batch < 10 * BATCHES; batch++) {
            double start = CkWallTimer();

            grid.begin();
            outcome.expect(0);
            keep_best(&best, start);
        }
        report("jacobi", "ns", best * 1e9 / (STEPS * BLOCKS));
        grid.ckDestroy();
    }

    void measure_rounds(CProxy_Worker workers)
    {
        double best = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            for (int round = 0; round < ROUNDS; round++) {
                workers.round();
                outcome.expect(WORKERS);
            }
            keep_best(&best, start);
        }
        report("rounds", "us", best * 1e6 / ROUNDS);
    }

    void measure_sections(CProxy_Worker workers)
    {
        CProxySection_Worker section = CProxySection_Worker::ckNew(workers, 0, WORKERS - 1, 2);
        double               best    = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            for (int round = 0; round < ROUNDS; round++) {
                section.member(new Multicast);
                outcome.expect(WORKERS / 2);
            }
            keep_best(&best, start);
        }
        report("sections", "us", best * 1e6 / ROUNDS);
    }

    template <class Movers> void measure_moves(const char *name)
    {
        Movers movers = Movers::ckNew(MOVERS);
        double best   = 0;

        for (int batch = 0; batch < 2 * BATCHES; batch++) {
            double start = CkWallTimer();

            movers.move();
            outcome.expect(0);
            keep_best(&best, start);
        }
        report(name, "ns", best * 1e9 / MOVERS);
        movers.ckDestroy();
    }

    void measure_priorities()
    {
        CProxy_Listener listeners = CProxy_Listener::ckNew(2);
        double          best      = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            listeners[0].send();
            outcome.expect(0);
            keep_best(&best, start);
        }
        report("priorities", "ns", best * 1e9 / MESSAGES);
        listeners.ckDestroy();
    }

    void measure_quiescence()
    {
        double best = 0;

        for (int batch = 0; batch < BATCHES; batch++) {
            double start = CkWallTimer();

            for (int round = 0; round < ROUNDS; round++)
                CkWaitQD();
            keep_best(&best, start);
        }
        report("quiescence", "us", best * 1e6 / ROUNDS);
    }

    /* Creates all tasks from this PE, or a tree of them. */
    void measure_tasks(const char *name, bool tree)
    {
        double best = 0;

        for (int batch = 0; batch < 5; batch++) {
            double start = CkWallTimer();

            if (tree)
                CProxy_Branch::ckNew(0, TASKS - 1);
            for (int i = 0; !tree && i < TASKS; i++)
                CProxy_Task::ckNew();
            CkWaitQD();
            keep_best(&best, start);
            counters.count();
            outcome.expect(TASKS);
        }
        report(name, "ms", best * 1e3);
    }

  public:
    explicit Main(CkArgMsg *args) : only(args->argc > 1 ? args->argv[1] : "")
    {
        delete args;
        control  = thisProxy;
        counters = CProxy_Counter::ckNew();
        thisProxy.run();
    }

    void run()
    {
        CProxy_Worker workers = CProxy_Worker::ckNew(WORKERS);

        CkWaitQD();
        if (is_wanted("pingpong"))
            measure_pingpong();
        if (is_wanted("jacobi"))
            measure_jacobi();
        if (is_wanted("rounds"))
            measure_rounds(workers);
        if (is_wanted("sections"))
            measure_sections(workers);
        if (is_wanted("moves") && CkNumPes() > 1) {
            measure_moves<CProxy_Mover>("moves");
            measure_moves<CProxy_Owner>("moves-owned");
        }
        if (is_wanted("priorities"))
            measure_priorities();
        if (is_wanted("quiescence"))
            measure_quiescence();
        if (is_wanted("spawn"))
            measure_tasks("spawn", false);
        if (is_wanted("spawn-tree"))
            measure_tasks("spawn-tree", true);
        CkExit();
    }

    void finish(long value)
    {
        outcome.set(value);
    }

    void finish_nothing()
    {
        outcome.set(0);
    }

    /* Checks the sum of all cells, which the steps do not change, but for rounding. */
    void finish_cells(double sum)
    {
        double expected = BLOCKS / 2.0 * (BLOCKS - 1) * SIDE * SIDE;

        if (std::fabs(sum / expected - 1) > 1e-9)
            CkAbort("the sum of the cells is wrong");
        outcome.set(0);
    }
};

#include "charm_arrays.def.h"
