# The developer's front door. CI runs the same targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# A suite that is too slow for `check` has a build tag: named here, so that vet and lint read it too,
# and a target of its own, which joins `test` and .ci/run.
TAGS := crashtest,bench,wire

# Further flags for every test run, e.g. make unit TESTFLAGS='-count=1 -run TestAppend'.
TESTFLAGS ?=
GOTEST := eval "$$(dev/services env)" && go run ./dev/gotest $(TESTFLAGS)

# Or each program under the race detector waits for a second when it ends.
export GORACE := atexit_sleep_ms=0

GOLANGCI_VERSION := v2.14.0
TOOLS := $(or $(PAWL_DEV_CACHE),$(HOME)/.cache/pawl-dev)/bin
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)

.PHONY: help build tools fmt fmt-check vet lint services unit check crash oracle wire test bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

build: ## build bin/pawl, one static binary
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o bin/pawl ./cmd/pawl

tools: $(GOLANGCI) ## install the linter, once a version

# Built aside and renamed: a stopped install leaves nothing that looks whole.
$(GOLANGCI):
	mkdir -p $(TOOLS)
	dir=$$(mktemp -d $(TOOLS)/install.XXXXXX) && trap 'rm -rf "$$dir"' EXIT && \
	GOBIN=$$dir go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && \
	mv "$$dir/golangci-lint" $@

fmt: tools ## format the Go files
	$(GOLANGCI) fmt

fmt-check: tools ## show what fmt would change; fail if anything
	$(GOLANGCI) fmt --diff

vet: ## go vet, all build tags
	go vet -tags $(TAGS) ./...

lint: tools ## golangci-lint, all build tags
	$(GOLANGCI) run --build-tags $(TAGS) ./...

services: ## start the servers that the tests use (dev/services help)
	dev/services up

unit: services ## unit tests, with the race detector
	$(GOTEST) -race ./...

check: services fmt-check vet lint unit ## what to run before a commit; under a minute when warm

crash: services ## the crash matrix: kill the program at every step, then resume
	$(GOTEST) -tags crashtest -count=1 -timeout 20m ./internal/crashtest/...

wire: ## replay every recorded stream and every fault against the model clients
	dev/wire

# A module of its own, so that the SDKs stay out of ours. It runs gotest from there.
oracle: ## the model clients against the vendors' SDKs, on the recordings at PAWL_WIRE
	go -C oracle vet ./...
	go -C oracle run github.com/pawl-dev/pawl/dev/gotest $(TESTFLAGS) -v ./...

test: unit wire oracle crash ## all tests: unit, then the slow suites

bench: ## measure; the numbers are in the output
	./dev/bench

clean: ## remove what the build wrote
	rm -rf bin dist
