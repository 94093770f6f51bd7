# Every target builds tools/cmd/dev into .tools/ (git-ignored) and lets it do the
# work; see tools/cmd/dev. Two targets need nothing but Go and make: demo and test.

# M=DIR, wherever it is taken, restricts a target to the module in that folder.
M          ?=
RACE       ?= 1
RUN        ?=
FUZZTIME   ?= 20s
BENCH      ?= .
BENCHCOUNT ?= 6
OLD        ?=
SEED       ?= 0
FRESH      ?= 0
VERSION    ?= v0.0.1-dryrun

DEV := .tools/dev

.DEFAULT_GOAL := help
.PHONY: help demo test check lint format cross fuzz bench cover long release-dry-run clean FORCE

help: ## list the targets
	@echo 'make TARGET [VARIABLE=VALUE ...]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: go ## run the main job, killed and resumed, offline
	@cd examples && go run ./research/demo

test: $(DEV) ## run all tests, with budgets; M=DIR one module, RUN=REGEXP, RACE=0, V=1
	@$(DEV) prereqs -race=$(RACE)
	@$(DEV) test -race=$(RACE) -run='$(RUN)' $(if $(V),-v) $(M)
	@$(if $(RUN)$(M),true,echo; echo 'The crash model and the planted bugs once more, all of them: without the race detector they are ten times as fast.')
	@$(if $(RUN)$(M),true,$(DEV) test -race=0 -run='^(TestCrashEveryOperation|TestTeeth|TestReaderTeeth|TestQuickMutants|TestMutants)$$' .)

check: lint test ## lint and test: what to run before a commit

lint: $(DEV) ## vet, staticcheck, gofumpt, go fix, go mod tidy, import rules; M=DIR
	@$(DEV) lint $(M)

format: $(DEV) ## run gofumpt and go mod tidy on everything; M=DIR
	@$(DEV) format $(M)

cross: $(DEV) ## compile all tests for linux, darwin, windows on amd64, arm64; M=DIR
	@$(DEV) cross $(M)

fuzz: $(DEV) ## run each fuzz target; FUZZTIME=20s, M=DIR
	@$(DEV) fuzz -time=$(FUZZTIME) $(M)

bench: $(DEV) ## benchmarks and their medians, bench/RESULTS.md; BENCHCOUNT=6, BENCH=REGEXP, OLD=FILE to compare
	@$(DEV) bench -count=$(BENCHCOUNT) -match='$(BENCH)' -old='$(OLD)'

cover: $(DEV) ## coverage of each module, source pages in .out/cover; M=DIR
	@$(DEV) cover $(M)

long: $(DEV) ## the long tests; goes on where it stopped; SEED=N, FRESH=1 forgets what passed, M=DIR
	@$(DEV) prereqs -race=0
	@$(DEV) long -seed=$(SEED) -fresh=$(FRESH) $(M)

release-dry-run: $(DEV) ## publish to a folder, build and install from it; VERSION=v0.0.1-dryrun
	@$(DEV) release-dry-run -version=$(VERSION)

clean: ## remove what the targets built and wrote
	rm -rf .tools .out

# The go command knows best whether dev is up to date, and finds out fast. It is
# built without cgo: a C compiler is among the things that dev installs.
$(DEV): go FORCE
	@cd tools && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o ../.tools/ ./cmd/dev

.PHONY: go
go:
	@command -v go >/dev/null || { echo 'Go 1.26 or newer is needed: https://go.dev/dl/' >&2; exit 1; }
