package subagents

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

const commit = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"

// missionOf is a mission in the middle of its work.
func missionOf() pawl.Board {
	task := func(id, title string, after ...string) pawl.Task {
		return pawl.Task{ID: id, Title: title, After: after}
	}
	run := func(check, on string, code, passed, failed int) pawl.CheckRan {
		return pawl.CheckRan{CheckRun: pawl.CheckRun{Check: check, On: on, Code: code, Tests: &pawl.TestCount{Passed: passed, Failed: failed}}, Round: 1}
	}
	return pawl.Board{
		Session: pawl.Session{ID: "m", Mission: pawl.MissionWorking, TurnOpen: true}, State: pawl.MissionWorking,
		Usage: pawl.Usage{Input: 300_000, Output: 40_000, Cost: pawl.MoneyOf(1.2)},
		Team:  []pawl.Session{{ID: "w1", TurnOpen: true}, {ID: "w2", TurnOpen: true}},
		Mission: pawl.Mission{
			Order: pawl.MissionOrder{Goal: "Make it \x1b[2Jfast, and keep it so.\nMore."}, Began: noon, Branch: "pawl/m\u202e1", Tip: commit,
			Tasks: []pawl.TaskState{
				{Task: task("T1", "read the \x1b]0;clock only once, in all of the places where it is read now"), Phase: pawl.PhaseMerged, Attempt: 1, Commit: commit, Began: noon, Ended: noon.Add(95 * time.Second)},
				{Task: task("T2", "keep what was computed"), Phase: pawl.PhaseRunning, Attempt: 2, Worker: "w1", Began: noon.Add(time.Minute)},
				{Task: task("T3", "ask once"), Phase: pawl.PhaseRunning, Attempt: 1, Worker: "w2", Began: noon.Add(2 * time.Minute)},
				{Task: task("T4", "a table"), Phase: pawl.PhaseReturned, Attempt: 3, Returns: 3, Worker: "w0", Why: pawl.ReturnConflict, Text: "a\x07.go does not fit\nb.go"},
				{Task: task("T5", "the docs", "T2", "T3"), Phase: pawl.PhasePlanned},
				{Task: task("T6", "the tests"), Phase: pawl.PhaseQueued},
				{Task: task("T0", "old"), Phase: pawl.PhaseDropped, Attempt: 1},
			},
			Runs:    []pawl.CheckRan{run("build", "candidate", 0, 0, 0), run("go-test", "base", 0, 40, 0), run("go-test", "candidate", 1, 40, 2)},
			Reviews: []pawl.Reviewed{{Round: 1}},
			Gate:    &pawl.GateResult{Round: 1, Faults: []pawl.GateFault{{Rule: "check-failed", Item: "go-test", Text: "2 tests fail:\nmend them"}, {Rule: "test-deleted", Item: "TestA", Text: "put it back"}}},
		},
	}
}

// boardOf is a window over a mission that was read.
func boardOf(t *testing.T, themeName string) *Board {
	m := NewMission(uitest.Shared(t, nil, themeName))
	m.session = "m"
	board := missionOf()
	m.board, m.budget = &board, &pawl.Settings{MaxCost: pawl.MoneyOf(5), MaxTokens: 2_000_000}
	b := NewBoard(m.shared, m)
	b.now = func() time.Time { return noon.Add(4 * time.Minute) }
	b.watched = &watched{row{session: board.Team[0]}, "w1"}
	b.watched.tail.apply(pawl.Event{Body: pawl.CallStarted{Tool: "bash", Access: []pawl.Access{{Target: "go test \x1b[2J./..."}}}}, false)
	return b
}

func TestBoardGolden(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*Board){
		"working":  func(*Board) {},
		"returned": func(b *Board) { b.chosen = "T4" },
		"last":     func(b *Board) { b.chosen = "T0" },
		"reading":  func(b *Board) { b.mission.board = nil },
		"unread": func(b *Board) {
			b.mission.known(boardMsg{err: errors.New("the \x1b[2Jserver is gone")})
		},
		"empty": func(b *Board) {
			b.mission.board = &pawl.Board{State: pawl.MissionWorking, Mission: pawl.Mission{Order: pawl.MissionOrder{Goal: "go"}, Began: noon}}
			b.mission.budget = nil
		},
		"sealed": func(b *Board) {
			m := b.mission.board
			m.State, m.Mission.Gate, m.Mission.Sealed = pawl.MissionSealed, &pawl.GateResult{}, &pawl.Sealed{Candidate: commit}
			m.Mission.Tasks, m.Mission.Runs = m.Mission.Tasks[:1], m.Mission.Runs[:2]
		},
		"blocked": func(b *Board) {
			b.mission.board.State, b.mission.board.Mission.Blocked = pawl.MissionBlocked, &pawl.Blocked{Reason: "no key for the \x1b[2Jserver\nat all"}
		},
		"stopped": func(b *Board) {
			b.mission.board.State, b.mission.board.Ended = pawl.MissionStopped, &pawl.TurnFinished{Reason: pawl.ReasonBudget, Message: "it has cost $5.00"}
		},
	}
	for name, change := range changes {
		for _, c := range []struct {
			themeName     string
			width, height int
		}{{"dark", 80, 24}, {"plain", 80, 24}, {"plain", 120, 40}, {"plain", 34, 10}} {
			b := boardOf(t, c.themeName)
			change(b)
			uitest.Golden(t, fmt.Sprintf("board-%s-%s-%d", name, c.themeName, c.width), b.View(c.width, c.height), c.width)
		}
	}
}

