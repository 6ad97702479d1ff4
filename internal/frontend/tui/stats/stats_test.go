package stats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

var today = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func idOf(n int) pawl.SessionID { return pawl.SessionID(fmt.Sprintf("%026d", n)) }

// keep keeps a session with a reply so many days ago.
func keep(t *testing.T, svc pawl.Service, n int, dir, model string, days int, u pawl.Usage) {
	t.Helper()
	at := today.AddDate(0, 0, -days)
	_, err := svc.Import(t.Context(), pawl.NewSession{Dir: dir}, func(yield func(pawl.Event, error) bool) {
		for i, b := range []pawl.Body{
			pawl.SessionCreated{Dir: dir}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "x"}}, Settings: pawl.Settings{Model: model}},
			pawl.TurnStarted{Prompt: 2}, pawl.ReplyStarted{Step: 1, Model: model},
			pawl.Replied{Step: 1, Model: model, Parts: pawl.Parts{pawl.Text{Text: "y"}}, Finish: pawl.FinishEndTurn, Usage: u},
			pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1},
		} {
			if !yield(pawl.Event{Session: idOf(n), Seq: pawl.Seq(i + 1), At: at, Body: b}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newDialog(t *testing.T, id pawl.SessionID) *Dialog {
	t.Helper()
	svc := servicetest.Local(t).Service
	keep(t, svc, 1, "/work/here", "anthropic/claude-x", 0, pawl.Usage{Input: 1000, Output: 200, CacheRead: 3000, Cost: pawl.MoneyOf(0.5)})
	keep(t, svc, 2, "/work/here", "evil\x1b[2J/model", 3, pawl.Usage{Input: 120_000, Output: 2000, Cost: pawl.MoneyOf(0.05)})
	keep(t, svc, 3, "/work/there", "openai/a-model-with-a-very-long-name-indeed", 1, pawl.Usage{Input: 10, Output: 20, Cost: pawl.MoneyOf(12)})
	keep(t, svc, 4, "/work/here", "too/old", 40, pawl.Usage{Input: 10, Output: 20, Cost: pawl.MoneyOf(99)})
	d := New(uitest.Shared(t, svc, "plain"), id, "/work/here")
	d.now = func() time.Time { return today }
	uitest.Run(d, d.Shown())
	return d
}

func TestView(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		name          string
		session       pawl.SessionID
		keys          []string
		width, height int
	}{
		{"session-80", idOf(1), nil, 80, 24},
		{"old-session-80", idOf(4), nil, 80, 24},
		{"folder-80", idOf(1), []string{"tab"}, 80, 24},
		{"all-80", idOf(1), []string{"tab", "tab"}, 80, 24},
		{"all-120", idOf(1), []string{"tab", "tab"}, 120, 40},
		{"all-40", idOf(1), []string{"tab", "tab"}, 40, 24},
		{"again-80", idOf(1), []string{"tab", "tab", "tab"}, 80, 24},
		{"no-session-80", "", []string{"tab", "tab"}, 80, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := uitest.Press(newDialog(t, c.session), c.keys...)
			uitest.Golden(t, c.name, ansi.Strip(d.View(c.width, c.height)), c.width)
		})
	}
}

// TestNone: that nothing was used is said, and why it is not known.
func TestNone(t *testing.T) { //nolint:paralleltest // it sets environment variables
	d := New(uitest.Shared(t, servicetest.Local(t).Service, "plain"), "", "/work/here")
	if got := d.View(80, 24); !strings.Contains(got, "loading") {
		t.Errorf("before the answer:\n%s", got)
	}
	uitest.Run(d, d.Shown())
	if got := d.View(80, 24); !strings.Contains(got, "No usage yet.") {
		t.Errorf("without usage:\n%s", got)
	}
	d.shared.Service = broken{}
	uitest.Run(d, d.Shown())
	if got := d.View(80, 24); !strings.Contains(got, "the store is gone") {
		t.Errorf("without an answer:\n%s", got)
	}
	if next, _ := uitest.Press(d, "esc"); next != nil {
		t.Error("it does not close")
	}
}

type broken struct{ pawl.Service }

func (broken) Usage(context.Context, pawl.UsageFilter) ([]pawl.UsageRow, error) {
	return nil, errors.New("the store is gone")
}

// TestLate: the answer for another scope is not shown as this one's.
func TestLate(t *testing.T) { //nolint:paralleltest // it sets environment variables
	d := newDialog(t, idOf(1))
	late := d.Shown()
	d.Update(uitest.Key("tab"))
	d.Update(late())
	if d.totals != nil {
		t.Error("the usage of the session stands for the folder's")
	}
}

// TestSums: days and models both add up to the total.
func TestSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.Custom(func(t *rapid.T) pawl.UsageRow {
			n := rapid.Int64Range(0, 1000)
			return pawl.UsageRow{
				Day: rapid.SampledFrom([]string{"2026-01-01", "2026-01-02", "2026-01-03"}).Draw(t, "day"), Model: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"),
				Replies: rapid.IntRange(1, 5).Draw(t, "replies"), Usage: pawl.Usage{Input: n.Draw(t, "in"), Output: n.Draw(t, "out"), CacheRead: n.Draw(t, "cached"), Cost: pawl.Money(n.Draw(t, "cost"))},
			}
		})).Draw(t, "rows")
		x := totalsOf(rows)
		for _, sums := range [][]sum{x.days, x.models} {
			var total sum
			for _, s := range sums {
				total.add(pawl.UsageRow{Replies: s.replies, Usage: s.Usage})
			}
			if diff := cmp.Diff(x.all, total, cmp.AllowUnexported(sum{})); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
