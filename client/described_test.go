package client_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
	"github.com/pawl-dev/pawl/internal/service/access/passkey/passkeytest"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// askOthers sends the requests that the client does not send.
func askOthers(t *testing.T, p *proof) {
	t.Helper()
	h := servicetest.Local(t)
	svc := h.Service
	s, err := svc.Create(t.Context(), pawl.NewSession{Dir: t.TempDir(), Title: "One"})
	if err != nil {
		t.Fatal(err)
	}
	if err := svc.Share(t.Context(), s.ID, []pawl.User{"ada"}); err != nil { // a note in the transcript
		t.Fatal(err)
	}
	tokens, ok := h.Store.(store.Tokens)
	if !ok {
		t.Fatal("the store has no tokens")
	}
	devices := &access.Access{Tokens: tokens}
	way := serve(t, svc, p, func(c *httpapi.Config) { c.Devices, c.URL = devices, "https://pawl.example.com" })
	secret, _, err := devices.NewLink(t.Context(), api.Principal{Scope: api.ScopeAdmin}, api.NewLink{})
	if err != nil {
		t.Fatal(err)
	}
	cookie, device, err := devices.Redeem(t.Context(), secret, "here")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string, header ...string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://pawl"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := way.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("Content-Type") == string(api.FormStream) { // it does not end
			in, line := bufio.NewReader(resp.Body), ""
			for err == nil && !strings.HasPrefix(line, "data: ") {
				line, err = in.ReadString('\n')
			}
		} else {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{
		"/v1/openapi.json",
		"/v1/sessions/" + string(s.ID) + "/log",
		"/v1/sessions/" + string(s.ID) + "/items",
		"/v1/sessions/" + string(s.ID) + "/items/note_3",
		"/v1/sessions/" + string(s.ID) + "/items/stream",
		"/v1/events",
		"/v1/asks",
		"/v1/devices",
		"/v1/sessions?limit=0",
		"/v1/usage?since=yesterday",
	} {
		ask(http.MethodGet, path, "")
	}
	askManage(t, ask)
	ask(http.MethodPost, "/v1/devices/links", `{"name":"phone","scope":"run"}`)
	page := []string{"Cookie", "__Host-pawl=" + cookie, "Sec-Fetch-Site", "same-origin"}
	ask(http.MethodPost, "/v1/passkeys/options", "", page...)
	ask(http.MethodPost, "/v1/passkeys", newPasskey(t, devices, cookie), page...)
	ask(http.MethodDelete, "/v1/devices/"+device.ID, "")
}

// newPasskey returns the request with which a browser adds a passkey.
func newPasskey(t *testing.T, devices *access.Access, cookie string) string {
	t.Helper()
	browser, err := devices.AuthDevice(t.Context(), cookie)
	if err != nil {
		t.Fatal(err)
	}
	site := passkey.Site{Host: "pawl.example.com", Origin: "https://pawl.example.com"}
	options, err := devices.PasskeyOptions(t.Context(), browser, site)
	if err != nil {
		t.Fatal(err)
	}
	return `{"credential":` + string(passkeytest.New(site.Host, site.Origin).Create(options)) + `}`
}

