package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// pauseBefore is how long nothing must be typed before a prompt takes keys.
const pauseBefore = 400 * time.Millisecond

// answers is a service that records answers.
type answers struct {
	pawl.Service
	given   []pawl.Answer
	trusted int
}

func (s *answers) Answer(_ context.Context, _ pawl.SessionID, _ pawl.Seq, a pawl.Answer) error {
	s.given = append(s.given, a)
	return nil
}

func (s *answers) Trust(context.Context, string, string) error {
	s.trusted++
	return nil
}

func (s *answers) Look(context.Context, string) (pawl.Project, error) { return pawl.Project{}, nil }

// user types, and knows by the rule whether the open prompt has the keyboard. Time is virtual.
type user struct {
	t    *testing.T
	rand *rand.Rand
	app  *app
	svc  *answers
	msgs chan tea.Msg
	seq  pawl.Seq

	open    ui.Dialog // on top, after the last step
	since   time.Time // when it opened, or when the last key was pressed
	engaged bool      // it was given the keyboard on purpose
	chosen  int       // answers that were chosen
	failed  string    // how a prompt was answered by accident
}

func newUser(t *testing.T, seed uint64) *user {
	t.Helper()
	svc := &answers{}
	a := newApp(uitest.Shared(t, svc, "dark"), Config{Env: []string{}})
	a.session = pawl.Session{ID: "s"}
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return &user{t: t, rand: rand.New(rand.NewPCG(seed, 1)), app: a, svc: svc, msgs: make(chan tea.Msg, 10000)} //nolint:gosec // a seed makes it repeatable
}

// update gives the app a message and runs the command that results.
func (u *user) update(msg tea.Msg) {
	_, cmd := u.app.Update(msg)
	u.app.View()
	u.perform(cmd)
}

// perform runs a command as the program does.
func (u *user) perform(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		defer func() { _ = recover() }() // the service of the test has only what prompts use
		u.msgs <- cmd()
	}()
}

// settle handles all messages that have come.
func (u *user) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-u.msgs:
			if many := uitest.Batched(msg); many != nil {
				for _, c := range many {
					u.perform(c)
				}
			} else if msg != nil {
				u.update(msg)
			}
		default:
			return
		}
	}
}

// wait waits, in steps in which messages are handled.
func (u *user) wait(d time.Duration) {
	for ; d > 0; d -= 20 * time.Millisecond {
		time.Sleep(min(d, 20*time.Millisecond)) // virtual
		u.settle()
	}
}

// prompts opens something that asks.
func (u *user) prompts() {
	u.seq++
	rule := []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"make *","decision":"allow"}`)}
	asks := []pawl.Ask{
		{Kind: pawl.AskPermission, Title: "Run command", Risk: "high", Command: "make all", Text: "Run this command?\n  | make all\n", Offer: rule},
		{Kind: pawl.AskPermission, Ran: true, Title: "Apply changes", Text: "Apply?\nChange\n  | +x\n"},
		{Kind: pawl.AskLoop, Text: "again and again"},
		{Kind: pawl.AskQuestion, Questions: []pawl.Question{{Header: "h", Question: "Which?", Options: []pawl.Option{{Label: "A"}, {Label: "B"}}}}},
	}
	switch n := u.rand.IntN(len(asks) + 2); {
	case n < len(asks):
		u.perform(u.app.queue.Apply(pawl.Event{Session: "s", Seq: u.seq, Turn: 1, Body: pawl.Asked{Ask: asks[n]}}))
		u.perform(u.app.syncAsks())
		u.app.View()
	case n == len(asks):
		u.update(ui.Open{Dialog: dialog.NewTrust(u.app.shared, pawl.Project{Dir: "/p", Trust: pawl.TrustInfo{State: "unknown", Parts: []string{"hook x"}}})})
	default:
		u.update(ui.Failed{Err: errors.New(strings.Repeat("it failed ", 20))})
	}
	u.settle()
}

// typed are the keys of the streams: those that answer are frequent.
var typed = []string{
	"y", "a", "n", "w", "e", "d", "1", "2", "3", "4", "5", "enter", "enter", "enter", "esc", "tab", "up", "down", "space", "backspace", "x", "Y", "日", "q", "/", "ctrl+j",
}

// press presses a key. An answer is allowed only if the prompt has the keyboard, and only by a key
// that chooses.
func (u *user) press(name string) {
	u.t.Helper()
	u.follow()
	focused := u.open != nil && (u.engaged || time.Since(u.since) >= pauseBefore)
	draft := !u.app.editor.Empty()
	allowed := focused && (u.engaged || !draft || name == "esc") && strings.Contains("enter esc 1 2 3 4 5", name)
	if focused && (name == "up" || name == "down" || name == "tab") || name == "tab" && u.open != nil {
		u.engaged = true
	}
	before := len(u.svc.given) + u.svc.trusted
	var k tea.KeyPressMsg
	if k = press(name); name == "space" {
		k = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	u.update(k)
	u.settle()
	switch got := len(u.svc.given) + u.svc.trusted - before; {
	case got > 1, got == 1 && !allowed:
		u.failed = fmt.Sprintf("%s answered; focused %v, draft %v, engaged %v", name, focused, draft, u.engaged)
	default:
		u.chosen += got
	}
	if u.app.composing() {
		u.since, u.engaged = time.Now(), false
	} else if focused && (!draft || allowed) { // the key was for the prompt
		u.engaged = true
	}
}

// follow notes which prompt is open.
func (u *user) follow() {
	var top ui.Dialog
	if n := len(u.app.dialogs); n > 0 {
		top = u.app.dialogs[n-1]
	}
	if top != u.open {
		u.open, u.since, u.engaged = top, time.Now(), false
	}
}

// TestKeyStreams checks that prompts that open while the user types are never answered by accident: of
// 1,000 streams of keys, no key answers a prompt that does not have the keyboard, and no letter answers
// at all.
func TestKeyStreams(t *testing.T) {
	t.Parallel()
	streams, chosen := 1000, 0
	if testing.Short() {
		streams = 100
	}
	for seed := range streams {
		synctest.Test(t, func(t *testing.T) { chosen += stream(t, uint64(seed)) })
	}
	if chosen == 0 {
		t.Error("no prompt was ever answered: the streams check nothing")
	}
	t.Logf("%d prompts were answered, all on purpose", chosen)
}

// stream types a stream of keys while prompts open, and returns how many were answered.
func stream(t *testing.T, seed uint64) int {
	t.Helper()
	u := newUser(t, seed)
	for i := 0; i < 60 && u.failed == ""; i++ {
		switch n := u.rand.IntN(20); {
		case n == 0:
			u.prompts()
		case n < 4:
			u.wait(time.Duration(u.rand.IntN(900)) * time.Millisecond)
		default:
			u.wait(time.Duration(u.rand.IntN(120)) * time.Millisecond)
			u.press(typed[u.rand.IntN(len(typed))])
		}
		u.follow()
	}
	time.Sleep(time.Minute) // virtual: the timers end
	if u.failed != "" {
		t.Errorf("stream %d: %s", seed, u.failed)
	}
	return u.chosen
}
