/* SPDX-License-Identifier: Apache-2.0 */
/* methods.h - an object that is a class of C++. */
#ifndef METHODS_H
#define METHODS_H

#include <cstdio>
#include <map>
#include <string>

struct Bag {
    std::map<std::string, long> words;

    long size() const
    {
        long sum = 0;

        for (const auto &word : words)
            sum += word.second;
        return sum;
    }
};

#endif
