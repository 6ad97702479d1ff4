package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

const (
	checkTime = 20 * time.Minute // default timeout of a check
	maxOutput = 64 << 20         // maximum size of a check's output, in bytes
	maxTail   = 4 << 10          // bytes of the output that are kept
)

// result is what a check says about a variant.
type result struct {
	pawl.CheckRun

	tests  *inventory.Inventory // nil if it reports none
	text   string               // why it reports none
	output string               // the end of its output, longer than Tail
}

// runCheck runs a check on a variant.
func (x *experiments) runCheck(ctx context.Context, v *variant, c pawl.Check) (r result, err error) {
	if err := x.slots.Acquire(ctx, 1); err != nil {
		return r, err
	}
	defer x.slots.Release(1)
	m, err := x.mount(v)
	if err != nil {
		return r, fmt.Errorf("check %s: %w", c.ID, err)
	}
	defer m.close()
	p := m.profile
	p.Work, p.Env = filepath.Join(p.Dir, c.Dir), environment(v, p.CacheHome, c)
	r.CheckRun = pawl.CheckRun{Check: c.ID, On: v.on, Tree: v.of.tree, Args: c.Args, Env: digest([]byte(strings.Join(c.Env, "\x00")))}
	if err := x.execute(ctx, &r, m, p, c); err != nil {
		return r, err
	}
	x.ran(v, r)
	if v.twice && r.OK() {
		if err := m.renew(); err != nil {
			return r, err
		}
		if err := x.execute(ctx, &r, m, p, c); err != nil {
			return r, err
		}
		x.ran(v, r)
	}
	return r, nil
}

// execute runs a check in a sandbox.
func (x *experiments) execute(ctx context.Context, r *result, m *mounted, p sandbox.Profile, c pawl.Check) error {
	w, err := x.Sandbox(ctx, c.Args, p, c.Network)
	if err != nil {
		return fmt.Errorf("check %s: %w", c.ID, err)
	}
	defer w.Close()
	return r.execute(ctx, w, m, c)
}

// environment returns the variables of a check.
func environment(v *variant, cache string, c pawl.Check) []string {
	env := []string{"GOFLAGS=", "TERM=dumb", "NO_COLOR=1", "LC_ALL=C.UTF-8", "TZ=UTC", "CI=true", "CARGO_TARGET_DIR=" + filepath.Join(cache, "cargo-target")}
	if v.moved {
		env = []string{"GOFLAGS=", "TERM=xterm", "LC_ALL=C", "TZ=Asia/Kolkata", "USER=someone", "LOGNAME=someone", "CARGO_TARGET_DIR=" + filepath.Join(cache, "cargo-target")}
	}
	return append(env, c.Env...)
}

// execute runs the command of a check and reads its results.
func (r *result) execute(ctx context.Context, w sandbox.Wrapped, m *mounted, c pawl.Check) error {
	limit := c.Timeout
	if limit == 0 {
		limit = checkTime
	}
	errLate := fmt.Errorf("timed out after %s", limit)
	timed, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	out, faults := &capture{limit: maxOutput}, &capture{limit: maxOutput}
	command := proc.Command{Args: w.Args, Dir: m.own, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr, Output: out, Stderr: faults}
	if c.Tests == "unittest" { // it reports on standard error
		command.Stderr = nil
	}
	exit, err := proc.Run(timed, command)
	r.Code, r.Duration = exit.Code, exit.Duration
	r.Output = digest(slices.Concat(out.kept.Bytes(), []byte{0}, faults.kept.Bytes()))
	r.output = readable(out.kept.String(), faults.kept.String(), c)
	r.Tail = cut(r.output, maxTail)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errLate):
		r.Fault, r.Code = errLate.Error(), -1
	case err != nil:
		return fmt.Errorf("check %s: %w", c.ID, err)
	case out.full || faults.full:
		r.Fault = fmt.Sprintf("printed more than %d MiB", maxOutput>>20)
	case exit.Signal != "":
		r.Fault = "killed by signal: " + exit.Signal
	}
	if c.Tests != "" {
		r.readTests(c, out.kept.Bytes(), m)
	}
	return nil
}

// readTests reads the test report of a check.
func (r *result) readTests(c pawl.Check, printed []byte, m *mounted) {
	tests, err := inventory.Read(c, filepath.Join(m.written, c.Dir), printed, filepath.Join(m.profile.Dir, c.Dir))
	if err != nil {
		r.text = err.Error()
		return
	}
	r.tests = tests
	r.Tests = &pawl.TestCount{
		Passed: len(tests.Names(inventory.Passed)), Failed: len(tests.Names(inventory.Failed)),
		Skipped: len(tests.Names(inventory.Skipped)), Broken: len(tests.Broken),
	}
}

// runAll runs checks on a variant, one after the other. A setup that fails is an error: nothing can be said about the
// change.
func (x *experiments) runAll(ctx context.Context, v *variant, checks []pawl.Check) (map[string]result, error) {
	all := map[string]result{}
	for _, c := range checks {
		r, err := x.runCheck(ctx, v, c)
		if err != nil {
			return nil, err
		}
		all[c.ID] = r
	}
	return all, nil
}

// setUp runs the setup checks of a side in its own directory, for all variants of it.
func (x *experiments) setUp(ctx context.Context, s *side) error {
	for _, c := range x.Checks {
		if c.Kind != pawl.CheckSetup {
			continue
		}
		own := filepath.Join(x.Dir, "runs", "setup-"+s.name+"-"+c.ID)
		p := sandbox.Profile{Dir: s.dir, Work: filepath.Join(s.dir, c.Dir), Hidden: x.Hidden, CacheHome: x.cache, Env: environment(&variant{}, x.cache, c)}
		if x.Views {
			cache, err := x.cacheView(own)
			if err != nil {
				return err
			}
			p.Caches = []sandbox.View{cache}
		}
		r := result{CheckRun: pawl.CheckRun{Check: c.ID, On: s.name, Tree: s.tree, Args: c.Args}}
		err := x.execute(ctx, &r, &mounted{own: s.dir, written: s.dir, profile: p}, p, c)
		tree.RemoveAll(own)
		if err != nil {
			return err
		}
		x.ran(&variant{on: s.name}, r)
		if !r.OK() {
			return fault.New(pawl.ErrUnavailable, "setup check %s failed on the %s (%s), so nothing can be checked:\n%s", c.ID, s.name, ended(r), r.Tail)
		}
	}
	return nil
}

// ended says how a check ended.
func ended(r result) string {
	if r.Fault != "" {
		return "did not finish: " + r.Fault
	}
	return fmt.Sprintf("exited with %d", r.Code)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// readable returns the output of a check for people, without machine-readable test events.
func readable(out, faults string, c pawl.Check) string {
	if c.Tests == "gotest" {
		out = goOutput(out)
	}
	const most = 256 << 10
	return cut(strings.TrimSpace(out+"\n"+faults), most)
}

// cut returns the end of a text.
func cut(text string, most int) string {
	if len(text) > most {
		return "…" + strings.ToValidUTF8(text[len(text)-most:], "")
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
	kept  bytes.Buffer
	limit int
	full  bool
}

func (c *capture) Write(p []byte) (int, error) {
	free := max(0, c.limit-c.kept.Len())
	c.full = c.full || len(p) > free
	c.kept.Write(p[:min(len(p), free)])
	return len(p), nil
}
