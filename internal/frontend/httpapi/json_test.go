package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// A body has one reading: what one decoder would overlook is refused.
func TestStrictJSON(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	for name, body := range map[string]string{
		"a key twice":             `{"dir":"DIR","dir":"DIR"}`,
		"a key in another case":   `{"Dir":"DIR"}`,
		"both":                    `{"dir":"DIR","DIR":"/"}`,
		"a letter that folds":     `{"dir":"DIR","title":"x","titlſ":"y"}`,
		"an unknown key":          `{"dir":"DIR","trusted":true}`,
		"a NUL in a key":          `{"dir":"DIR","dir\u0000":"/"}`,
		"a key of a NUL":          `{"\u0000":"x","dir":"DIR"}`,
		"an escaped key twice":    `{"dir":"DIR","\u0064ir":"/"}`,
		"more after it":           `{"dir":"DIR"}{"dir":"/"}`,
		"nonsense after it":       `{"dir":"DIR"}]`,
		"a bare NUL after it":     "{\"dir\":\"DIR\"}\x00",
		"nothing":                 ` `,
		"a list":                  `[{"dir":"DIR"}]`,
		"another type":            `{"dir":["DIR"]}`,
		"broken off":              `{"dir":"DIR"`,
		"a comment":               `{"dir":"DIR"} // yes`,
		"deep":                    `{"dir":` + deep(100_000) + `}`,
		"deep in what is unknown": `{"dir":"DIR","x":` + deep(9_000) + `}`,
		"a folder that is not":    `{"dir":"relative"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b.refused(400, pawl.CodeInvalid, "POST", "/v1/sessions", strings.ReplaceAll(body, "DIR", b.dir))
		})
	}
	list, err := b.svc.List(t.Context(), pawl.Filter{})
	if err != nil || len(list.Sessions) > 0 {
		t.Errorf("something was made: %v, %v", list, err)
	}
	b.ask(201, "POST", "/v1/sessions", ` {"dir":"`+b.dir+`"} `, new(pawl.Session)) // and one that is right
}

// A body that is too large is refused, however it comes.
func TestLargeBodies(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	body := `{"dir":"` + b.dir + `","title":"` + strings.Repeat("x", 1<<20) + `"}`
	b.refused(413, api.CodeTooLarge, "POST", "/v1/sessions", body)
	s := "/v1/sessions/" + string(b.create())
	b.refused(413, api.CodeTooLarge, "PATCH", s, `{"title":"`+strings.Repeat("x", 1<<20)+`"}`)
	b.ask(204, "PATCH", s, `{"title":"short"}`, nil)
}

// An import that is refused says which line it is about, and leaves nothing.
func TestImportSaysWhere(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	created := `{"v":1,"session":"01JD0000000000000000000000","seq":1,"at":"2026-11-15T09:00:00Z","type":"session.created","body":{"dir":"/etc"}}` + "\n"
	event := func(kind, body string) string {
		return created + fmt.Sprintf(`{"v":1,"session":"01JD0000000000000000000000","seq":2,"at":"2026-11-15T09:00:00Z","type":%q,"body":%s}`, kind, body)
	}
	for text, want := range map[string]string{
		event("granted", `{}`):                                                       `line 2: decode event: unknown kind \"granted\"`,
		event("session.titled", `{"title":"x","grants":[]}`):                         `line 2: decode session.titled: unknown key \"grants\"`,
		event("prompted", `{"parts":[{"type":"text","text":"x"}],"delivery":"now"}`): `event 2 (prompted): delivery: unknown value \"now\"`,
		created + "{": "line 2: ",
	} {
		got := b.send(request{method: "POST", path: "/v1/sessions/import?dir=" + b.dir, body: text, header: map[string]string{"Content-Type": string(api.FormLines)}})
		if got.status != 400 || !strings.Contains(got.text, want) {
			t.Errorf("got %d %s, want %s", got.status, got.text, want)
		}
	}
	if list, err := b.svc.List(t.Context(), pawl.Filter{}); err != nil || len(list.Sessions) > 0 {
		t.Errorf("something was imported: %v, %v", list, err)
	}
}

// What lifts a bound is not for those who may run work, by whatever way it comes.
func TestSettingsNeedAdmin(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.create()
	path := "/v1/sessions/" + string(id) + "/prompts"
	model := strings.Replace(b.script(`{"text":"Done."}`), "script:", servicetest.TestModel, 1)
	for _, more := range []string{`,"trusted":true`, `,"mode":"yolo"`, `,"mode":"auto"`} {
		b.refuses(403, pawl.CodeDenied, request{method: "POST", path: path, token: "run", body: prompt(model, more)})
	}
	if got := b.send(request{method: "POST", path: path, token: "run", body: prompt(model, `,"mode":"guard"`)}); got.status != 202 {
		t.Errorf("a prompt that lifts nothing: %d %s", got.status, got.text)
	}
	b.finished(id)
}

// Work is refused outside of the directories that the server is for: also in a session
// that is there already, and in one that is brought.
func TestRoots(t *testing.T) { //nolint:paralleltest // it sets environment variables
	allowed := t.TempDir()
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Allow = func(_ api.Principal, dir string) error {
			if dir != allowed {
				return pawl.ErrDenied
			}
			return nil
		}
	})
	b.refused(403, pawl.CodeDenied, "POST", "/v1/sessions", `{"dir":"`+b.dir+`"}`)
	b.ask(201, "POST", "/v1/sessions", `{"dir":"`+allowed+`"}`, new(pawl.Session))
	s := "/v1/sessions/" + string(b.create()) // by somebody else, in another directory
	for _, q := range [][3]string{
		{"POST", "/prompts", prompt(b.script(`{"text":"Done."}`), "")}, {"PUT", "/prompts/1", `{"parts":[]}`},
		{"POST", "/asks/1/answer", `{"outcome":"answered"}`}, {"POST", "/resume", ""}, {"POST", "/compact", `{}`},
		{"POST", "/undo", `{}`}, {"POST", "/undo/preview", `{}`}, {"POST", "/fork", `{}`},
	} {
		b.refused(403, pawl.CodeDenied, q[0], s+q[1], q[2])
	}
	line := `{"v":1,"session":"01JD0000000000000000000000","seq":1,"at":"2026-11-15T09:00:00Z","type":"session.created","body":{"dir":"` + allowed + `"}}`
	b.refuses(403, pawl.CodeDenied, request{method: "POST", path: "/v1/sessions/import?dir=" + b.dir, body: line, header: map[string]string{"Content-Type": string(api.FormLines)}})
	b.ask(204, "DELETE", s, "", nil) // to be rid of it is no work
}
