//go:build sectest

package security

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// tokenServer is a server in this process with two tokens of one user, and a session of theirs.
type tokenServer struct {
	*served
	h    servicetest.Harness
	id   pawl.SessionID
	path string
}

// run and admin are the headers of the tokens.
var (
	run   = as{"Authorization": "Bearer run"}
	admin = as{"Authorization": "Bearer admin"}
)

func (a *attackEnv) tokens(acc *access.Access) *tokenServer {
	a.Helper()
	h := servicetest.Local(a.T)
	row, err := h.Service.Create(a.Context(), pawl.NewSession{Dir: a.dir, Owner: "ada"})
	if err != nil {
		a.Fatal(err)
	}
	return &tokenServer{a.scoped(h.Service, acc), h, row.ID, "/v1/sessions/" + string(row.ID)}
}

// prompt is the body of a prompt for a model that anybody may use.
func (s *tokenServer) prompt(more string, calls ...call) string {
	s.a.Helper()
	path := strings.TrimPrefix(s.a.script(append(replies(calls...), reply{"text": "x"}, reply{"text": "x"}, reply{"text": "x"})...), "script:")
	return fmt.Sprintf(`{"parts":[{"type":"text","text":"go"}],"model":%q%s}`, servicetest.TestModel+path, more)
}

