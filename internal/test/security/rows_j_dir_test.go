//go:build sectest

package security

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// readsElsewhere: the store has a session of another directory than that of the server.
func readsElsewhere(a *attackEnv) {
	cmd := a.command("run", "--mode", "yolo", "--model", a.script(reply{"text": marker}), "go")
	cmd.Dir = a.home
	if out := harness.Wait(a, cmd); out.Code != 0 {
		a.Fatalf("%+v", out)
	}
	var id string
	cmd = a.command("session", "list", "--all", "--json")
	cmd.Dir = a.home
	var list []pawl.Session
	if err := strictjson.Decode([]byte(harness.Wait(a, cmd).Stdout), &list); err != nil || len(list) != 1 {
		a.Fatal(list, err)
	}
	id = string(list[0].ID)
	s := a.serve("--dir", a.dir)
	for _, path := range []string{"/v1/sessions", "/v1/sessions?dir=" + a.home, "/v1/sessions/" + id, "/v1/sessions/" + id + "/log", "/v1/usage"} {
		if status, text, _ := s.ask("GET", path, "", s.owner()); status == http.StatusOK && strings.Contains(text, id) {
			a.breach("%s shows %.200s", path, text)
		}
	}
	if len(a.breaches) > 0 {
		return // a command that is accepted would still run when the test ends
	}
	for path, body := range map[string]string{"/shell": `{"command":"touch ran"}`, "/fork": `{}`, "/resume": ""} {
		if status, _, _ := s.ask("POST", "/v1/sessions/"+id+path, body, s.owner()); status < 300 {
			a.breach("%s is accepted", path)
		}
	}
}

// swapsItsDirectory: the directory of a session is replaced by a link that leads
// out of --dir.
func swapsItsDirectory(a *attackEnv) {
	sub := filepath.Join(a.dir, "sub")
	a.ok(os.Mkdir(sub, 0o700))
	s := a.serve("--dir", a.dir)
	_, text, _ := s.ask("POST", "/v1/sessions", `{"dir":"`+sub+`"}`, s.owner())
	var made pawl.Session
	if err := strictjson.Decode([]byte(text), &made); err != nil {
		a.Fatal(err)
	}
	a.ok(os.Remove(sub))
	a.ok(os.Symlink(a.outside, sub))
	path := "/v1/sessions/" + string(made.ID)
	if status, _, _ := s.ask("POST", path+"/shell", `{"command":"touch ran"}`, s.owner()); status < 300 {
		a.settled("the command", func() bool {
			_, log, _ := s.ask("GET", path+"/log", "", s.owner())
			return strings.Contains(log, `"shell.ran"`)
		})
	}
	a.canaries()
}
