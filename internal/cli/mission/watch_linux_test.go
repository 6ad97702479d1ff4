//go:build e2e

package mission

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestWatchInPlace checks that a board in a terminal replaces the previous one, and that the output has no other
// control sequences.
func TestWatchInPlace(t *testing.T) {
	t.Parallel()
	terminal, seen := harness.RecordTerminal(t)
	out := cli.NewScreen(terminal)
	v := newWatcher(out, nil, false)
	b := board{now: time.Unix(60, 0)}
	b.State, b.Mission = pawl.MissionWorking, pawl.Mission{Began: time.Unix(0, 0), Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}}
	if err := v.show(b); err != nil {
		t.Fatal(err)
	}
	b.now = time.Unix(61, 0)
	if err := v.show(b); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(seen(), "\r\n", "\n")
	first, second, twice := strings.Cut(text, "\x1b[4A\r\x1b[J") // the board has four lines
	if !twice || !strings.Contains(first, "1m 00s") || !strings.Contains(second, "1m 01s") || sanitize.Text(first+second) != first+second {
		t.Errorf("the terminal was given %q", text)
	}
}
