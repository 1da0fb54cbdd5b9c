# agentsim: the only build file. `make help` lists the goals.
#
# Sources are found by folder: a new .c file in an existing room is compiled and linked without an edit here.
#   room                                   becomes
#   shared/**            (but cli, jail)   libshared.a, linked by every program
#   shared/cli           main.c            agentsim
#   shared/python/jail                     agentsim-pyparse   (embeds CPython)
#   fcgi, fcgi/handlers                    agentsim-fcgi
#   supervisor, supervisor/relay           agentsim-supervisor
#   supervisor/launcher                    agentsim-launcher
#   supervisor/holder, sandbox, egress     agentsim-holder
#   supervisor/keeper                      agentsim-keeper
#   supervisor/sandbox/pid1                agentsim-pid1      (static)
#   shared/forget                          agentsim-forget.so (preloaded into nginx); replace.c also in agentsim-fcgi
#   tests/unit/test_X.c                    one cmocka program each, linked with all rooms but their main.c
#   tests/support/preload/X.c              X.so, for tests that change what a program sees of the machine
# Variants: B is the build folder, SAN=address builds with ASan and UBSan (OPT=-O0: in half the time), CC chooses the compiler.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

B ?= build
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX ?= /opt/agentsim
JOBS ?= $(shell nproc)
VERSION := 0.1.0

WARN := -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wvla -Wwrite-strings -Wpointer-arith -Wcast-qual -Wconversion -Wno-sign-conversion -Wundef \
	-Wimplicit-fallthrough $(if $(CI),-Werror)
HARDEN := -O2 -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE
HARDEN_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed
ifeq ($(SAN),address)
HARDEN := $(or $(OPT),-O1) -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -fPIE
HARDEN_LD := -pie -fsanitize=address,undefined -Wl,--as-needed
endif
ifeq ($(SAN),fuzzer)
HARDEN := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fPIE
HARDEN_LD := -pie -fsanitize=fuzzer,address,undefined -Wl,--as-needed
endif
CPPFLAGS := -I. -D_GNU_SOURCE -DAGENTSIM_VERSION='"$(VERSION)"' -DAGENTSIM_PREFIX='"$(PREFIX)"'
CFLAGS := -std=gnu17 -g $(WARN) $(HARDEN)
LIBS := -lfcgi -lcjson -lyaml -luuid -lwebsockets -lev -lwslay -lseccomp -lcap -larchive -lcurl -lcrypto -lutf8proc \
	-lunistring -lxml2 -lm
PYTHON_CONFIG := /usr/bin/python3-config

