// Package checkrun runs the command of a check and reads its test results.
package checkrun

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

const (
	checkTime  = 20 * time.Minute // default timeout of a check
	maxOutput  = 64 << 20         // maximum size of a check's output, in bytes
	maxPrinted = 256 << 10        // bytes of Result.Printed
	maxTail    = 4 << 10          // bytes of the output that are recorded
)

// How the sandbox ends if it cannot start a command, and what it prints then.
const (
	noSandbox    = 126
	sandboxError = "pawl: sandbox: "
)

// Result is a check run with its test results.
type Result struct {
	pawl.CheckRun

	Tests   *inventory.Inventory // nil if the check reports no tests, or its report could not be read
	Text    string               // why it could not be read
	Printed string               // the end of the output, longer than Tail
}

// Place is where a check runs.
type Place struct {
	Start   string // the directory to start the sandbox in
	Written string // where the files are that the check writes in its directory
	Shown   string // the check's directory as it sees it
	// Combined reads the test results from standard output and standard error together.
	Combined bool
}

// Execute runs the command of a check and reads its results.
func (r *Result) Execute(ctx context.Context, w sandbox.Wrapped, c pawl.Check, p Place) error {
	limit := c.Timeout
	if limit == 0 {
		limit = checkTime
	}
	errLate := fmt.Errorf("timed out after %s", limit)
	timed, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	out, faults := &capture{}, &capture{}
	command := proc.Command{Args: w.Args, Dir: p.Start, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr, Output: out, Stderr: faults}
	if p.Combined {
		command.Stderr = nil
	}
	exit, err := proc.Run(timed, command)
	r.Code, r.Duration = exit.Code, exit.Duration
	r.Output = Digest(slices.Concat(out.kept.Bytes(), []byte{0}, faults.kept.Bytes()))
	r.Printed = readable(out.kept.String(), faults.kept.String(), c)
	r.Tail = end(r.Printed, maxTail)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case exit.Code == noSandbox && out.kept.Len() == 0 && bytes.HasPrefix(faults.kept.Bytes(), []byte(sandboxError)):
		return fault.New(pawl.ErrUnavailable, "check %s could not start: %s", c.ID, strings.TrimSpace(faults.kept.String()))
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
		r.readTests(c, out.kept.Bytes(), p)
	}
	return nil
}

// readTests reads the test report of a check.
func (r *Result) readTests(c pawl.Check, printed []byte, p Place) {
	tests, err := inventory.Read(c, p.Written, printed, p.Shown)
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

// Ended says how the check ended.
func (r *Result) Ended() string {
	if r.Fault != "" {
		return "did not finish: " + r.Fault
	}
	return fmt.Sprintf("exited with %d", r.Code)
}

// Digest returns the SHA-256 of a text, as the log records it.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// readable returns the end of a check's output for people, without machine-readable test events.
func readable(out, faults string, c pawl.Check) string {
	if c.Tests == "gotest" {
		out = goOutput(out)
	}
	return end(strings.TrimSpace(out+"\n"+faults), maxPrinted)
}

// end returns the end of a text.
func end(text string, most int) string {
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

// capture keeps what is written to it, up to maxOutput.
type capture struct {
	kept bytes.Buffer
	full bool
}

func (c *capture) Write(p []byte) (int, error) {
	free := max(0, maxOutput-c.kept.Len())
	c.full = c.full || len(p) > free
	c.kept.Write(p[:min(len(p), free)])
	return len(p), nil
}
