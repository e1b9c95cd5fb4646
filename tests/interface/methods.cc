/* SPDX-License-Identifier: Apache-2.0 */
/* methods.cc - see methods.ci. */
#include "methods.ci.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

void Counter_on_count(Counter *self, span which, int last)
{
    std::vector<int> numbers;

    for (int i = which.from; i <= which.to; i++)
        numbers.push_back(i);
    for (int i = which.to + 1; i <= last; i++)
        numbers.push_back(i);
    int sum = 0;
    for (int n : numbers)
        sum += n;
    if (std::strcmp(Counter_name(Counter_self(self), 3), "three"))
        skua_abort("3 has another name");
    Main_counted(boss, sum);
}

const char *Counter_on_name(Counter *, int n)
{
    static const std::map<int, std::string> names = {{1, "one"}, {3, "three"}};

    return names.at(n).c_str();
}

static Words *words_of(const std::string &text)
{
    Words *words = Words_new(text.size());

    words->n = static_cast<int>(text.size());
    text.copy(words->text, text.size());
    return words;
}

/* The memory is zeroed, but not yet an object. */
void Bag_on_create(Bag *self, const char *word)
{
    new (self) Bag;
    self->words[word]++;
    Bag_add(Bag_self(self), words_of("ahoy"));
    Bag_add(Bag_self(self), words_of("ahoy"));
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
    Bag_report(Bag_self(self));
}

void Bag_on_destroy(Bag *self)
{
    self->~Bag();
}

void Bag_on_add(Bag *self, Words *words)
{
    self->words[std::string(words->text, static_cast<std::size_t>(words->n))]++;
    Words_free(words);
}

void Bag_on_pup(skua_pup *p, Bag *self)
{
    std::uint64_t count = self->words.size();

    if (skua_pup_unpacking(p))
        new (self) Bag;
    skua_pup_value(p, &count);
    auto word = self->words.begin();
    for (std::uint64_t i = 0; i < count; i++) {
        char text[16] = {0};
        long times    = 0;

        if (!skua_pup_unpacking(p)) {
            word->first.copy(text, sizeof text - 1);
            times = (word++)->second;
        }
        skua_pup_value(p, &text);
        skua_pup_value(p, &times);
        if (skua_pup_unpacking(p))
            self->words[text] = times;
    }
}

void Bag_on_report(Bag *self)
{
    long n = self->size();

    skua_contribute(self, SKUA_SUM, SKUA_INT64, &n, 1, Main_total_done(boss));
}
