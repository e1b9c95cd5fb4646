# SPDX-License-Identifier: Apache-2.0
#
# make run     set up, build, and take the tour
# make test    set up, build, and run the tests, also under the sanitizers
# make bench   set up, build, and measure; FORMAT=table|json|csv
#              BENCH=messages|onesided|network|channels|randomaccess|fft1d|objects
#                    pingpong|stencil3d|matmul3d|pairs|zerocopy|collectives
# make soak    trouble at random for SECONDS=600, then INPUTS=10000000 interface files, from SEED=
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
SECONDS ?= 600
SEED   ?= $(shell date +%s)
INPUTS ?= 10000000

MAKEFLAGS += --no-print-directory

.PHONY: all build run test bench soak soak-jobs soak-skuac setup install clean check-clang \
        check-asan check-tsan format

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

# Each part says what it tried; the first that fails ends it.
soak: soak-jobs soak-skuac

# Kills, stops, lost links, strangers and memory limits against jobs that check all they do.
soak-jobs: build
	@scripts/setup.sh test
	@sh tests/saboteur.sh $(BUILD)/tools/skuarun $(BUILD)/tests $(SECONDS) $(SEED) tcp ucx ofi

# Inputs that a fuzzer makes, through all of the translator.
soak-skuac: setup
	@scripts/setup.sh soak
	@INPUTS=$(INPUTS) SEED=$(SEED) scripts/soak-skuac.sh

# The style of the code, applied.
format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)
	@echo; echo "Skua is in $(PREFIX).  Where that is not where your system looks:"; \
	  echo "  export PATH=$(PREFIX)/bin:\$$PATH PKG_CONFIG_PATH=$(PREFIX)/lib/pkgconfig"

clean:
	rm -rf build
