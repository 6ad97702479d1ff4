package turn

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	one := pawl.Question{Options: []pawl.Option{{Label: "red"}, {Label: "green"}, {Label: "blue"}}}
	many := one
	many.Multiple = true
	for _, test := range []struct {
		q    pawl.Question
		line string
		want []string
	}{
		{one, "2", []string{"green"}},
		{one, "0", []string{"0"}},
		{one, "4", []string{"4"}},
		{one, "green", []string{"green"}},
		{one, "1, 2", []string{"1, 2"}},
		{one, "a dark red", []string{"a dark red"}},
		{many, "1, 3", []string{"red", "blue"}},
		{many, "3,3", []string{"blue"}},
		{many, "1, and something else", []string{"1, and something else"}},
	} {
		if diff := cmp.Diff(test.want, choose(test.q, test.line)); diff != "" {
			t.Errorf("%q: %s", test.line, diff)
		}
	}
}

// slow is a terminal that takes a second to write, like one that was stopped for a moment.
type slow struct{}

func (slow) Write(p []byte) (int, error) {
	time.Sleep(time.Second)
	return len(p), nil
}

// TestTypedBefore checks that input from before a prompt never answers it, however much there is and however slow the
// terminal is. Row G8.
func TestTypedBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewAsker(nil, strings.NewReader(strings.Repeat("y\n", 50)), slow{})
		if typed, err := a.prompt(t.Context(), "? "); !errors.Is(err, errDenied) {
			t.Errorf("%q has answered: %v", typed, err)
		}
		for range a.lines() { // let the reading goroutine end
		}
	})
}

// TestAskedInFull checks that a question is printed completely, with invisible and control characters escaped. Row G3.
func TestAskedInFull(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := NewAsker(nil, strings.NewReader(""), &out)
	hostile := "a\u202eb\u200b\U000e0041\x1b[8mc\rd"
	q := pawl.Question{Header: hostile, Question: "Run\n" + hostile, Options: []pawl.Option{{Label: hostile, Description: hostile}}}
	if _, err := a.question(t.Context(), q); !errors.Is(err, errDenied) {
		t.Errorf("no answer is %v", err)
	}
	shown := `a\u{202e}b\u{200b}\u{e0041}\u{1b}[8mc\u{d}d`
	want := "? " + shown + ": Run\n" + shown + "\n  1) " + shown + " (" + shown + ")\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
