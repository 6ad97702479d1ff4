//go:build e2e

package tui

import (
	"bytes"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

const (
	goodKey  = "sk-good-parrot-0123456789"
	wrongKey = "sk-wrong-parrot-9876543210"
)

// narrow is a terminal of 40 columns.
var narrow = Size{40, 24}

// newComer returns the Env of a user without configuration or keys. The provider requires goodKey.
func newComer(t *testing.T, replies ...reply) *Env {
	t.Helper()
	w := newShop(t)
	w.Server = modeltest.StartFake(t, fakeprovider.Config{Key: goodKey}, script(t, replies...)...)
	w.Config = map[string]any{"small_model": "none", "tui": map[string]any{"theme": "dark"}, "providers": map[string]any{
		"anthropic": map[string]any{"base_url": w.Server.URL},
	}}
	return w
}

// pick waits for the first screen, and chooses a source.
func (x *Terminal) pick(query string) {
	x.t.Helper()
	x.Await("Welcome to Pawl", "Demo")
	x.choose(query)
}

func (x *Terminal) choose(query string) {
	x.t.Helper()
	x.Until("keys are accepted", func(s Screen) bool { return s.Live("enter", "choose") })
	x.Type(query)
	x.Until("the list is filtered", func(s Screen) bool { return s.Has("› "+query) && s.Has("1/") })
	x.Keys("Enter")
}

// keyless fails the test if a key is on the screen or in a file, except keys.json.
func (x *Terminal) keyless() {
	x.t.Helper()
	seen := map[string][]byte{"the screen": []byte(x.Screen().String())}
	err := filepath.WalkDir(x.env.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "keys.json" {
			return nil //nolint:nilerr // files of the store come and go
		}
		seen[path], _ = os.ReadFile(path)
		return nil
	})
	if err != nil {
		x.t.Fatal(err)
	}
	for name, text := range seen {
		if bytes.Contains(text, []byte("-parrot-")) {
			x.t.Errorf("%s contains the key", name)
		}
	}
}

// TestFirstStart leads from no configuration to the first answer: with a key that is rejected, then with one that
// works. The key is stored and never shown.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	for _, size := range []Size{Normal, narrow} {
		t.Run(size.String(), func(t *testing.T) {
			t.Parallel()
			w := newComer(t, reply{Text: "I am here."})
			x := w.Start(size)
			x.pick("Anthropic")
			x.Await("Paste your API key", "keys.json")
			x.Paste(wrongKey)
			x.Await("••••")
			x.keyless()
			x.Keys("Enter")
			x.Await("rejected the key", "try again")
			if _, err := os.Stat(w.Data); err == nil {
				t.Error("something was stored before the key worked")
			}
			x.Paste(goodKey + "\n")
			x.Keys("Enter")
			x.Await("Ask Pawl to do something…", "Model: anthropic/")
			x.Say("Who is there?")
			x.Await("I am here.", "Done ·")
			x.keyless()
			x.Keys("C-d")
			x.ended()
			info, err := os.Stat(filepath.Join(w.Data, "keys.json"))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("keys.json: %v, %v", info, err)
			}

			x = w.Start(size)
			x.Await("Ask Pawl to do something…")
			x.Say("And now?")
			x.Await("I am here.", "Done ·")
		})
	}
}

// TestLeaveFirstStart checks that nothing is left behind by a user who leaves before anything is stored.
func TestLeaveFirstStart(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*Terminal){
		"esc":    func(x *Terminal) { x.Answer("esc", "close") },
		"ctrl-c": func(x *Terminal) { x.Keys("C-c") },
		"kill":   (*Terminal).Kill,
		"in the entry": func(x *Terminal) {
			x.choose("Anthropic")
			x.Await("Paste your API key")
			x.Type(goodKey)
			x.Keys("C-c")
		},
		"back, then esc": func(x *Terminal) {
			x.choose("Anthropic")
			x.Await("Paste your API key")
			x.Type(goodKey)
			x.Keys("Escape")
			x.Await("Welcome to Pawl")
			x.Keys("Escape")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newComer(t, reply{Text: "I am here."})
			x := w.Start(Normal)
			before := w.files()
			x.Await("Welcome to Pawl", "Demo")
			leave(x)
			if code := x.ended(); name != "kill" && code != 130 {
				t.Errorf("the exit code is %d", code)
			}
			if after := w.files(); after != before {
				t.Errorf("files before:\n%s\nand after:\n%s", before, after)
			}
			if len(w.Asked()) > 0 {
				t.Error("a request was sent")
			}
		})
	}
}

