# The developer's front door. CI runs the same targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# A suite that is too slow for `check` has a build tag: named here, so that vet and lint read it too,
# and a target of its own, which joins `test` and .ci/run.
TAGS := crashtest,bench,wire,sectest,npx,tui,cheats,fleet

# Further flags for every test run, e.g. make unit TESTFLAGS='-count=1 -run TestAppend'.
TESTFLAGS ?=
GOTEST := eval "$$(dev/services env)" && go run ./dev/gotest $(TESTFLAGS)

# Or each program under the race detector waits for a second when it ends.
export GORACE := atexit_sleep_ms=0

GOLANGCI_VERSION := v2.14.0
TOOLS := $(or $(PAWL_DEV_CACHE),$(HOME)/.cache/pawl-dev)/bin
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)

# The language servers that the tests talk to. typescript-language-server does not work with TypeScript 7.
GOPLS_VERSION := v0.23.0
TSLS_VERSION := 5.3.0
TYPESCRIPT_VERSION := 5.9.3
GOPLS_DIR := $(TOOLS)/gopls-$(GOPLS_VERSION)
TSLS_DIR := $(TOOLS)/typescript-language-server-$(TSLS_VERSION)-$(TYPESCRIPT_VERSION)
export PAWL_TEST_LSP_PATH := $(GOPLS_DIR):$(TSLS_DIR)/node_modules/.bin

# The MCP servers that the tests talk to: the protocol's own, for reference.
MCP_VERSION := 2026.8.31
MCP_DIR := $(TOOLS)/mcp-servers-$(MCP_VERSION)
export PAWL_TEST_MCP_DIR := $(MCP_DIR)/node_modules

# What the TypeScript client is made, checked and run with, as its lock file says.
CLIENT_TS_LOCK := clients/typescript/package-lock.json
CLIENT_TS_DIR := $(TOOLS)/client-ts-$(shell cksum $(CLIENT_TS_LOCK) | cut -d ' ' -f 1)

.PHONY: help build tools lsp-path client-ts mcp-servers fmt fmt-check vet lint services temporal fleet-services fleet-build fleet fleet-load fleet-faults unit workflowcheck check crash oracle wire tui screenshots escape corpus skills-npx as-user deploy-lint vuln edits extensions fuzz test bench bench-tui cheats clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

build: ## build bin/pawl, one static binary
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o bin/pawl ./cmd/pawl

tools: $(GOLANGCI) $(GOPLS_DIR) $(TSLS_DIR) $(MCP_DIR) $(CLIENT_TS_DIR) ## install the linter and the servers for the tests, once a version

# Built aside and renamed: a stopped install leaves nothing that looks whole.
$(GOLANGCI):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && \
	GOBIN=$$dir go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && \
	mv "$$dir/golangci-lint" $@

$(GOPLS_DIR):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && \
	GOBIN=$$dir/new go install golang.org/x/tools/gopls@$(GOPLS_VERSION) && \
	mv "$$dir/new" $@

$(TSLS_DIR):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && \
	npm install --prefix "$$dir/new" --ignore-scripts --no-audit --no-fund --loglevel=error \
		typescript-language-server@$(TSLS_VERSION) typescript@$(TYPESCRIPT_VERSION) >/dev/null && \
	mv "$$dir/new" $@

$(MCP_DIR):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && \
	npm install --prefix "$$dir/new" --ignore-scripts --no-audit --no-fund --loglevel=error \
		@modelcontextprotocol/server-everything@$(MCP_VERSION) @modelcontextprotocol/server-filesystem@$(MCP_VERSION) \
		@modelcontextprotocol/server-memory@$(MCP_VERSION) >/dev/null && \
	mv "$$dir/new" $@

$(CLIENT_TS_DIR):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && mkdir "$$dir/new" && \
	cp clients/typescript/package.json $(CLIENT_TS_LOCK) "$$dir/new" && \
	npm ci --prefix "$$dir/new" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null && \
	mv "$$dir/new" $@

mcp-servers: $(MCP_DIR) ## print where the MCP servers for the tests are
	@echo $(PAWL_TEST_MCP_DIR)

lsp-path: tools ## print where the language servers for the tests are
	@echo $(PAWL_TEST_LSP_PATH)

fmt: tools ## format the Go files
	$(GOLANGCI) fmt

fmt-check: tools ## show what fmt would change; fail if anything
	$(GOLANGCI) fmt --diff

vet: ## go vet, all build tags
	go vet -tags $(TAGS) ./...
	go mod tidy -diff
	go -C oracle mod tidy -diff # it follows our go.mod

lint: tools ## golangci-lint, all build tags
	$(GOLANGCI) run --build-tags $(TAGS) ./...

services: ## start the servers that the unit tests use (dev/services help)
	dev/services up postgres nats

temporal: ## build the engine that the tests of the fleet talk to, once a version: 7 minutes
	dev/services install temporal

fleet-build: ## build bin/pawl-fleet: a pawl that can also be part of a fleet
	CGO_ENABLED=0 go build -tags fleet -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o bin/pawl-fleet ./cmd/pawl

fleet: fleet-services ## the fleet against real servers, some of which it ends; needs root for hosts of its own
	$(GOTEST) -tags fleet -count=1 -run '^TestSources' ./cmd/pawl/
	$(GOTEST) -tags fleet -count=1 -timeout 30m -v ./internal/fleettest/