// TestBoardFits: whatever the size, the window is within it and the chosen task is seen.
func TestBoardFits(t *testing.T) {
	t.Parallel()
	b := boardOf(t, "plain")
	for width := 20; width < 110; width += 7 {
		for height := 8; height < 40; height += 3 {
			for _, id := range []string{"T2", "T4", "T5", "T1", "T0"} {
				b.chosen = id
				text := b.View(width, height)
				if n := strings.Count(text, "\n") + 1; n > height {
					t.Fatalf("%dx%d: %d lines\n%s", width, height, n, text)
				}
				if !strings.Contains(text, "› "+id) {
					t.Fatalf("%dx%d: %s is not seen\n%s", width, height, id, text)
				}
			}
		}
	}
}

// TestBoardMoves: the bar goes through the phases in their order and stays on its
// task when that comes to another phase; only its worker is watched.
func TestBoardMoves(t *testing.T) {
	t.Parallel()
	b := boardOf(t, "plain")
	var got []string
	var d ui.Dialog = b
	for _, key := range []string{"up", "down", "down", "down", "down", "pgdown", "down", "up"} {
		d, _ = d.Update(uitest.Key(key))
		b.View(80, 24)
		got = append(got, b.chosen)
	}
	if diff := cmp.Diff([]string{"T2", "T3", "T4", "T6", "T5", "T0", "T0", "T1"}, got); diff != "" {
		t.Error(diff)
	}
	if b.watched != nil {
		t.Error("a worker is watched, and its task is not chosen")
	}
	b.chosen = "T6"
	b.mission.board.Mission.Tasks[5].Phase = pawl.PhaseMerged
	if task := b.task(); task == nil || task.Task.ID != "T6" {
		t.Errorf("the bar is on %v", task)
	}
	if d, _ = d.Update(uitest.Key("enter")); b.conversation != nil || b.fault == "" {
		t.Error("a task that nobody has worked on is read")
	}
	if d, _ = d.Update(uitest.Key("esc")); d != nil || b.ctx.Err() == nil {
		t.Error("it does not close")
	}
}

// control is a service that has one mission, and counts how often it is read.
type control struct {
	pawl.Service
	reads int
	board pawl.Board
	log   []pawl.Event
	err   error
}

func (c *control) Mission(context.Context, pawl.SessionID) (pawl.Board, error) {
	c.reads++
	return c.board, c.err
}

func (c *control) Get(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
	return pawl.Session{ID: id, Head: pawl.Seq(len(c.log)), TurnOpen: true}, nil
}

