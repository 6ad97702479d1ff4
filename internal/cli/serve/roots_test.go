package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// TestAdoptsItsOwn checks that a server resumes interrupted sessions of its directories only, and that a call does not
// run in a directory that was replaced by a link.
func TestAdoptsItsOwn(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("PAWL_DATA", filepath.Join(home, "data"))
	root, outside := filepath.Join(home, "root"), filepath.Join(home, "outside")
	sub, link := filepath.Join(root, "sub"), filepath.Join(root, "link")
	for _, err := range []error{os.MkdirAll(sub, 0o700), os.Mkdir(outside, 0o700), os.Symlink(outside, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(home, "s.jsonl")
	if err := os.WriteFile(script, []byte(`{"calls":[{"name":"bash","input":{"command":"touch ran"}}]}`+"\n"+`{"text":"Done."}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := openLocal(t.Context(), access.Roots{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ids := map[pawl.SessionID]string{"01JD0000000000000000000001": sub, "01JD0000000000000000000002": outside, "01JD0000000000000000000003": link, "01JD0000000000000000000004": filepath.Join(root, "gone")}
	for id, dir := range ids {
		var events []pawl.Event
		for _, b := range []pawl.Body{
			pawl.SessionCreated{Dir: dir},
			pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Mode: "yolo", Model: "script:" + script}},
			pawl.TurnStarted{Prompt: 2},
		} {
			events = append(events, pawl.Event{Session: id, At: time.Now(), Body: b})
		}
		if _, err := n.App.Store.Append(t.Context(), id, 0, events...); err != nil {
			t.Fatal(err)
		}
	}
	if err := adoptAll(t.Context(), n.App, slog.New(slog.DiscardHandler), func(dir string) error { return allowDir(access.Roots{root}, dir) }); err != nil {
		t.Fatal(err)
	}
	if err := n.App.Runner.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, dir := range ids {
		row, err := n.App.Get(t.Context(), id)
		if err != nil || row.TurnOpen == (dir == sub) {
			t.Errorf("%s: the turn is open: %t, %v", dir, row.TurnOpen, err)
		}
	}
	if _, err := os.Stat(filepath.Join(sub, "ran")); err != nil {
		t.Error(err)
	}

	// One that is resumed all the same does nothing there.
	if err := n.App.Resume(t.Context(), "01JD0000000000000000000003"); err != nil {
		t.Fatal(err)
	}
	if err := n.App.Runner.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "ran")); err == nil {
		t.Error("a call ran outside of the roots")
	}
}
