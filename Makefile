# SPDX-License-Identifier: Apache-2.0
#
# make run      set up, build, and take the tour
# make test     set up, build, and run the tests: as users build it, with all assertions, under the
#               sanitizers; warnings are errors, also those of clang
# make bench    set up, build, and measure; FORMAT=table|json|csv, BENCH=messages or another name that
#               `skua bench --help` lists
# make soak     random faults for SECONDS=600, KILLED_JOBS=1000 jobs whose processes are killed, a job of 256
#               processes that all talk to all, random tests repeated more often than in `make test`, then
#               INPUTS=10000000 fuzzed interface files, from SEED=
# make build    all but the tests     make install   PREFIX=/usr/local DESTDIR=
# make docs     the reference: manual pages and, with doxygen, HTML, in build/release/docs/reference
# make package  a .deb and a .tar.gz, in build/release/packages
# make abi      record the binary interface, after an intended change of the public headers
# make setup    packages only          make clean     remove build/
# make format   format the code (clang-format)
#
# SETUP=no installs no package: missing packages are listed, and optional parts are left out.
#
# These are short names for commands of CMake (CMakePresets.json) and of scripts/.

BUILD  := build/release
JOBS   := $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
BENCH  ?= messages
FORMAT ?= table
SECONDS ?= 600
SEED   ?= $(shell date +%s)
INPUTS ?= 10000000
KILLED_JOBS ?= 1000

# With ccache, builds share objects that are compiled alike, and a second `make test` compiles only
# changed files.
ifneq ($(shell command -v ccache 2>/dev/null),)
export CMAKE_C_COMPILER_LAUNCHER ?= ccache
endif

MAKEFLAGS += --no-print-directory

.PHONY: all build run test bench soak soak-survive soak-jobs soak-connections soak-tests soak-skuac setup install package \
        clean check-clang check-release check-checked check-asan check-tsan docs format abi

.NOTPARALLEL:

all: build

setup:
	@scripts/setup.sh build

# CMake itself checks the other files that it reads.
$(BUILD)/configured: CMakeLists.txt CMakePresets.json
	@cmake --preset release
	@touch $@

build: setup $(BUILD)/configured
	@cmake --build --preset release --target programs --parallel $(JOBS)

run: build
	@$(BUILD)/tools/skua tour

bench: setup
	@scripts/setup.sh bench
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target programs --parallel $(JOBS) >&2
	@$(BUILD)/tools/skua bench $(BENCH) --format=$(FORMAT) --output=$(BUILD)

# CI runs this target.
test:
	@scripts/setup.sh test
	@scripts/check.sh -j $(JOBS) release checked asan tsan clang

# Builds a preset and runs its tests; those that cannot run on this machine are listed with their reasons.
check-release check-checked check-asan check-tsan: check-%:
	@scripts/check.sh -j $(JOBS) $*

# clang checks the files that were compiled with gcc.
check-clang: setup $(BUILD)/configured
	@cmake --build --preset release --parallel $(JOBS)
	@scripts/check-clang.sh $(BUILD) $(JOBS)

# Each part prints what it tested; the first failure ends the soak test.
soak: soak-jobs soak-survive soak-connections soak-tests soak-skuac

# The random tests of `make test`, repeated more often, and those between hosts over each driver.
soak-tests:
	@scripts/setup.sh test
	@cmake --preset release -B build/soak -DSKUA_LONG_TESTS=ON >/dev/null
	@cmake --build build/soak --parallel $(JOBS)
	@ctest --test-dir build/soak -L 'job|far' --output-on-failure --parallel $$(($(JOBS) + 2))

# Injects kills, stops, lost links, unrelated connections and memory limits into jobs that check all of
# their results.
soak-jobs: build
	@scripts/setup.sh test
	@cmake --build --preset release --parallel $(JOBS)
	@sh tests/saboteur.sh $(BUILD)/tools/skuarun $(BUILD)/tests $(SECONDS) $(SEED) \
	  $$(ls $(BUILD)/drivers | sed -nE 's/^skua-(tcp|ucx|ofi)\.so$$/\1/p')

# Kills processes and agents at random, in jobs with --survive.
soak-survive: build
	@cmake --build --preset release --parallel $(JOBS)
	@sh tests/survive.sh $(BUILD)/tools/skuarun $(BUILD)/tests/test_checkpoint $(KILLED_JOBS) $(SEED)
	@sh tests/killed.sh $(BUILD)/tools/skuarun $(BUILD)/tests/libkiller.so $(BUILD)/apps $(BUILD)/examples \
	  $(BUILD)/tests/test_checkpoint $$(($(KILLED_JOBS) / 10)) 15 $(SEED)

# 256 processes of 4 PEs that all talk to all start and end within 10 s, the exchange not counted.
soak-connections: build
	@cmake --build --preset release --parallel $(JOBS)
	@sh tests/connections.sh $(BUILD)/tools/skuarun $(BUILD)/tests/test_connections 256 4 10

# Runs the whole translator on inputs that a fuzzer generates.
soak-skuac: setup
	@scripts/setup.sh soak
	@INPUTS=$(INPUTS) SEED=$(SEED) scripts/soak-skuac.sh

# Formats the code by the rules of .clang-format.
format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

# Writes the symbol map and the list with which tests/abi.sh compares the headers and the library.
abi: $(BUILD)/configured
	@python3 scripts/abi.py map include $(BUILD)/include >$(BUILD)/abi.out
	@cp $(BUILD)/abi.out src/skua.map
	@python3 scripts/abi.py list include $(BUILD)/include >$(BUILD)/abi.out
	@cp $(BUILD)/abi.out tests/abi/skua.txt
	@git diff --stat -- src/skua.map tests/abi

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)
	@echo; echo "Skua is in $(PREFIX).  If your system does not search there:"; \
	  lib=$$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[^=]*=//p' $(BUILD)/CMakeCache.txt); \
	  echo "  export PATH=$(PREFIX)/bin:\$$PATH PKG_CONFIG_PATH=$(PREFIX)/$$lib/pkgconfig"

# Manual pages are part of every build; this target adds the HTML.
docs: setup
	@scripts/setup.sh docs
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target docs
	@echo "man -M $(BUILD)/docs/reference skua_send; HTML: $(BUILD)/docs/reference/html/index.html"

package: docs build
	@scripts/setup.sh package
	@cmake --preset release >/dev/null
	@cpack --config $(BUILD)/CPackConfig.cmake

clean:
	rm -rf build