func (c *control) Events(_ context.Context, _ pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for _, e := range c.log[min(int(after), len(c.log)):] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestMissionRead: the mission is read when it changes, once for all that comes
// meanwhile, and not for each piece of a reply.
func TestMissionRead(t *testing.T) {
	t.Parallel()
	c := &control{board: missionOf(), log: eventsOf(pawl.SessionCreated{}, pawl.MissionStarted{}, pawl.Prompted{Settings: pawl.Settings{MaxCost: 7}})}
	m := NewMission(uitest.Shared(t, c, "plain"))
	if m.Open(pawl.Session{ID: "s"}, nil) != nil || m.On() || m.Short() != "" || m.Apply(pawl.Event{Body: pawl.TurnStarted{}}) != nil {
		t.Error("a session that is no mission's is one")
	}
	do := func(cmd tea.Cmd) {
		t.Helper()
		if cmd == nil {
			t.Fatal("it is not read")
		}
		m.Update(cmd())
	}
	read := m.Open(pawl.Session{ID: "m", Mission: pawl.MissionWorking}, nil)
	if m.Short() != "mission" {
		t.Errorf("%q before it is read", m.Short())
	}
	for _, b := range []pawl.Body{pawl.TaskMerged{}, pawl.Delta{}, pawl.CheckRan{}} {
		if m.Apply(pawl.Event{Body: b}) != nil {
			t.Error("two are read at once")
		}
	}
	do(read)
	if m.Short() != "mission 1/6" || m.budget == nil || m.budget.MaxCost != 7 {
		t.Errorf("%q, %v", m.Short(), m.budget)
	}
	again, _ := m.Update(pausedMsg{m, m.opened})
	do(again) // for what came meanwhile
	if more, _ := m.Update(pausedMsg{m, m.opened}); more != nil || c.reads != 2 {
		t.Errorf("it is read %d times", c.reads)
	}
	for _, b := range []pawl.Body{pawl.Delta{}, pawl.Progress{}, pawl.CallStarted{}, pawl.CallFinished{}} {
		if m.Apply(pawl.Event{Body: b}) != nil {
			t.Errorf("it is read after a %T", b)
		}
	}
	c.board.State = pawl.MissionBlocked
	do(m.Apply(pawl.Event{Body: pawl.Blocked{}}))
	if m.Short() != "mission blocked" {
		t.Errorf("%q", m.Short())
	}
	m.Update(pausedMsg{m, m.opened})
	c.err = errors.New("gone")
	late := m.Apply(pawl.Event{Body: pawl.Prompted{Settings: pawl.Settings{MaxCost: 9}}})
	do(late)
	if !strings.Contains(m.fault, "gone") || m.board == nil || m.budget.MaxCost != 9 {
		t.Errorf("%q, %v", m.fault, m.budget)
	}
	if m.refresh(m.at.Add(time.Hour)) != nil {
		t.Error("it is read again at once")
	}
	m.Update(pausedMsg{m, m.opened})
	if m.refresh(m.at) != nil || m.refresh(m.at.Add(time.Hour)) == nil {
		t.Error("it is not read after a while")
	}
	old := m.opened
	m.Open(pawl.Session{ID: "other", Mission: pawl.MissionWorking}, nil)
	m.Update(boardMsg{mission: m, opened: old, board: missionOf()})
	if m.board != nil {
		t.Error("the board of another session is taken")
	}
}

// TestBoardWatches: what the chosen worker did last is shown, and the result.
func TestBoardWatches(t *testing.T) {
	t.Parallel()
	c := &control{board: missionOf(), log: eventsOf(pawl.TurnStarted{}, pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "I begin."}}})}
	b := boardOf(t, "plain")
	b.shared.Service, b.watched = c, nil
	cmd := b.Shown()
	if cmd == nil {
		t.Fatal("nobody is watched")
	}
	c.log = append(c.log, eventsOf(pawl.CallStarted{Tool: "later"})...)
	c.log[2].Seq = 3
	msg := cmd()
	if m, ok := msg.(watchedMsg); !ok || len(m.events) != 3 {
		t.Fatalf("%+v", msg)
	}
	m := msg.(watchedMsg)
	m.session.Head, m.events = 2, m.events[:2]
	_, next := b.Update(m)
	if !strings.Contains(b.View(80, 24), "    I begin.") {
		t.Error(b.View(80, 24))
	}
	_, _ = b.Update(next())
	if !strings.Contains(b.View(80, 24), "    later") {
		t.Error(b.View(80, 24))
	}
	if b.Shown() != nil {
		t.Error("it is watched twice")
	}
	b.chosen = "T3"
	if b.Shown() == nil || b.watched.id != "w2" {
		t.Error("the other worker is not watched")
	}
	if _, cmd := b.Update(watchedMsg{&watched{id: "w1"}, m.session, m.events}); cmd != nil {
		t.Error("one whose task is not chosen is followed")
	}
}

// TestMissionTasks: the workers of a mission are named above the prompt while they
// work.
func TestMissionTasks(t *testing.T) {
	t.Parallel()
	k := New(uitest.Shared(t, nil, "plain"))
	apply := follow(k)
	for _, e := range eventsOf(
		pawl.Planned{Plan: pawl.Plan{Tasks: []pawl.Task{{ID: "T1", Title: "one"}, {ID: "T2", Title: "two"}}}},
		pawl.TaskStarted{Task: "T1", Attempt: 1, Worker: "a"}, pawl.TaskStarted{Task: "T2", Attempt: 1, Worker: "b"}, pawl.TaskStarted{Task: "T3", Attempt: 1, Worker: "c"},
		pawl.TaskReturned{Task: "T2", Attempt: 1}, pawl.TaskMerged{Task: "T3", Attempt: 1}, pawl.ReviewStarted{Round: 1, Reviewer: "d"}, pawl.ReviewStarted{Round: 1, Reviewer: "e"}, pawl.Reviewed{Round: 1, Reviewer: "e"},
	) {
		apply(e)
	}
	var got []string
	for _, w := range k.Working() {
		got = append(got, w.Agent+" "+w.Title)
	}
	if diff := cmp.Diff([]string{"worker T1 one", "reviewer review of round 1"}, got); diff != "" {
		t.Error(diff)
	}
	if apply(pawl.Event{Seq: 99, Body: pawl.TurnFinished{}}); len(k.Working()) > 0 {
		t.Errorf("%d work after the turn", len(k.Working()))
	}
}
