// SPDX-License-Identifier: Apache-2.0
//
// primes.cc - counts primes in C++: PE 0 sends each PE a range, and a reduction adds the counts.
//
// Three small templates give Skua's calls their C++ form: a message that frees itself, a handler that
// takes a value of any plain type, and a completion that is a lambda with captures.
#include <skua/skua.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <type_traits>
#include <utility>

namespace {

struct MessageFree {
    void operator()(skua_msg *msg) const { skua_msg_free(msg); }
};
using Message = std::unique_ptr<skua_msg, MessageFree>;

// Registers Fn as a handler of messages that hold a T.
template <typename T, void (*Fn)(const T &)> skua_handler handler(const char *name)
{
    static_assert(std::is_trivially_copyable_v<T>, "a message is copied byte by byte");
    return skua_handler_register(name, [](skua_msg *msg) {
        Message owner{msg};
        Fn(*static_cast<const T *>(skua_msg_data(msg)));
    });
}

template <typename T> void send(int pe, skua_handler to, const T &value)
{
    skua_send_copy(pe, to, &value, sizeof value);
}

// Returns a completion that calls fn once with the result, a T, on the calling PE.
template <typename T, typename F> skua_completion then(F fn)
{
    return skua_done_call(
        [](void *arg, const void *data, size_t) {
            std::unique_ptr<F> owner{static_cast<F *>(arg)};
            (*owner)(*static_cast<const T *>(data));
        },
        new F{std::move(fn)});
}

struct Range {
    std::int64_t first, last;
};

constexpr std::int64_t limit = 100000;

bool is_prime(std::int64_t n)
{
    for (std::int64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

void on_range(const Range &range)
{
    std::int64_t count = 0;

    for (std::int64_t n = range.first; n < range.last; n++)
        count += is_prime(n);
    if (skua_pe() != 0)
        return skua_reduce(0, SKUA_SUM, SKUA_INT64, &count, 1, skua_done_nothing());
    skua_reduce(0, SKUA_SUM, SKUA_INT64, &count, 1,
                then<std::int64_t>([pes = skua_pes()](std::int64_t primes) {
                    std::printf("%lld primes below %lld, counted by %d PEs\n",
                                static_cast<long long>(primes), static_cast<long long>(limit), pes);
                    skua_exit(0);
                }));
}

skua_handler range_handler;

void start(int, char **)
{
    if (skua_pe() != 0)
        return;
    for (int pe = 0; pe < skua_pes(); pe++)
        send(pe, range_handler, Range{limit * pe / skua_pes(), limit * (pe + 1) / skua_pes()});
}

} // namespace

int main(int argc, char **argv)
{
    range_handler = handler<Range, on_range>("range");
    return skua_main(argc, argv, start);
}