# ---- rooms ------------------------------------------------------------------------------------------------------
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
FORGET_SRC := $(wildcard shared/forget/*.c)
SHARED_SRC := $(filter-out shared/cli/% shared/python/jail/% shared/forget/replace.c shared/forget/place.c,$(wildcard shared/*/*.c))
CLI_SRC := $(wildcard shared/cli/*.c)
JAIL_SRC := $(wildcard shared/python/jail/*.c)
FCGI_SRC := $(wildcard fcgi/*.c fcgi/handlers/*.c)
SUPERVISOR_SRC := $(wildcard supervisor/*.c supervisor/relay/*.c)
LAUNCHER_SRC := $(wildcard supervisor/launcher/*.c)
HOLDER_SRC := $(wildcard supervisor/holder/*.c supervisor/sandbox/*.c supervisor/egress/*.c)
KEEPER_SRC := $(wildcard supervisor/keeper/*.c)
PID1_SRC := $(wildcard supervisor/sandbox/pid1/*.c)
ROOMS_SRC := $(SHARED_SRC) $(CLI_SRC) $(FCGI_SRC) $(SUPERVISOR_SRC) $(LAUNCHER_SRC) $(HOLDER_SRC) $(KEEPER_SRC)
ALL_SRC := $(ROOMS_SRC) $(JAIL_SRC) $(PID1_SRC) $(FORGET_SRC)

PROGRAMS := $(B)/bin/agentsim $(B)/bin/agentsim-fcgi $(B)/bin/agentsim-supervisor $(B)/bin/agentsim-launcher \
	$(B)/bin/agentsim-holder $(B)/bin/agentsim-keeper $(B)/bin/agentsim-pid1 $(B)/bin/agentsim-pyparse \
	$(B)/bin/agentsim-forget.so
LIBSHARED := $(B)/libshared.a

TEST_SRC := $(wildcard tests/unit/test_*.c)
TESTS := $(patsubst tests/unit/%.c,$(B)/test/%,$(TEST_SRC))
SUPPORT_SRC := $(wildcard tests/support/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/bin/%,$(FUZZ_SRC))
REPLAYS := $(patsubst tests/fuzz/fuzz_%.c,$(B)/seeds/%,$(FUZZ_SRC))
NO_MAIN := $(filter-out %/main.o,$(call obj,$(filter-out $(SHARED_SRC),$(ROOMS_SRC))))
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
# Behind what writes files: a compiler does not always say that the disk is full.
why = || { docker/install/room.sh $(@D); exit 1; }

# ---- goals ------------------------------------------------------------------------------------------------------
.PHONY: help
help: ## list the goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

.PHONY: up down
up: ## install, build and start everything on 127.0.0.1:8080
	@docker/install/room.sh
	@docker/install/packages.sh build run
	@docker/install/runtime.sh
	@$(MAKE) --no-print-directory -j$(JOBS) build
	@echo '== programs: ready'
	@$(MAKE) --no-print-directory install
	@docker/install/up.sh

down: ## stop what `make up` started
	@docker/install/down.sh

.PHONY: build
build: $(PROGRAMS) ## build the programs into build/bin
	@:

$(B)/bin/agentsim: $(call obj,$(CLI_SRC)) $(LIBSHARED)
# What it frees is overwritten; a sanitizer brings a heap of its own, which does that too.
$(B)/bin/agentsim-fcgi: $(call obj,$(FCGI_SRC)) $(if $(SAN),,$(call obj,shared/forget/replace.c)) $(LIBSHARED)
$(B)/bin/agentsim-supervisor: $(call obj,$(SUPERVISOR_SRC)) $(LIBSHARED)
$(B)/bin/agentsim-launcher: $(call obj,$(LAUNCHER_SRC)) $(LIBSHARED)
$(B)/bin/agentsim-holder: $(call obj,$(HOLDER_SRC)) $(LIBSHARED)
$(B)/bin/agentsim-keeper: $(call obj,$(KEEPER_SRC)) $(LIBSHARED)
$(filter-out %-pid1 %-pyparse %.so,$(PROGRAMS)):
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) $(CFLAGS) $(HARDEN_LD) -o $@ $^ $(LIBS) $(why)

# No libc start-up files that need a loader: this program runs as PID 1 where nothing else is mounted yet.
$(B)/bin/agentsim-pid1: $(PID1_SRC)
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) $(CPPFLAGS) -std=gnu17 $(WARN) -O2 -static -o $@ $(PID1_SRC) $(why)

# Never with a sanitizer: nginx has none.
$(B)/bin/agentsim-forget.so: $(FORGET_SRC) shared/forget/forget.h
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) $(CPPFLAGS) -std=gnu17 -g $(WARN) -O2 -fPIC -fno-builtin -shared -Wl,-z,relro,-z,now -o $@ $(FORGET_SRC) $(why)

$(B)/bin/agentsim-pyparse: $(JAIL_SRC) $(LIBSHARED)
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(patsubst -I%,-isystem %,$(shell $(PYTHON_CONFIG) --includes)) $(HARDEN_LD) -o $@ $^ \
		$(shell $(PYTHON_CONFIG) --ldflags --embed) -lseccomp $(why)

$(LIBSHARED): $(call obj,$(SHARED_SRC))
	@rm -f $@
	@ar rcsP $@ $^ $(why)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  cc    $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $< $(why)

$(B)/obj/fcgi/handlers/openapi.o: docs/openapi.json
%/shared/cli/show_html.o: CPPFLAGS += -isystem /usr/include/libxml2

-include $(patsubst %.o,%.d,$(call obj,$(ALL_SRC) $(TEST_SRC) $(SUPPORT_SRC) $(FUZZ_SRC)))

.PHONY: install
install: build ## put programs, console, nginx configuration below PREFIX (/opt/agentsim)
	@docker/install/install.sh $(B) $(PREFIX)

.PHONY: test test-unit test-integration test-security test-faults test-dropin test-image test-browser test-fixtures test-compiler test-buml test-seeds soak
test: ## install, build and run every test
	@docker/install/room.sh
	@docker/install/packages.sh build run test
	@docker/install/runtime.sh
	@docker/install/testenv.sh
	@tests/run.sh all

test-unit: ## unit tests (cmocka)
	@tests/run.sh unit
test-seeds: ## every seed of the fuzzers once, with sanitizers
	@tests/run.sh seeds
test-integration: ## the whole chain with the real runtime (root)
	@tests/run.sh integration
test-security: ## attempts to escape from a session (root)
	@tests/run.sh security
test-faults: ## processes killed, sockets cut, nothing left to use: the short form (root)
	@tests/run.sh faults
soak: ## the same for hours: thousands of cuts, kills and sessions (root; FAULT_SEED=n repeats a run)
	@tests/run.sh soak
test-browser: ## the console in headless Chromium (root)
	@tests/run.sh browser
test-image: ## the steps of docker/Dockerfile in bare Debian roots, then a conversation (root, minutes)
	@tests/image.sh
test-dropin: ## the reference's own backend drives the service (root)
	@tests/run.sh dropin
test-fixtures: ## compiler fixtures
	@tests/run.sh fixtures
test-compiler: ## random and hostile diagrams, also against the reference generator
	@tests/run.sh compiler

test-buml: ## B-UML texts: executed and read by the reference
	@tests/run.sh buml

.PHONY: unit-programs
unit-programs: $(TESTS)

# Tests start it: order only, so that a new jail links no test again.
$(TESTS): | $(B)/bin/agentsim-pyparse $(B)/bin/agentsim

$(TESTS): $(B)/test/%: $(B)/obj/tests/unit/%.o $(call obj,$(SUPPORT_SRC)) $(B)/librooms.a $(LIBSHARED)
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) $(CFLAGS) $(HARDEN_LD) $(WRAP) -o $@ $< $(call obj,$(SUPPORT_SRC)) $(B)/librooms.a $(LIBSHARED) $(LIBS) -lcmocka $(why)

$(B)/librooms.a: $(NO_MAIN)
	@rm -f $@
	@ar rcsP $@ $^ $(why)

# Loaded into programs under test by the loader.
$(B)/test/%.so: tests/support/preload/%.c
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -fPIC -shared -o $@ $< $(why)

.PHONY: asan
asan: ## all unit and integration tests with AddressSanitizer and UBSan
	@tests/run.sh asan

.PHONY: asan-unit
asan-unit: ## unit tests with sanitizers
	@tests/run.sh asan-unit

.PHONY: fuzz
fuzz: ## run every fuzzer for FUZZ_SECONDS (60) each
	@tests/run.sh fuzz

.PHONY: fuzzers
fuzzers: $(FUZZERS)
build/fuzz/bin/%: tests/fuzz/%.c $(B)/librooms.a $(LIBSHARED)
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(HARDEN_LD) -o $@ $< $(B)/librooms.a $(LIBSHARED) $(LIBS) $(why)

.PHONY: replays
replays: $(REPLAYS)
$(REPLAYS): $(B)/seeds/%: $(B)/obj/tests/fuzz/fuzz_%.o $(B)/obj/tests/fuzz/replay.o $(B)/librooms.a $(LIBSHARED)
	@mkdir -p $(@D)
	@echo "  link  $@"
	@$(CC) $(CFLAGS) $(HARDEN_LD) -o $@ $^ $(LIBS) $(why)

.PHONY: bench
bench: build ## figures beside the reference in one run; BENCH="compile sessions relay ends sockets escapes load"
	@tests/bench/run.sh $(BENCH)

.PHONY: lint format
lint: ## banned functions, formatting, clang-tidy, long functions, shell
	@tests/lint.sh
format: ## rewrite C sources in the house format
	@clang-format --style=file:docs/clang-format -i $$(git ls-files '*.c' '*.h')

.PHONY: docs
docs: build ## regenerate docs/configuration.md from the table
	@$(B)/bin/agentsim config --markdown > docs/configuration.md

.PHONY: clean
clean: ## remove build output
	rm -rf build
