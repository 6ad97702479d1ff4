//go:build e2e

package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/mission"
)

// notices starts a server that remembers the notices that it gets.
func notices(t *testing.T) (address string, got func() []map[string]string) {
	t.Helper()
	var mu sync.Mutex
	var list []map[string]string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var n map[string]string
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		list = append(list, n)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []map[string]string {
		mu.Lock()
		defer mu.Unlock()
		return list
	}
}

// TestMissionWebhook checks that the webhook of the user, and not that of the project, gets the notice that a mission is sealed,
// and that a mission is sealed if the webhook cannot be reached.
func TestMissionWebhook(t *testing.T) {
	t.Parallel()
	users, got := notices(t)
	projects, others := notices(t)
	w := mission.New(t, harness.Binary(t, ""), map[string]string{"a.txt": "todo\n", ".pawl/config.json": `{"notify":{"webhook":"` + projects + `"}}`})
	w.As("worker", mission.Shell("echo done >a.txt"), "It is written.")
	w.As("reviewer", mission.Verdict(true, "goal"), "I have looked.")
	w.Lead(mission.Plan(mission.Task("T1", "Say done", []string{"a.txt"})), mission.Delegate(), "I wait.", mission.Seal(), "All is done.")
	run := func(address string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "pawl.json")
		if err := os.WriteFile(path, []byte(`{"small_model":"none","notify":{"webhook":"`+address+`"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := w.Command("--check", "grep -q done a.txt", "Have a.txt say done.")
		cmd.Env = append(cmd.Env, "PAWL_CONFIG="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	run(users)
	list := got()
	if len(list) != 1 || list[0]["event"] != "sealed" || list[0]["dir"] != w.Dir || len(list[0]["commit"]) != 40 || !strings.HasPrefix(list[0]["id"], list[0]["mission"]+"-") {
		t.Errorf("the user's webhook got %v", list)
	}
	if out := run("http://127.0.0.1:1/token"); !strings.Contains(out, "1 notice not delivered to notify.webhook: ") || strings.Contains(out, "token") {
		t.Error(out)
	}
	if out := run("http://example.org/token"); !strings.Contains(out, "no notices are sent: notify.webhook must start with https://") {
		t.Error(out)
	}
	if len(others()) != 0 || len(got()) != 1 {
		t.Errorf("the webhook of the project got %v, and the user's %v", others(), got())
	}
}

// TestMissionAtATerminal checks that the end of a mission is announced to a user who may look elsewhere.
func TestMissionAtATerminal(t *testing.T) {
	t.Parallel()
	w := mission.New(t, harness.Binary(t, ""), map[string]string{"a.txt": "todo\n"})
	w.As("worker", mission.Shell("echo done >a.txt"), "It is written.")
	w.As("reviewer", mission.Verdict(true, "goal"), "I have looked.")
	w.Lead(mission.Plan(mission.Task("T1", "Say done", []string{"a.txt"})), mission.Delegate(), "I wait.", mission.Seal(), "All is done.")
	terminal, seen := harness.RecordTerminal(t)
	cmd := w.Command("--check", "grep -q done a.txt", "Have a.txt say done.")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	err := cmd.Run()
	text := seen()
	if err != nil || !strings.Contains(text, "pawl: mission sealed\x1b\\") || !strings.Contains(text, "pawl: T1 merged as ") {
		t.Errorf("%v: the terminal was given %q", err, text)
	}
}
