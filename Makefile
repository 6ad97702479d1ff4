# The developer's front door. CI runs the same targets (.ci/plan), and once a night those of .ci/nightly.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/pawl-dev/pawl/internal/app.Version=$(VERSION)

# Suites that are too slow for `check` have a build tag, named here so that lint reads their files too, and a target of
# their own, which .ci/plan or .ci/nightly names.
TAGS := e2e,crashtest,bench,wire,sectest,npx,cheats,fleet

# More flags for every test run, e.g. make unit TESTFLAGS='-count=1 -run TestAppend'.
TESTFLAGS ?=
GOTEST := eval "$$(dev/services env)" && go run ./dev/gotest $(TESTFLAGS)

# One setting for tests, lint and builds, so that each package is compiled once. The race detector needs cgo.
export CGO_ENABLED := 0
RACE := CGO_ENABLED=1

# Programs under the race detector otherwise wait for a second before they exit.
export GORACE := atexit_sleep_ms=0

TOOLS := $(or $(PAWL_DEV_CACHE),$(HOME)/.cache/pawl-dev)/bin

GOLANGCI_VERSION := v2.14.0
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)

# The language servers that the tests talk to. typescript-language-server does not work with TypeScript 7.
GOPLS_VERSION := v0.23.0
TSLS_VERSION := 5.3.0
TYPESCRIPT_VERSION := 5.9.3
GOPLS := $(TOOLS)/gopls-$(GOPLS_VERSION)
TSLS := $(TOOLS)/typescript-language-server-$(TSLS_VERSION)-$(TYPESCRIPT_VERSION)
export PAWL_TEST_LSP_PATH := $(GOPLS):$(TSLS)/node_modules/.bin

# The MCP servers that the tests talk to: the reference servers of the protocol.
MCP_VERSION := 2026.8.31
MCP := $(TOOLS)/mcp-servers-$(MCP_VERSION)
export PAWL_TEST_MCP_DIR := $(MCP)/node_modules

# The packages that generate, check and test the TypeScript client, by its lock file.
CLIENT_TS_LOCK := clients/typescript/package-lock.json
CLIENT_TS := $(TOOLS)/client-ts-$(shell cksum $(CLIENT_TS_LOCK) | cut -d ' ' -f 1)

KUSTOMIZE_VERSION := v5.8.1
KUSTOMIZE := $(TOOLS)/kustomize-$(KUSTOMIZE_VERSION)

WORKFLOWCHECK_VERSION := v0.6.0
WORKFLOWCHECK := $(TOOLS)/workflowcheck-$(WORKFLOWCHECK_VERSION)

GOVULNCHECK_VERSION := v1.2.0

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

## Build

.PHONY: build fleet-build clean
build: ## build bin/pawl, one static binary
	go build -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/pawl ./cmd/pawl

fleet-build: ## build bin/pawl-fleet, which runs and operates a fleet
	go build -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/pawl-fleet ./cmd/pawl-fleet

clean: ## remove build output
	rm -rf bin dist

## Tools and services

.PHONY: tools lsp-path mcp-servers services temporal fleet-services
tools: $(GOLANGCI) $(GOPLS) $(TSLS) $(MCP) $(CLIENT_TS) $(KUSTOMIZE) $(WORKFLOWCHECK) ## install the linter and the programs that tests use

# Tools are installed into a temporary directory and renamed, so that an interrupted installation leaves nothing.
install = mkdir -p $(TOOLS) && dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT
NPM_FLAGS := --ignore-scripts --no-audit --no-fund --loglevel=error

$(GOLANGCI):
	$(install) && GOBIN=$$dir go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && mv "$$dir/golangci-lint" $@

$(GOPLS):
	$(install) && GOBIN=$$dir/new go install golang.org/x/tools/gopls@$(GOPLS_VERSION) && mv "$$dir/new" $@

$(KUSTOMIZE):
	$(install) && GOBIN=$$dir go install sigs.k8s.io/kustomize/kustomize/v5@$(KUSTOMIZE_VERSION) && mv "$$dir/kustomize" $@

$(WORKFLOWCHECK):
	$(install) && GOBIN=$$dir go install go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION) && mv "$$dir/workflowcheck" $@

$(TSLS):
	$(install) && npm install --prefix "$$dir/new" $(NPM_FLAGS) \
		typescript-language-server@$(TSLS_VERSION) typescript@$(TYPESCRIPT_VERSION) >/dev/null && mv "$$dir/new" $@

$(MCP):
	$(install) && npm install --prefix "$$dir/new" $(NPM_FLAGS) @modelcontextprotocol/server-everything@$(MCP_VERSION) \
		@modelcontextprotocol/server-filesystem@$(MCP_VERSION) @modelcontextprotocol/server-memory@$(MCP_VERSION) >/dev/null && mv "$$dir/new" $@