// askManage sends the requests that manage the machine.
func askManage(t *testing.T, ask func(method, path, body string, header ...string)) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "pawl.json")
	for name, value := range map[string]string{"PAWL_CONFIG": file, "PAWL_DATA": dir, "HOME": dir, "DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "", "ANTHROPIC_API_KEY": ""} {
		t.Setenv(name, value)
	}
	provider := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(provider.Close)
	text := fmt.Sprintf(`{"providers":{"anthropic":{"base_url":%q}},"mcp":{"files":{"command":"files"}}}`, provider.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hashed := func(method, path, format string) {
		t.Helper()
		hash, err := config.UserHash()
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodDelete {
			ask(method, path+"?hash="+hash, "")
			return
		}
		ask(method, path, fmt.Sprintf(format, hash))
	}
	const rule = `{"rule":{"tool":"bash","pattern":"git push","decision":"deny"},"hash":%q}`
	hashed(http.MethodPatch, "/v1/manage/config", `{"key":"permissions.mode","value":"ask","hash":%q}`)
	hashed(http.MethodPost, "/v1/manage/permissions/rules", rule)
	ask(http.MethodPut, "/v1/manage/providers/anthropic/key", `{"key":"sk-ant-0123456789abcdef"}`)
	ask(http.MethodPost, "/v1/manage/providers/anthropic/key/test", "")
	for _, path := range []string{"config", "providers", "permissions?dir=" + dir, "extensions?dir=" + dir} {
		ask(http.MethodGet, "/v1/manage/"+path, "")
	}
	ask(http.MethodDelete, "/v1/manage/providers/anthropic/key", "")
	hashed(http.MethodPost, "/v1/manage/permissions/rules/remove", rule)
	hashed(http.MethodPatch, "/v1/manage/mcp/files", `{"enabled":false,"hash":%q}`)
	hashed(http.MethodDelete, "/v1/manage/mcp/files", "")
	ask(http.MethodDelete, "/v1/manage/permissions/answers/"+saveAnswer(t, dir), "")
}

// saveAnswer saves that a person chose to always allow a command, and returns its ID.
func saveAnswer(t *testing.T, dir string) string {
	t.Helper()
	s, err := policy.Open()
	if err != nil {
		t.Fatal(err)
	}
	g := permission.Grant{Rule: permission.Rule{Tool: "bash", Kind: pawl.AccessExec, Pattern: "go test", Decision: permission.Allow}, Scope: permission.ScopeProject, Dir: dir, At: time.Now()}
	if err := s.Grants().Add(g); err != nil {
		t.Fatal(err)
	}
	return g.ID()
}

// TestSamplesAreAsDescribed checks that an event of each kind, with all keys, and the
// items that show it match the document.
func TestSamplesAreAsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/events.golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	d := readDescription(t)
	seen, items := map[pawl.Kind]bool{}, transcript.New()
	for line := range bytes.Lines(text) {
		var e pawl.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if !pawl.KindOf(e.Body).Durable() {
			e.Seq = 0
			if line, err = e.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
		seen[pawl.KindOf(e.Body)] = true
		if err := d.check("Event", line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		items.Apply(e)
		page, _, _ := transcript.Page(items.Items(), "", 1000)
		for _, it := range page {
			item, err := json.Marshal(it)
			if err := errors.Join(err, d.check("Item", item)); err != nil {
				t.Errorf("%s: %v", item, err)
			}
		}
	}
	for _, k := range pawl.Kinds() {
		if !seen[k] {
			t.Errorf("there is no sample of %s", k)
		}
	}
}

// TestDescriptionRefuses checks that the validation rejects wrong texts.
func TestDescriptionRefuses(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	if err := d.check("Accepted", []byte(`{"seq":1}`)); err != nil {
		t.Error(err)
	}
	for _, test := range []struct{ name, text string }{
		{"Accepted", `{}`},
		{"Accepted", `{"seq":"1"}`},
		{"Accepted", `{"seq":1,"more":2}`},
		{"Sessions", `{"sessions":null}`},
		{"UsageRows", `{"input":1}`},
		{"Fault", `{"error":{"code":"odd","message":"no"}}`},
		{"Answer", `{"outcome":"perhaps"}`},
		{"Part", `{"type":"text","path":"a"}`},
		{"Event", `{"v":1,"session":"s","at":"2026-11-15T02:03:04Z","type":"turn.started","body":{"prompt":1}}`},
		{"Event", `{"v":1,"session":"s","seq":1,"at":"2026-11-15T02:03:04Z","type":"turn.begun","body":{"prompt":1}}`},
		{"Event", `{"v":1,"session":"s","seq":1,"at":"2026-11-15T02:03:04Z","type":"turn.started","body":{"prompted":1}}`},
	} {
		if d.check(test.name, []byte(test.text)) == nil {
			t.Errorf("%s is a %s", test.text, test.name)
		}
	}
}