fleet-load: export PAWL_LOAD_SESSIONS := 500
fleet-load: export PAWL_LOAD_STORED := 5000
fleet-load: fleet-services ## 500 sessions of 20 steps beside bare activities, and 5,000 stored ones
	$(GOTEST) -tags fleet -count=1 -timeout 60m -v -run '^Test(Load|Flat)$$' ./internal/fleettest/

fleet-services: temporal ## start all servers: what the unit tests use, and the engine
	dev/services up

# The sandbox's tests are alone: their servers come and go where everybody sees them, and
# a box that is being made elsewhere fails if a socket that it masks goes just then.
unit: services tools ## unit tests, with the race detector
	packages=$$(go list ./...) && $(GOTEST) -race $$(printf '%s\n' $$packages | grep -v '/internal/sandbox$$')
	$(GOTEST) -race ./internal/sandbox

check: services fmt-check vet lint unit ## what to run before a commit; under a minute when warm

crash: services ## the crash matrix: kill the program at every step, then resume
	$(GOTEST) -tags crashtest -count=1 -timeout 20m ./internal/crashtest/...
	$(GOTEST) -tags crashtest -count=1 -timeout 20m -run "^TestKilled$$" -v ./internal/missiontest/

fleet-faults: export PAWL_FAULT_TIMES := 20
fleet-faults: temporal ## kill, cut off and fill parts of a fleet at work, each 20 times: as root, takes an hour
	$(GOTEST) -tags fleet -count=1 -timeout 8h -run "^TestFaults$$" -v ./internal/fleettest/

tui: ## the terminal in a terminal emulator: screens and journeys; needs tmux
	$(GOTEST) -tags tui -count=1 -timeout 10m ./internal/tuitest/

cheats: ## the gate and whole missions against work that only looks done, and honest work; needs pytest
	dev/cheats $(TESTFLAGS)

screenshots: ## draw what the terminal looks like into docs/screenshots
	dev/screenshots

wire: ## replay every recorded stream and every fault against the model clients
	dev/wire

# A module of its own, so that the SDKs stay out of ours. It runs gotest from there.
oracle: ## the model clients against the vendors' SDKs, on the recordings at PAWL_WIRE
	go -C oracle vet ./...
	go -C oracle run github.com/pawl-dev/pawl/dev/gotest $(TESTFLAGS) -v ./...

escape: ## take each defense out and see that the attacks get through
	$(GOTEST) -tags sectest,fleet -count=1 -timeout 10m -run '^Test(DefensesMatter|Weakened)' \
		$$(grep -rlE '^//go:build .*sectest' --include='*_test.go' cmd internal | grep -v '^internal/sectest/' | xargs -n1 dirname | sort -u | sed 's,^,./,')

corpus: ## published attacks on agents: all fail, and each succeeds once its defense is taken out
	dev/corpus

skills-npx: ## what `npx skills add` installs is found, also by an agent that runs it; needs npm's registry
	$(GOTEST) -tags npx -count=1 -run '^TestNpx(Skills|Stories)$$' ./internal/skill/ ./cmd/pawl/

as-user: ## the sandbox as a normal user; needs root to make one
	dev/as-user

KUSTOMIZE_VERSION := v5.8.1
KUSTOMIZE := $(TOOLS)/kustomize-$(KUSTOMIZE_VERSION)
$(KUSTOMIZE):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && \
	GOBIN=$$dir go install sigs.k8s.io/kustomize/kustomize/v5@$(KUSTOMIZE_VERSION) && \
	mv "$$dir/kustomize" $@

deploy-lint: $(KUSTOMIZE) ## build what is in deploy/ for Kubernetes, and see that all of deploy/ fits together
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(KUSTOMIZE) build deploy/k8s/base >"$$dir/base.yaml" && \
	$(KUSTOMIZE) build deploy/k8s/overlays/example >"$$dir/example.yaml" && \
	go run ./dev/deploy "$$dir/base.yaml" "$$dir/example.yaml"

GOVULNCHECK_VERSION := v1.2.0
vuln: ## known holes in what pawl is built from; needs https://vuln.go.dev
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./...

WORKFLOWCHECK_VERSION := v0.6.0
workflowcheck: ## what runs in workflows is the same each time: no clock, no chance, no goroutines
	go run go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION) ./internal/runner/fleet

edits: ## the corpora of edit and apply_patch: what must apply and what must not
	dev/edits

extensions: $(MCP_DIR) ## what hooks written for other agents and MCP servers are held to; prints how many cases
	go test -count=1 -run '^TestConformance$$' -v ./internal/hook/ | grep 'hooks:'
	go test -count=1 -run '^(TestTransports|TestReferenceServers)$$' -v ./internal/tool/mcp/ | grep 'mcp:'
	go test -count=1 -run '^(TestFirstRequestWaitsForNoServer|TestManyExtensionsCostLittle)$$' -v ./cmd/pawl/ | grep -E '(mcp|extensions):'

client-ts: $(CLIENT_TS_DIR) ## the OpenAPI document and the TypeScript client that is made from it, against a real server
	NODE_MODULES=$(CLIENT_TS_DIR)/node_modules dev/client-ts

fuzz: ## the fuzzers, FUZZTIME each (60s)
	dev/fuzz

test: unit edits extensions client-ts tui escape corpus skills-npx wire oracle crash ## all tests but the fuzzers: unit, then the slow suites

bench: ## measure; the numbers are in the output
	./dev/bench

bench-tui: ## measure the terminal: keys under load, opening, scrolling, idling
	go run ./dev/gotest -count=1 -v -run '^TestBench' -tags bench -timeout 10m ./internal/tuitest/

clean: ## remove what the build wrote
	rm -rf bin dist