$(CLIENT_TS):
	$(install) && mkdir "$$dir/new" && cp clients/typescript/package.json $(CLIENT_TS_LOCK) "$$dir/new" && \
		npm ci --prefix "$$dir/new" $(NPM_FLAGS) >/dev/null && mv "$$dir/new" $@

lsp-path: $(GOPLS) $(TSLS) ## print where the language servers for the tests are
	@echo $(PAWL_TEST_LSP_PATH)

mcp-servers: $(MCP) ## print where the MCP servers for the tests are
	@echo $(PAWL_TEST_MCP_DIR)

services: ## start PostgreSQL and NATS for the tests (dev/services help)
	dev/services up postgres nats

temporal: ## build the Temporal server that the fleet tests use, once per version: 8 minutes
	dev/services install temporal

fleet-services: temporal ## start PostgreSQL, NATS and Temporal
	dev/services up

## Check

.PHONY: check fmt fmt-check lint unit flaky hooks generate generate-check
check: fmt-check lint unit ## run before every commit: format, lint, fast tests with Go's test cache

fmt: $(GOLANGCI) ## format the Go files
	$(GOLANGCI) fmt

fmt-check: $(GOLANGCI) ## show what fmt would change
	$(GOLANGCI) fmt --diff

lint: $(GOLANGCI) ## run golangci-lint, go vet included, with all build tags
	$(GOLANGCI) run --build-tags $(TAGS) ./...
	go mod tidy -diff
	go -C oracle mod tidy -diff # it follows our go.mod

unit: services $(GOPLS) $(TSLS) $(MCP) ## run the tests without a build tag
	$(GOTEST) ./...

hooks: ## install the pre-commit hook, which checks the format of staged files and vets their packages
	hook=$$(git rev-parse --git-path hooks)/pre-commit && \
	if [[ -e $$hook ]] && ! grep -q dev/pre-commit "$$hook"; then echo "$$hook exists; add 'exec dev/pre-commit' to it" >&2; exit 1; fi && \
	mkdir -p "$$(dirname "$$hook")" && printf '#!/bin/sh\nexec dev/pre-commit\n' >"$$hook" && chmod +x "$$hook"

generate: $(CLIENT_TS) ## regenerate all generated files: API descriptions, JSON schemas, model catalog, lexers, tables of the guide, TypeScript client
	dev/generate
	NODE_MODULES=$(CLIENT_TS)/node_modules dev/client-ts generate

generate-check: ## check that generated files are up to date
	dev/generate check

flaky: services ## run the tests in dist/ci/flaky.txt 200 times under load, or TESTS='PACKAGE TEST [TAGS]'
	dev/flaky $(TESTS)

## Tests that CI runs

.PHONY: test race e2e edits tui cheats escape corpus as-user wire oracle crash fleet workflowcheck deploy-lint client-ts
test: unit race e2e tui escape corpus wire oracle crash ## run all tests that need no root

# Where Go packages are.
SOURCES := client cmd fleet internal

# Packages that start goroutines or lock mutexes. With -short, property tests run fewer cases: `unit` runs them all.
RACE_PACKAGES = $$(grep -rlE '^\s+go (func|[a-zA-Z_.]+\()|\.Go\(|sync\.(Mutex|RWMutex)' --include='*.go' --exclude='*_test.go' --exclude-dir='*test' --exclude-dir=testdata $(SOURCES) | xargs -n1 dirname | sort -u | sed 's,^,./,')
# Tests that start hundreds of sandboxes one after another: the race detector sees only this process, and `unit` runs them.
RACE_SKIP = ^(TestEscapes|TestEscapesAsNobody|TestViews|TestOnOverlay|TestWorkersShareCache)$$
# SQLite is translated from C, and under the race detector takes most of the time.
RACE_FLAGS = -race -vet=off -gcflags=modernc.org/...=-race=false
race: services $(GOPLS) $(TSLS) $(MCP) ## run the tests of concurrent packages with the race detector
	$(RACE) && export CGO_ENABLED && $(GOTEST) $(RACE_FLAGS) -short -skip '$(RACE_SKIP)' $(RACE_PACKAGES)

e2e: services $(MCP) ## run the tests of the whole program
	$(GOTEST) -tags e2e -count=1 -timeout 20m $$(grep -rlE '^//go:build .*e2e' --include='*_test.go' $(SOURCES) | grep -v '^internal/test/tui/' | xargs -n1 dirname | sort -u | sed 's,^,./,')

tui: ## run the terminal tests in tmux: screens and journeys
	$(GOTEST) -tags e2e -count=1 -timeout 10m ./internal/test/tui/

cheats: ## run the gate and whole missions against work that only looks done, and against honest work; needs pytest
	dev/cheats $(TESTFLAGS)

edits: ## run the corpora of edit and apply_patch and count their cases
	dev/edits

wire: ## replay every recorded stream and every fault against the model clients
	dev/wire

# A module of its own, so that the SDKs stay out of ours. It runs gotest from there.
oracle: ## compare the model clients with the vendors' SDKs, on the recordings at PAWL_WIRE
	go -C oracle vet ./...
	go -C oracle run github.com/pawl-dev/pawl/dev/gotest $(TESTFLAGS) -v ./...