// must sends a request that has to succeed, and returns the response.
func (s *tokenServer) must(method, path, body string, header as) string {
	s.a.Helper()
	status, text, _ := s.ask(method, path, body, header)
	if status >= 300 {
		s.a.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// idle waits until the session is.
func (s *tokenServer) idle(path string) {
	s.a.Helper()
	s.a.settled("an idle session", func() bool {
		text := s.must("GET", path, "", admin)
		return strings.Contains(text, `"turn_open":false`) && strings.Contains(text, `"queued":0`)
	})
}

// takesPart: an admin works in mode yolo, and has more queued. A token of the same user
// that may only run work takes part in it.
func takesPart(how func(s *tokenServer, queued string)) func(*attackEnv) {
	return func(a *attackEnv) {
		s := a.tokens(new(access.Access))
		s.must("POST", s.path+"/prompts", s.prompt(`,"mode":"yolo"`, bash("until [ -e go ]; do sleep 0.01; done")), admin)
		queued := s.must("POST", s.path+"/prompts", s.prompt(`,"mode":"yolo","delivery":"queue"`), admin)
		s.a.settled("the call", func() bool { return strings.Contains(s.must("GET", s.path+"/log", "", admin), `"call.started"`) })
		how(s, strings.Trim(strings.TrimPrefix(strings.TrimSpace(queued), `{"seq":`), "}"))
	}
}

func (s *tokenServer) release() {
	s.a.write("go", "")
	s.idle(s.path)
}

func steersYolo(s *tokenServer, _ string) {
	s.ask("POST", s.path+"/prompts", s.prompt(`,"mode":"guard","delivery":"steer"`), run)
	s.release()
	if strings.Contains(s.must("GET", s.path+"/log", "", admin), `"injected"`) {
		s.a.breach("its words are in a turn in mode yolo")
	}
}

func rewordsYolo(s *tokenServer, queued string) {
	s.ask("PUT", s.path+"/prompts/"+queued, `{"parts":[{"type":"text","text":"evil"}]}`, run)
	s.release()
	log := s.must("GET", s.path+"/log", "", admin)
	if strings.Contains(log, `"evil"`) && strings.Count(log, `"reason":"end_turn"`) == 2 {
		s.a.breach("its words were worked on in mode yolo")
	}
}

func commandsYolo(s *tokenServer, _ string) {
	s.release()
	s.ask("POST", s.path+"/shell", `{"command":"touch evil"}`, run)
	s.idle(s.path)
	if s.a.exists("evil") {
		s.a.breach("its command ran in mode yolo")
	}
}

func forksYolo(s *tokenServer, _ string) {
	s.release()
	text := s.must("POST", s.path+"/fork", `{}`, run)
	fork := "/v1/sessions/" + text[len(`{"id":"`):len(`{"id":"`)+26]
	s.ask("POST", fork+"/shell", `{"command":"touch evil"}`, run)
	s.idle(fork)
	if s.a.exists("evil") {
		s.a.breach("its command ran in mode yolo")
	}
}

// resumesYolo: a process died during a turn of an admin.
func resumesYolo(a *attackEnv) {
	s := a.tokens(new(access.Access))
	model := servicetest.TestModel + strings.TrimPrefix(a.script(replies(bash("touch evil"))...), "script:")
	bodies := []pawl.Body{
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, By: pawl.Actor{User: "ada", Token: "of ada", Scope: "admin"}, Settings: pawl.Settings{Mode: "yolo", Model: model}},
		pawl.TurnStarted{Prompt: 2},
	}
	for i, b := range bodies {
		if _, err := s.h.Store.Append(a.Context(), s.id, pawl.Seq(i+1), pawl.Event{Session: s.id, At: time.Now(), Body: b}); err != nil {
			a.Fatal(err)
		}
	}
	if status, _, _ := s.ask("POST", s.path+"/resume", "", run); status < 300 {
		s.idle(s.path)
	}
	if a.exists("evil") {
		a.breach("it was resumed in mode yolo")
	}
}

// answersItself: the token starts work that is asked for, and says yes.
func answersItself(a *attackEnv) {
	s := a.tokens(new(access.Access))
	s.must("POST", s.path+"/prompts", s.prompt(`,"mode":"ask"`, bash("touch evil")), run)
	var ask string
	a.settled("the question", func() bool {
		for line := range strings.Lines(s.must("GET", s.path+"/log", "", run)) {
			if strings.Contains(line, `"type":"asked"`) {
				_, rest, _ := strings.Cut(line, `"seq":`)
				ask, _, _ = strings.Cut(rest, ",")
			}
		}
		return ask != ""
	})
	s.ask("POST", s.path+"/asks/"+ask+"/answer", `{"outcome":"answered"}`, run)
	s.ask("POST", s.path+"/asks/"+ask+"/answer", `{"outcome":"denied"}`, run) // which it may
	s.idle(s.path)
	if a.exists("evil") {
		a.breach("it allowed its own command")
	}
}

func namesAMode(a *attackEnv) {
	s := a.tokens(new(access.Access))
	for _, mode := range []string{"auto", "yolo"} {
		if status, _, _ := s.ask("POST", s.path+"/prompts", s.prompt(`,"delivery":"queue","mode":"`+mode+`"`), run); status < 300 {
			a.breach("it works in mode %s", mode)
		}
	}
	s.idle(s.path)
}

func namesNoMode(a *attackEnv) {
	s := a.tokens(&access.Access{DefaultMode: func() (string, error) { return "yolo", nil }}) // as that of the test's policy
	if status, _, _ := s.ask("POST", s.path+"/prompts", s.prompt("", bash("touch evil")), run); status < 300 {
		s.idle(s.path)
	}
	if a.exists("evil") {
		a.breach("it works in mode yolo")
	}
}

func startsAMission(a *attackEnv) {
	s := a.tokens(new(access.Access))
	for _, settings := range []string{`{"mode":"yolo"}`, `{"mode":"auto"}`, `{"trusted":true}`} {
		status, text, _ := s.ask("POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":"x"},"settings":%s}`, a.dir, settings), run)
		if status != http.StatusForbidden {
			a.breach("a mission with %s: %d %s", settings, status, text)
		}
	}
}

// readsByScript: a file that is no script is quoted in the error.
func readsByScript(a *attackEnv) {
	s := a.tokens(new(access.Access))
	secret := filepath.Join(a.home, "secret.json")
	a.write(secret, `{"password":"`+marker+`"}`)
	for _, header := range []as{run, admin} {
		_, text, _ := s.ask("POST", s.path+"/prompts", fmt.Sprintf(`{"parts":[{"type":"text","text":"x"}],"mode":"guard","model":%q}`, "script:"+secret), header)
		if strings.Contains(text, "password") || strings.Contains(text, marker) {
			a.breach("%s", text)
		}
	}
}

func readsByChild(a *attackEnv) {
	s := a.tokens(new(access.Access))
	secret := filepath.Join(a.home, "secret.json")
	a.write(secret, `{"password":"`+marker+`"}`)
	a.write("s.jsonl", fmt.Sprintf(`{"calls":[{"name":"task","input":{},"script":%q}]}`, secret))
	_, text, _ := s.ask("POST", s.path+"/prompts", fmt.Sprintf(`{"parts":[{"type":"text","text":"x"}],"mode":"guard","model":%q}`, "script:"+filepath.Join(a.dir, "s.jsonl")), admin)
	if strings.Contains(text, "password") {
		a.breach("%s", text)
	}
}

// goesOnWithScript: who runs the server has used a script in the session.
func goesOnWithScript(a *attackEnv) {
	s := a.tokens(new(access.Access))
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "x"}}, Settings: pawl.Settings{Model: a.script(replies()...), Mode: "guard"}}
	if _, err := s.h.Service.Send(a.Context(), s.id, p); err != nil {
		a.Fatal(err)
	}
	s.idle(s.path)
	for path, body := range map[string]string{"/prompts": `{"parts":[{"type":"text","text":"x"}],"mode":"guard"}`, "/compact": `{}`} {
		if status, _, _ := s.ask("POST", s.path+path, body, run); status < 300 {
			a.breach("%s: the script is used", path)
		}
		s.idle(s.path)
	}
}
