package lineui

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// harness is a ui over a real service. The test delivers the user's lines, so the
// order does not depend on a clock.
type harness struct {
	*ui
	t    *testing.T
	ctx  context.Context //nolint:containedctx // of the test
	said *bytes.Buffer
	read int // offset in said up to which the test has read
}

func newHarness(t *testing.T, script ...string) *harness {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(script, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	s := &harness{t: t, ctx: ctx, said: &bytes.Buffer{}}
	svc := servicetest.Local(t).Service
	t.Cleanup(cancel)
	s.ui = newUI(Config{Service: svc, Dir: dir, Settings: pawl.Settings{Model: "script:" + file, Mode: "yolo"}, Out: s.said})
	return s
}

// write enters a line, or several lines at once.
func (s *harness) write(lines ...string) *harness {
	s.idle(s.ctx)
	s.handleInput(s.ctx, userInput{lines: lines, at: time.Now()})
	s.idle(s.ctx)
	return s
}

// until handles events until text is printed that no earlier call has matched.
func (s *harness) until(text string) string {
	s.t.Helper()
	for {
		s.idle(s.ctx)
		if i := strings.Index(s.said.String()[s.read:], text); i >= 0 {
			from := s.read
			s.read += i + len(text)
			return s.said.String()[from:s.read]
		}
		select {
		case h := <-s.received:
			s.handleReceived(s.ctx, h)
		case <-s.ctx.Done():
			s.t.Fatalf("%q was not said; this was:\n%s", text, s.said.String()[s.read:])
		}
	}
}

// settles completes the settle steps, so that a question accepts answers.
func (s *harness) settles() *harness {
	for s.lock.left > 0 {
		s.settle()
	}
	s.idle(s.ctx)
	return s
}