escape: ## remove each defense and check that the attacks then succeed
	$(GOTEST) -tags sectest,e2e -overlay $$(go run ./internal/test/security/weaken/overlay) -count=1 -timeout 10m -run '^Test(DefensesMatter|Weakened)' \
		$$(grep -rlE '^//go:build .*sectest' --include='*_test.go' $(SOURCES) | grep -v '^internal/test/security/' | xargs -n1 dirname | sort -u | sed 's,^,./,')

corpus: ## run published attacks on agents: each fails, and succeeds once its defense is removed
	dev/corpus

as-user: ## run the sandbox tests as a normal user; needs root to create one
	dev/as-user

crash: services ## kill the program at every append and resume it; on PostgreSQL, at a sample of them
	$(GOTEST) -tags crashtest -count=1 -timeout 20m ./internal/test/crash/...
	$(GOTEST) -tags crashtest,e2e -count=1 -timeout 20m -run '^TestKilled$$' -v ./internal/test/mission/

fleet: fleet-services ## run the fleet against real servers, some of which it kills; needs root for network namespaces
	$(GOTEST) -tags fleet -count=1 -timeout 30m -skip '^Test(Faults|Load|Flat)$$' -v ./internal/test/fleet/

workflowcheck: $(WORKFLOWCHECK) ## check that workflows are deterministic: no clock, no randomness, no goroutines
	$(WORKFLOWCHECK) ./fleet/runner

deploy-lint: $(KUSTOMIZE) ## build the Kubernetes files in deploy/ and check that all of deploy/ fits together
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(KUSTOMIZE) build deploy/k8s/base >"$$dir/base.yaml" && \
	$(KUSTOMIZE) build deploy/k8s/overlays/example >"$$dir/example.yaml" && \
	go run ./dev/deploy "$$dir/base.yaml" "$$dir/example.yaml"

client-ts: $(CLIENT_TS) ## check the OpenAPI document and test the TypeScript client against a real server
	NODE_MODULES=$(CLIENT_TS)/node_modules dev/client-ts

## Nightly

.PHONY: nightly race-all gate-corpus fuzz bench bench-tui crash-full fleet-load fleet-faults skills-npx vuln
nightly: ## run .ci/nightly: fuzzers, benchmarks, load, faults, the whole crash matrix; takes about 3 hours
	go run ./dev/ci -jobs 1 -dir dist/nightly .ci/nightly

race-all: services $(GOPLS) $(TSLS) $(MCP) ## run all unit tests with the race detector, with every case
	$(RACE) && export CGO_ENABLED && $(GOTEST) -race -count=1 -timeout 30m ./...

gate-corpus: ## run the gate's experiments on the whole corpus of changes, and compile its mutants; needs cargo, a JDK, PHP and pytest
	go test -tags cheats -count=1 -timeout 120m -run '^TestCorpus' ./internal/mission/gate/
	go test -tags cheats -count=1 -timeout 60m -run '^TestCompilersAccept$$' ./internal/mission/gate/mutate/

fuzz: ## run the fuzzers, FUZZTIME each (60s)
	dev/fuzz

bench: ## run the benchmarks; the numbers are in the output
	./dev/bench

bench-tui: ## benchmark the terminal: keys under load, opening, scrolling, idling
	go run ./dev/gotest -count=1 -v -run '^TestBench' -tags bench,e2e -timeout 10m ./internal/test/tui/

crash-full: export PAWL_CRASH_FULL := 1
crash-full: crash ## the whole crash matrix on both stores

fleet-load: export PAWL_LOAD_SESSIONS := 500
fleet-load: export PAWL_LOAD_STORED := 5000
fleet-load: fleet-services ## run 500 sessions of 20 steps beside bare activities, and 5,000 stored ones
	$(GOTEST) -tags fleet -count=1 -timeout 60m -v -run '^Test(Load|Flat)$$' ./internal/test/fleet/

fleet-faults: export PAWL_FAULT_TIMES := 20
fleet-faults: temporal ## kill, cut off and fill parts of a busy fleet, 20 times each; needs root, takes an hour
	$(GOTEST) -tags fleet -count=1 -timeout 8h -run '^TestFaults$$' -v ./internal/test/fleet/

skills-npx: ## check what `npx skills add` installs, and a development server as a job; needs the npm registry
	$(GOTEST) -tags npx,e2e -count=1 -run '^TestNpx(Skills|Stories)$$' ./internal/extension/skill/ ./internal/test/cli/

# VULNDB is the address of a copy of the database, e.g. file:///var/lib/vulndb.
vuln: ## check dependencies for known vulnerabilities; needs https://vuln.go.dev or VULNDB
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) $(if $(VULNDB),-db $(VULNDB)) ./...

## Docs

.PHONY: screenshots
screenshots: ## draw the terminal into docs/screenshots
	dev/screenshots
