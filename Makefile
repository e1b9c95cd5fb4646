# SPDX-License-Identifier: Apache-2.0
#
# make run     set up, build, and take the tour
# make test    set up, build, and run the tests, also under the sanitizers
# make bench   set up, build, and measure; FORMAT=table|json|csv
#              BENCH=messages|onesided|network|channels|randomaccess|fft1d|objects
#                    pingpong|stencil3d|matmul3d|pairs|zerocopy|collectives
# make build   build only             make install   PREFIX=/usr/local DESTDIR=
# make setup   packages only          make clean     remove build/
# make format  lay the code out (clang-format)
#
# CMake does the work (CMakePresets.json); this is the short way in.

BUILD  := build/release
JOBS   := $(shell nproc 2>/dev/null || echo 2)
TESTS  := $(shell expr $(JOBS) + 1) # at once: one of them waits more than it computes
PREFIX ?= /usr/local
BENCH  ?= messages
FORMAT ?= table

MAKEFLAGS += --no-print-directory

.PHONY: all build run test bench setup install clean check-clang check-asan check-tsan format

all: build

setup:
	@scripts/setup.sh build

build: setup
	@test -f $(BUILD)/CMakeCache.txt || cmake --preset release
	@cmake --build --preset release --parallel $(JOBS)

run: build
	@$(BUILD)/tools/skua tour

bench: setup
	@scripts/setup.sh bench
	@cmake --preset release >/dev/null
	@cmake --build --preset release --parallel $(JOBS) >&2
	@$(BUILD)/tools/skua bench $(BENCH) --format=$(FORMAT) --output=$(BUILD)

# What CI runs: warnings are errors, everything is tested as users build it,
# then once more under each sanitizer; clang, where it is installed, must agree.
test: setup
	@scripts/setup.sh test
	cmake --preset release -DSKUA_WERROR=ON
	cmake --build --preset release --parallel $(JOBS)
	ctest --preset release --parallel $(TESTS)
	$(MAKE) check-asan check-tsan check-clang

check-asan check-tsan: check-%:
	cmake --preset $* -DSKUA_WERROR=ON
	cmake --build --preset $* --parallel $(JOBS)
	ctest --preset $* --parallel $(TESTS)

# Its warnings do not depend on optimization, and nothing is run.
check-clang:
	@if command -v clang >/dev/null; then set -e -x; \
	  cmake -S . -B build/clang -DCMAKE_C_COMPILER=clang -DSKUA_WERROR=ON \
	    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O0 -DNDEBUG"; \
	  cmake --build build/clang --parallel $(JOBS); \
	else echo "clang is not installed: its warnings were not looked at"; fi

# The style of the code, applied.
format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build
