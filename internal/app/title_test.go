package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestSessionTitle checks that sessions of an App get titles.
func TestSessionTitle(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HOME", "PAWL_DATA", "XDG_CONFIG_HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("PAWL_STORE", "")
	t.Setenv("PAWL_CONFIG", "")
	script := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(script, []byte(`{"text":"Hello."}`+"\n"+`{"agent":"title","text":"A greeting"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := a.Create(t.Context(), pawl.NewSession{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(t.Context(), s.ID, pawl.Prompt{
		Parts: pawl.Parts{pawl.Text{Text: "hi"}}, Settings: pawl.Settings{Model: "script:" + script},
	}); err != nil {
		t.Fatal(err)
	}
	for e, err := range a.Events(t.Context(), s.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := e.Body.(pawl.SessionTitled); ok {
			if b.Title != "A greeting" || b.Model != "script:"+script {
				t.Errorf("got %+v", b)
			}
			return
		}
	}
}
