package pager

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// outputs is a service that has outputs and nothing else.
type outputs struct {
	pawl.Service
	text string
}

func (o outputs) Output(_ context.Context, _ pawl.SessionID, blob string) (io.ReadCloser, error) {
	if blob != "b" {
		return nil, pawl.ErrNotFound
	}
	return io.NopCloser(strings.NewReader(o.text)), nil
}

func shared(t *testing.T, text string) *ui.Shared {
	k, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &ui.Shared{Service: outputs{text: text}, Context: t.Context(), Styles: theme.New(theme.Builtin[3]), Keys: k}
}

func TestPager(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %d \x1b[2J\t%s\n", i, strings.Repeat("x", i%90))
	}
	s := shared(t, b.String())
	opened, ok := Open(s, "s", "bash\nls", "b")().(ui.Open)
	if !ok {
		t.Fatal("it is not opened")
	}
	d := opened.Dialog
	for _, c := range []struct{ key, first string }{
		{"", " line 0 "}, {"j", " line 1 "}, {"pgdown", " line 9 "}, {"k", " line 8 "}, {"G", " line 999 "}, {"g", " line 0 "},
	} {
		if c.key != "" {
			d, _ = d.Update(press(c.key))
		}
		rows := strings.Split(d.View(40, 10), "\n")
		if got := ansi.Strip(rows[1]); len(rows) != 10 || !strings.HasPrefix(got, c.first) {
			t.Errorf("after %q: %d rows, the first is %q, want %q", c.key, len(rows), got, c.first)
		}
		for _, r := range rows {
			if n := ansi.StringWidth(r); n != 40 || strings.ContainsAny(ansi.Strip(r), "\x1b\t\n") {
				t.Errorf("a row of %d cells: %q", n, r)
			}
		}
	}
	if d, _ = d.Update(press("esc")); d != nil {
		t.Error("esc does not close it")
	}
}

func press(key string) tea.KeyPressMsg {
	switch key {
	case "pgdown":
		return tea.KeyPressMsg{Code: tea.KeyPgDown}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	}
	return tea.KeyPressMsg{Text: key, Code: rune(key[0])}
}

func TestNoOutput(t *testing.T) {
	t.Parallel()
	if m, ok := Open(shared(t, ""), "s", "x", "gone")().(ui.Failed); !ok || m.Err == nil {
		t.Error("an output that is not there is no failure")
	}
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	opened, _ := Open(shared(t, strings.Repeat("y", maxBytes+5)), "s", "x", "b")().(ui.Open)
	if got := opened.Dialog.View(40, 5); !strings.Contains(got, "of the first 8 MB") {
		t.Errorf("it does not say that it is cut: %q", got)
	}
}
