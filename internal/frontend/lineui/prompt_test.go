package lineui

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// sentOnly is a service that takes note of prompts.
type sentOnly struct {
	pawl.Service
	list     []string
	expanded int
}

func (s *sentOnly) Send(_ context.Context, _ pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	s.list = append(s.list, p.Parts.Text())
	return pawl.Seq(len(s.list)), nil
}

func (s *sentOnly) Expand(_ context.Context, _ string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	s.expanded++
	return p, nil, nil
}

// What is typed is a prompt, a command, or a part of one; what is pasted is never a
// command, stands for itself, and waits for an Enter.
func TestWrite(t *testing.T) { //nolint:paralleltest // it sets environment variables
	type lines = []string
	for _, c := range []struct {
		name     string
		typed    []lines
		want     []string
		expanded int
		said     string
	}{
		{"a line", []lines{{"go"}}, []string{"go"}, 1, ""},
		{"blank lines", []lines{{""}, {"  "}}, nil, 0, ""},
		{"a line that goes on", []lines{{`one\`}, {`two\`}, {"three"}}, []string{"one\ntwo\nthree"}, 1, "+ "},
		{"a blank before a slash", []lines{{" /quit"}}, []string{" /quit"}, 1, ""},
		{"a path", []lines{{"/etc/hosts"}}, []string{"/etc/hosts"}, 1, ""},
		{"a paste", []lines{{"one", "two"}, {""}}, []string{"one\ntwo"}, 0, "pasted: 2 lines"},
		{"a paste alone is not sent", []lines{{"one", "two"}}, nil, 0, "press Enter to send"},
		{"a paste is no command", []lines{{"/quit", "!rm x", "@file"}, {"/quit"}, {""}}, []string{"/quit\n!rm x\n@file\n/quit"}, 0, ""},
		{"a paste with words", []lines{{"what is this?\\"}, {"one", "two"}, {"thanks"}, {""}}, []string{"what is this?\none\ntwo\nthanks"}, 0, ""},
		{"a paste that is dropped", []lines{{"one", "two"}, {"/drop"}, {"go"}}, []string{"go"}, 1, "dropped: "},
		{"an unknown command", []lines{{"/udno"}}, nil, 0, `Did you mean "/undo"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHarness(t)
			svc := &sentOnly{Service: s.Service}
			s.Service = svc
			for _, l := range c.typed {
				s.write(l...)
			}
			if diff := cmp.Diff(c.want, svc.list); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if svc.expanded != c.expanded {
				t.Errorf("expanded %d times, want %d", svc.expanded, c.expanded)
			}
			if s.done || !strings.Contains(s.said.String(), c.said) {
				t.Errorf("%q is not in\n%s", c.said, s.said.String())
			}
		})
	}
}

// Ctrl-C leaves what is written, then asks whether to quit.
func TestInterruptWhatIsWritten(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newHarness(t)
	s.write("one", "two")
	for _, c := range []struct {
		said string
		over bool
	}{{"dropped: ", false}, {"press Ctrl-C again to quit", false}, {"bye", true}} {
		s.interrupt(s.ctx)
		s.until(c.said)
		if s.done != c.over {
			t.Errorf("over: %v", s.done)
		}
	}
}

// A line in between makes a Ctrl-C the first one again.
func TestInterruptsApart(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newHarness(t)
	s.interrupt(s.ctx)
	s.write("")
	s.interrupt(s.ctx)
	if s.done {
		t.Error("it has ended")
	}
}

// Lines that are there at once come together, whatever the machine does meanwhile.
func TestRead(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	out := make(chan userInput)
	go read(t.Context(), in, nil, out)
	var got [][]string
	for _, text := range []string{"one\n", "a\r\nb\n\nc\n", "\x1b[Aup\n", "half"} {
		if _, err := keys.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if text == "half" {
			_ = keys.Close()
		}
		in := <-out
		if in.at.IsZero() || in.at.After(time.Now()) {
			t.Error("it does not say when it was read")
		}
		got = append(got, in.lines)
	}
	if end := <-out; !end.end {
		t.Error("the end is not told")
	}
	if diff := cmp.Diff([][]string{{"one"}, {"a", "b", "", "c"}, {"up"}, {"half"}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
