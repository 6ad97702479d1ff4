package mission

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
)

// TestBoard checks the text of a board, and that control characters in it are escaped.
func TestBoard(t *testing.T) {
	t.Parallel()
	at := func(m int) time.Time { return time.Unix(0, 0).Add(time.Duration(m) * time.Minute) }
	b := board{now: at(90), limits: pawl.Settings{MaxCost: pawl.MoneyOf(20), MaxTime: 12 * time.Hour}}
	b.Session, b.State, b.Team = pawl.Session{ID: "M"}, pawl.MissionWorking, make([]pawl.Session, 2)
	b.Usage = pawl.Usage{Input: 12_300, Cost: pawl.MoneyOf(1.5)}
	b.Mission = pawl.Mission{
		Order: pawl.MissionOrder{Goal: "make it \x1b[2Jfast"}, Began: at(0), Branch: "pawl/mission-m", Tip: "1a2b3c4d5e6f", Round: 1,
		Tasks: []pawl.TaskState{
			{Task: pawl.Task{ID: "T1", Title: "one"}, Phase: pawl.PhaseMerged, Attempt: 1, Worker: "W1", Began: at(0), Ended: at(5), Took: 5 * time.Minute, Usage: pawl.Usage{Input: 2000, Cost: pawl.MoneyOf(0.25)}},
			{Task: pawl.Task{ID: "T2", Title: "two\x1b[2J"}, Phase: pawl.PhaseRunning, Attempt: 2, Worker: "W2", Began: at(80), Ended: at(70), Took: 15 * time.Minute, Usage: pawl.Usage{Output: 10}, Why: pawl.ReturnCheck, Text: "it fails\nhere"},
			{Task: pawl.Task{ID: "T3", Title: "three"}, Phase: pawl.PhasePlanned},
		},
		Runs: []pawl.CheckRan{
			{Round: 1, CheckRun: pawl.CheckRun{Check: "go-test", On: "base"}},
			{Round: 1, CheckRun: pawl.CheckRun{Check: "go-test", On: "candidate", Code: 1}},
		},
		Gate: &pawl.GateResult{Round: 1, Faults: []pawl.GateFault{{Rule: "test-deleted", Item: "TestA", Text: "TestA is gone:\nput it back"}}},
	}
	want := `M  working  1h 30m
make it \u{1b}[2Jfast

TASK  STATE    ATTEMPT  TIME     COST   TOKENS  WORKER  TITLE
T1    merged   1        5m 00s   $0.25  2k      W1      one
T2    running  2        25m 00s  $0.00  10      W2      two\u{1b}[2J
T3    planned  -        -        -      -       -       three
T2 returned: check: it fails …

branch: pawl/mission-m at 1a2b3c4d
cost: $1.50, 12.3k tokens, 3 sessions (limits per turn: $20.00, 12h 00m)
check: go-test on the candidate: failed, exit code 1
problem: test-deleted: TestA is gone: …
`
	if diff := cmp.Diff(want, b.text()); diff != "" {
		t.Error(diff)
	}
}

// TestEndError checks the exit code for each way in which a mission can end.
func TestEndError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		board pawl.Board
		code  int
	}{
		{pawl.Board{State: pawl.MissionSealed}, 0},
		{pawl.Board{State: pawl.MissionBlocked, Mission: pawl.Mission{Blocked: &pawl.Blocked{Reason: "x"}}, Ended: &pawl.TurnFinished{Reason: pawl.ReasonEndTurn}}, cli.ExitGate},
		{pawl.Board{State: pawl.MissionStopped, Ended: &pawl.TurnFinished{Reason: pawl.ReasonBudget}}, cli.ExitLimit},
		{pawl.Board{State: pawl.MissionStopped, Ended: &pawl.TurnFinished{Reason: pawl.ReasonCanceled}}, cli.ExitCanceled},
		{pawl.Board{State: pawl.MissionStopped, Ended: &pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel}}, cli.ExitModel},
		{pawl.Board{State: pawl.MissionStopped, Ended: &pawl.TurnFinished{Reason: pawl.ReasonEndTurn}}, cli.ExitGate},
		{pawl.Board{State: pawl.MissionWorking}, cli.ExitGate},
	} {
		code := 0
		if err := endError(c.board); err != nil {
			code = err.(*cli.ExitError).Code //nolint:errorlint // endError makes it
		}
		if code != c.code {
			t.Errorf("%s, %+v: %d, want %d", c.board.State, c.board.Ended, code, c.code)
		}
	}
}

func TestCountLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a\n": 1, "\n\n": 2, "0123456789\n": 1, "0123456789x\n": 2, "日本語日本語\n": 2, "a\nb": 2} {
		if got := cli.CountLines(text, 10); got != want {
			t.Errorf("%q takes %d lines, want %d", text, got, want)
		}
	}
}

// TestWatchPiped checks the output without a terminal: the board once and then a line for each change, or with JSON the
// whole board for each change.
func TestWatchPiped(t *testing.T) {
	t.Parallel()
	b := board{}
	b.State, b.Mission.Order.Goal = pawl.MissionWorking, "make it fast"
	at := time.Date(2026, 11, 15, 12, 30, 1, 0, time.Local)
	for _, c := range []struct {
		json bool
		want []string
	}{
		{false, []string{"  working  0s", "make it fast", "", "cost: $0.00, 0 tokens, 1 session", "12:30:01  T1 returned: check failed: it fails", "12:30:01  sealed at 1a2b3c4d", ""}},
		{true, []string{"working", "working", "working", ""}},
	} {
		var out bytes.Buffer
		v := newWatcher(&out, nil, c.json)
		shown := v.show(b)
		for _, body := range []pawl.Body{pawl.TaskReturned{Task: "T1", Why: pawl.ReturnCheck, Text: "it fails"}, pawl.ReplyStarted{}, pawl.Sealed{Candidate: "1a2b3c4d5e"}} {
			shown = errors.Join(shown, v.printLine(pawl.Event{At: at, Body: body}))
			if changes(body) {
				shown = errors.Join(shown, v.show(b))
			}
		}
		lines := strings.Split(out.String(), "\n")
		for i, line := range lines {
			if c.json && line != "" {
				var got pawl.Board
				shown = errors.Join(shown, json.Unmarshal([]byte(line), &got))
				lines[i] = string(got.State)
			}
		}
		if diff := cmp.Diff(c.want, lines); diff != "" || shown != nil {
			t.Error(shown, diff)
		}
	}
}
