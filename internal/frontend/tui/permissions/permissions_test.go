package permissions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// kept are permissions that a test keeps.
type kept struct {
	list List
	err  error
}

func (k *kept) source() *Source {
	return &Source{
		List: func(_ context.Context, dir string) (List, error) {
			if dir != "/work/here" {
				return List{}, fmt.Errorf("another folder: %s", dir)
			}
			return List{k.list.Rules, slices.Clone(k.list.SavedAnswers)}, k.err
		},
		Revoke: func(id string) error {
			n := len(k.list.SavedAnswers)
			k.list.SavedAnswers = slices.DeleteFunc(k.list.SavedAnswers, func(g SavedAnswer) bool { return g.ID == id })
			if len(k.list.SavedAnswers) == n {
				return pawl.ErrNotFound
			}
			return nil
		},
	}
}

func some() *kept {
	return &kept{list: List{
		Rules:        []Rule{{`deny bash "rm *"`, "your configuration"}, {`ask read "**/.env"`, "built in"}},
		SavedAnswers: []SavedAnswer{{"aaa", `allow bash "go test *"`, "/work/here"}, {"bbb", "allow \x1b[2J", "session 1 in /work/here\u202e"}},
	}}
}

func opened(t *testing.T, k *kept) ui.Dialog {
	t.Helper()
	msg := Open(uitest.Shared(t, nil, "plain"), k.source(), "/work/here")()
	open, ok := msg.(ui.Open)
	if !ok {
		t.Fatalf("%#v", msg)
	}
	return open.Dialog
}

func TestView(t *testing.T) {
	t.Parallel()
	uitest.Golden(t, "some-80", ansi.Strip(opened(t, some()).View(80, 24)), 80)
	uitest.Golden(t, "some-40", ansi.Strip(opened(t, some()).View(40, 16)), 40)
	uitest.Golden(t, "none-80", ansi.Strip(opened(t, &kept{}).View(80, 24)), 80)
}

// TestRevoke checks that a saved answer is removed after a confirmation, and that a rule cannot be removed.
func TestRevoke(t *testing.T) {
	t.Parallel()
	k := some()
	d, sent := uitest.Press(opened(t, k), removeKey)
	open, ok := sent[len(sent)-1].(ui.Open)
	if !ok || len(k.list.SavedAnswers) != 2 {
		t.Fatalf("it is not asked before: %v", sent)
	}
	sure := open.Dialog.(*dialog.Sure)
	uitest.Golden(t, "sure-80", ansi.Strip(sure.View(80, 24)), 80)
	d, _ = uitest.Run(d, sure.Do)
	if diff := cmp.Diff([]SavedAnswer{some().list.SavedAnswers[1]}, k.list.SavedAnswers); diff != "" {
		t.Error(diff)
	}
	if view := d.View(80, 24); strings.Contains(view, "go test") {
		t.Errorf("it is still listed:\n%s", view)
	}
	_, sent = uitest.Press(d, "end", removeKey)
	if _, said := sent[len(sent)-1].(ui.Notice); !said || len(k.list.SavedAnswers) != 1 {
		t.Errorf("of a rule: %v", sent)
	}
}

// TestRevokeNotFound checks that revoking an answer that no longer exists shows an error.
func TestRevokeNotFound(t *testing.T) {
	t.Parallel()
	k := some()
	d := opened(t, k)
	k.list.SavedAnswers = nil
	_, sent := uitest.Press(d, removeKey)
	_, sent = uitest.Run(d, sent[len(sent)-1].(ui.Open).Dialog.(*dialog.Sure).Do)
	if failed, ok := sent[len(sent)-1].(ui.Failed); !ok || !errors.Is(failed.Err, pawl.ErrNotFound) {
		t.Errorf("%v", sent)
	}
}

// TestUnknown: what cannot be read is a failure that says what to do.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := uitest.Shared(t, nil, "plain")
	for name, cmd := range map[string]tea.Cmd{
		"another machine": Open(s, nil, "/work/here"), "broken": Open(s, (&kept{err: errors.New("no")}).source(), "/work/here"),
	} {
		if failed, ok := cmd().(ui.Failed); !ok || failed.Err == nil {
			t.Errorf("%s: no failure", name)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"esc", "enter"} {
		if d, _ := uitest.Press(opened(t, some()), key); d != nil {
			t.Errorf("%s does not close it", key)
		}
	}
}
