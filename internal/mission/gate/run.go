package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

const (
	checkTime = 20 * time.Minute // default timeout of a check
	maxPrint  = 64 << 20         // maximum size of a check's output, in bytes
	maxTail   = 4 << 10          // bytes of the output that are kept
)

// run runs a check on a tree, in a sandbox.
func (g *Gate) run(ctx context.Context, p *checkout, c pawl.Check) (CheckResult, error) {
	if err := g.activate(p); err != nil {
		return CheckResult{}, fmt.Errorf("check %s: %w", c.ID, err)
	}
	work := filepath.Join(p.dir, c.Dir)
	ran := CheckResult{CheckRun: pawl.CheckRun{Check: c.ID, On: p.on, Tree: p.tree, Args: c.Args}}
	if err := inventory.RemoveReports(c, work); err != nil { // an existing report is not from this run
		return ran, fmt.Errorf("check %s: remove old test reports: %w", c.ID, err)
	}
	env := append([]string{"CI=true", "XDG_CACHE_HOME=" + p.cache, "GOFLAGS=", "TERM=dumb", "NO_COLOR=1", "LC_ALL=C.UTF-8"}, c.Env...)
	wrapped, err := g.Sandbox(ctx, c.Args, sandbox.Profile{Dir: p.dir, Work: work, Env: env, Hidden: g.Hidden, Writable: []string{p.cache}}, c.Network)
	if err != nil {
		return ran, fmt.Errorf("check %s: %w", c.ID, err)
	}
	defer wrapped.Close()
	ran.Env = envHash(wrapped.Env, p)
	err = g.execute(ctx, wrapped, work, c, &ran)
	return ran, err
}

func (g *Gate) execute(ctx context.Context, wrapped sandbox.Wrapped, work string, c pawl.Check, ran *CheckResult) error {
	limit := c.Timeout
	if limit == 0 {
		limit = checkTime
	}
	errLate := fmt.Errorf("timed out after %s", limit)
	timed, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	out, faults := &capture{limit: maxPrint}, &capture{limit: maxPrint}
	command := proc.Command{Args: wrapped.Args, Dir: work, Env: wrapped.Env, Bare: true, Files: wrapped.Files, Attr: wrapped.Attr, Output: out, Stderr: faults}
	if inventory.Combined(c.Tests) {
		command.Stderr = nil
	}
	exit, err := proc.Run(timed, command)
	ran.Code, ran.Duration = exit.Code, exit.Duration
	ran.Output = hash(slices.Concat(out.kept.Bytes(), []byte{0}, faults.kept.Bytes()))
	ran.Tail = tail(out.kept.String(), faults.kept.String(), c)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errLate):
		ran.Fault, ran.Code = errLate.Error(), -1
	case err != nil:
		return fmt.Errorf("check %s: %w", c.ID, err)
	case out.passed || faults.passed:
		ran.Fault = fmt.Sprintf("printed more than %d MiB", maxPrint>>20)
	case exit.Signal != "":
		ran.Fault = "killed by signal: " + exit.Signal
	}
	if c.Tests != "" {
		ran.readTests(c, out.kept.Bytes(), work)
	}
	return nil
}

// Summary describes the result in a few words.
func (r CheckResult) Summary() string {
	if r.CheckRun.Tests == nil {
		return result(r.CheckRun)
	}
	return result(r.CheckRun) + ", " + tests(r.CheckRun.Tests)
}

// readTests reads the test report of a check.
func (r *CheckResult) readTests(c pawl.Check, printed []byte, work string) {
	tests, err := inventory.Read(c, work, printed, work)
	if err != nil {
		r.Text = err.Error()
		return
	}
	r.Tests = tests
	r.CheckRun.Tests = &pawl.TestCount{
		Passed: len(tests.Names(inventory.Passed)), Failed: len(tests.Names(inventory.Failed)),
		Skipped: len(tests.Names(inventory.Skipped)), Broken: len(tests.Broken),
	}
}

// envHash hashes an environment, with the paths that differ in each run replaced.
func envHash(env []string, p *checkout) string {
	lines := slices.Clone(env)
	for i, line := range lines {
		line = strings.ReplaceAll(line, p.dir, "TREE")
		lines[i] = strings.ReplaceAll(line, p.cache, "CACHE")
	}
	slices.Sort(lines)
	return hash([]byte(strings.Join(lines, "\x00")))
}

// tail returns the end of a check's output for people, without machine-readable test events.
func tail(out, faults string, c pawl.Check) string {
	if c.Tests == "gotest" {
		out = goOutput(out)
	}
	text := strings.TrimSpace(out + "\n" + faults)
	if len(text) > maxTail {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxTail:], "")
	}
	return text
}

// goOutput extracts the output of tests from the events of 'go test -json'.
func goOutput(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		var e struct{ Output string }
		if json.Unmarshal([]byte(line), &e) == nil {
			b.WriteString(e.Output)
		} else {
			b.WriteString(line)
		}
	}
	return b.String()
}

// capture keeps what is written to it, up to a limit.
type capture struct {
	kept   bytes.Buffer
	limit  int
	passed bool
}

var _ io.Writer = (*capture)(nil)

func (c *capture) Write(p []byte) (int, error) {
	free := max(0, c.limit-c.kept.Len())
	c.passed = c.passed || len(p) > free
	c.kept.Write(p[:min(len(p), free)])
	return len(p), nil
}