// files lists the files of the user with their contents.
func (w *Env) files() string {
	w.t.Helper()
	var b strings.Builder
	if err := filepath.WalkDir(w.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + "\n")
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// TestKeyFailures checks that failed tests of a key are explained, and that the key can be stored all the same.
func TestKeyFailures(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, c := range map[string]struct {
		replies []reply
		url     string
		want    []string
	}{
		"no credit":  {[]reply{{Fault: "402"}}, "", []string{"the account has no credit", "Add credit"}},
		"no network": {[]reply{{Text: "I am here."}}, closed.URL, []string{"cannot reach Anthropic", "Check your network"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newComer(t, c.replies...)
			if c.url != "" {
				w.Config["providers"] = map[string]any{"anthropic": map[string]any{"base_url": c.url}}
			}
			x := w.Start(Normal)
			x.pick("Anthropic")
			x.Await("Paste your API key")
			x.Paste(goodKey)
			x.Keys("Enter")
			x.Await(append(c.want, "ctrl+s store without a test")...)
			x.keyless()
			x.Keys("C-s")
			x.Await("Ask Pawl to do something…", "Model: anthropic/")
		})
	}
}

// TestKeyInEnvironment checks that a key in the environment is found, marked and tested.
func TestKeyInEnvironment(t *testing.T) {
	t.Parallel()
	w := newComer(t, reply{Text: "I am here."})
	w.Env = append(w.Env, "ANTHROPIC_API_KEY="+goodKey)
	x := w.Start(Normal)
	x.Await("ready to use", "key found: ANTHROPIC_API_KEY")
	x.pick("Anthropic")
	x.Await("Ask Pawl to do something…", "your default now")
	x.Say("Who is there?")
	x.Await("I am here.")
	if _, err := os.Stat(filepath.Join(w.Data, "keys.json")); err == nil {
		t.Error("the key of the environment was stored")
	}
	x.keyless()
}

// TestServersAtFirstStart checks the servers without a provider's key: one that runs on this machine, and one by
// its URL, which requires a key.
func TestServersAtFirstStart(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		w := newShop(t)
		w.Server = modeltest.StartFake(t, fakeprovider.Config{}, script(t, reply{Text: "I am here."})...)
		w.Config = map[string]any{"providers": map[string]any{"vllm": map[string]any{"base_url": w.Server.URL + "/v1"}}}
		x := w.Start(Normal)
		x.Await("running: vLLM")
		x.pick("vllm/")
		x.Await("Ask Pawl to do something…", "your default now")
		x.Say("Who is there?")
		x.Await("I am here.")
	})
	t.Run("by URL", func(t *testing.T) {
		t.Parallel()
		w := newComer(t, reply{Text: "I am here."})
		x := w.Start(Normal)
		x.pick("server")
		x.Await("Enter the base URL")
		x.Paste("ftp://nowhere")
		x.Keys("Enter")
		x.Await("invalid URL")
		x.Keys("C-u")
		x.Paste(w.Server.URL + "/v1")
		x.Keys("Enter")
		x.Await("Paste your API key")
		x.Paste(goodKey)
		x.Keys("Enter")
		x.Await("Ask Pawl to do something…", "Model: custom/")
		x.Say("Who is there?")
		x.Await("I am here.", "Done ·")
		x.keyless()
	})
}

// TestFirstStartDemo checks that the demonstration works without network, and is not kept as the default.
func TestFirstStartDemo(t *testing.T) {
	t.Parallel()
	w := newComer(t, reply{Text: "never"})
	x := w.Start(Normal)
	x.pick("Demo")
	x.Await("Ask Pawl to do something…")
	x.Say("Show me.")
	x.Await("Type /login to connect", "Done ·")
	if !strings.Contains(w.Read("pawl-demo.txt"), "demonstration") {
		t.Error("the demonstration has created no file")
	}
	x.Say("/undo")
	x.Answer("enter", "undo")
	x.Await("Undid 5 messages and 1 file change")
	if w.Read("pawl-demo.txt") != "" {
		t.Error("the demonstration was not undone")
	}
	if len(w.Asked()) > 0 {
		t.Error("the demonstration has sent a request")
	}
	x.Kill()
	x = w.Start(Normal)
	x.Await("Welcome to Pawl")
}

// TestLoginAndLogout checks the commands: a prompt without a key leaves no session behind, /login stores a key and
// /logout deletes it.
func TestLoginAndLogout(t *testing.T) {
	t.Parallel()
	w := newComer(t, reply{Text: "I am here."})
	w.Config["model"] = Model
	x := w.Start(Normal)
	ready(x)
	x.Say("Who is there?")
	x.Await("no API key for anthropic", "/login")
	if list := w.Run("session", "list", "--all", "--json"); strings.TrimSpace(list) != "[]" {
		t.Errorf("a session is left: %s", list)
	}
	x.Keys("Escape")
	x.Vanished("no API key for anthropic")
	x.Keys("C-u") // the prompt has returned to the composer
	x.Vanished("Who is there?")
	x.Say("/login Anthropic")
	x.Answer("enter", "choose")
	x.Await("Paste your API key")
	x.Paste(goodKey)
	x.Keys("Enter")
	x.Await("Model: anthropic/")
	x.Say("Who is there?")
	x.Await("I am here.", "Done ·")
	x.Say("/logout")
	x.Await("Delete a stored key", "Anthropic")
	x.Keys("Enter")
	x.Await("Deleted the Anthropic key from keys.json")
	x.Say("And now?")
	x.Await("no API key for anthropic")
	x.keyless()
}
