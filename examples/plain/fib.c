/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fib.c - a Fibonacci number by a tree of chares.  Each creates two others on PEs that the runtime
 * chooses, adds their answers, and deletes itself.
 *
 * An answer is delivered by a completion that is passed to the constructor: for the root it calls a
 * function, for all others it invokes an entry method of their parent.
 *
 * usage: fib [n] [threshold]
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>

struct fib_args { /* arguments of the constructor */
    int             n;
    skua_completion done;
};

struct fib_answer {
    int64_t value, objects; /* fib(n), and the number of chares that computed it */
};

struct fib_node {
    skua_completion   done;
    int               missing; /* number of answers that have not arrived */
    struct fib_answer sum;
};

static int        number = 27, threshold = 12; /* read-only */
static double     started;
static skua_class node_class;
static skua_entry answer_entry;

static int64_t fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void finish(struct fib_node *node)
{
    skua_complete(node->done, &node->sum, sizeof node->sum);
    skua_object_destroy(node);
}

static void construct(void *self, const void *data, size_t bytes)
{
    const struct fib_args *args = data;
    struct fib_node       *node = self;

    (void)bytes;
    node->done        = args->done;
    node->sum.objects = 1;
    if (args->n < threshold) {
        node->sum.value = fib(args->n);
        finish(node);
        return;
    }
    for (node->missing = 0; node->missing < 2; node->missing++) {
        struct fib_args child = {args->n - 1 - node->missing,
                                 skua_done_invoke(skua_ref_of(self), answer_entry)};

        skua_chare_create(node_class, SKUA_ANY_PE, &child, sizeof child);
    }
}

static void on_answer(void *self, const void *data, size_t bytes)
{
    const struct fib_answer *answer = data;
    struct fib_node         *node   = self;

    (void)bytes;
    node->sum.value += answer->value;
    node->sum.objects += answer->objects;
    if (--node->missing == 0)
        finish(node);
}

static void on_root_answer(void *arg, const void *data, size_t bytes)
{
    const struct fib_answer *answer  = data;
    double                   seconds = skua_time() - started;
    int64_t                  a = 0, b = 1;

    (void)arg, (void)bytes;
    for (int i = 0; i < number; i++) {
        int64_t next = a + b;

        a = b;
        b = next;
    }
    printf("fib(%d) = %lld by %lld objects on %d PEs in %.3f s\n", number, (long long)answer->value,
           (long long)answer->objects, skua_pes(), seconds);
    skua_exit(answer->value == a ? 0 : 1);
}

static void begin(int argc, char **argv) /* runs on PE 0 */
{
    struct fib_args root;

    if (argc > 1)
        number = atoi(argv[1]);
    if (argc > 2)
        threshold = atoi(argv[2]);
    if (argc > 3 || number < 1 || number > 90 || threshold < 2) {
        fprintf(stderr, "usage: fib [n] [threshold]   (n: 1 to 90, threshold: 2 or more)\n");
        skua_exit(2);
        return;
    }
    started = skua_time();
    root    = (struct fib_args){number, skua_done_call(on_root_answer, NULL)};
    skua_chare_create(node_class, 0, &root, sizeof root);
}

int main(int argc, char **argv)
{
    node_class   = skua_class_register(&(skua_class_def){
          .name = "node", .bytes = sizeof(struct fib_node), .construct = construct});
    answer_entry = skua_method_register(node_class, "answer", on_answer, 0);
    skua_readonly_register("number", &number, sizeof number);
    skua_readonly_register("threshold", &threshold, sizeof threshold);
    return skua_program(argc, argv, begin);
}
