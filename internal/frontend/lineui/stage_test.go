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

// stage is a talk over a real service, and a person whose lines the test hands in:
// no clock decides what comes first.
type stage struct {
	*talk
	t    *testing.T
	ctx  context.Context //nolint:containedctx // of the test
	said *bytes.Buffer
	read int // of what was said
}

func newStage(t *testing.T, script ...string) *stage {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(script, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	s := &stage{t: t, ctx: ctx, said: &bytes.Buffer{}}
	svc := servicetest.Local(t).Service
	t.Cleanup(cancel)
	s.talk = newTalk(Config{Service: svc, Dir: dir, Settings: pawl.Settings{Model: "script:" + file, Mode: "yolo"}, Out: s.said})
	return s
}

// write is a line that the person types now, or several that come at once.
func (s *stage) write(lines ...string) *stage {
	s.rest(s.ctx)
	s.typed(s.ctx, typed{lines: lines, at: time.Now()})
	s.rest(s.ctx)
	return s
}

// until takes what is heard until something is said that was not awaited before.
func (s *stage) until(text string) string {
	s.t.Helper()
	for {
		s.rest(s.ctx)
		if i := strings.Index(s.said.String()[s.read:], text); i >= 0 {
			from := s.read
			s.read += i + len(text)
			return s.said.String()[from:s.read]
		}
		select {
		case h := <-s.heard:
			s.hears(s.ctx, h)
		case <-s.ctx.Done():
			s.t.Fatalf("%q was not said; this was:\n%s", text, s.said.String()[s.read:])
		}
	}
}

// settles lets the time pass until a question takes answers.
func (s *stage) settles() *stage {
	for s.lock.left > 0 {
		s.settle()
	}
	s.rest(s.ctx)
	return s
}
