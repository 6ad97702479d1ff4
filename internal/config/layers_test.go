package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

func projectOf(text string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if name != ".pawl/config.json" {
			return nil, fmt.Errorf("asked for %s", name)
		}
		return []byte(text), nil
	}
}

// TestProject: a repository can say nothing but what makes pawl stricter. Rows
// A4, A5, E17.
func TestProject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, rules string
		ignored           []string
		fault             string
	}{
		{name: "rules", text: `{"permissions":{"rules":[{"kind":"net","decision":"deny"}]}}`, rules: `[{"kind":"net","decision":"deny"}]`},
		{name: "nothing", text: `{}`},
		{name: "comments and commas", text: "{ // ours\n\"$schema\": \"x\", \"permissions\": {\"rules\": [],},}", rules: `[]`},
		{name: "a comment that does not end", text: `{} /*`, fault: "EOF"},
		{name: "a key twice, one behind a comment", text: `{"permissions":{}, /* */ "permissions":{}}`, fault: `duplicate key`},
		{name: "too deep", text: strings.Repeat("[", maxProject), fault: "brackets"},
		{name: "no variable counts", text: `{"permissions":{"rules":["{env:HOME}"]}}`, rules: `["{env:HOME}"]`},
		{name: "a mode", text: `{"permissions":{"mode":"yolo","rules":[]}}`, rules: `[]`, ignored: []string{"permissions.mode"}},
		{name: "all that is the user's", text: `{"mode":"yolo","model":"m","small_model":"m","fallback":["m"],"providers":{"openai":{"base_url":"http://evil"}},"base_url":"x","proxy":"x","headers":{},"api_key":"x","telemetry":{"endpoint":"x"},"sandbox":{"network":["*"]},"env":{"A":"b"},"trust":true,"websearch":{},"lsp":{},"key_command":"x","statusline":"x","notify":"x","tui":{"keys":{"approve":["f5"]},"notify":"bell","theme":"x"},"mission":{"workers":32}}`,
			ignored: []string{"api_key", "base_url", "env", "fallback", "headers", "key_command", "lsp", "mission", "mode", "model", "notify", "providers", "proxy", "sandbox", "small_model", "statusline", "telemetry", "trust", "tui", "websearch"}},
		{name: "an unknown key", text: `{"hoooks":{}}`, fault: `unknown key "hoooks"`},
		{name: "another case", text: `{"Permissions":{"rules":[]}}`, fault: `unknown key "Permissions"`},
		{name: "another case within", text: `{"permissions":{"Mode":"yolo"}}`, fault: `unknown key "permissions.Mode"`},
		{name: "a key twice", text: `{"permissions":{},"permissions":{}}`, fault: `duplicate key`},
		{name: "a key twice within", text: `{"permissions":{"rules":[],"rules":[1]}}`, fault: `duplicate key`},
		{name: "null", text: `null`, fault: "null"},
		{name: "null within", text: `{"permissions":null}`, fault: "null"},
		{name: "a list", text: `[]`, fault: "cannot unmarshal"},
		{name: "no JSON", text: `x`, fault: "invalid literal"},
		{name: "empty", text: ``, fault: "unexpected EOF"},
		{name: "two", text: `{}{}`, fault: "after top-level value"},
		{name: "too large", text: `{}` + strings.Repeat(" ", maxProject), fault: "more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, ignored, err := LoadProject(projectOf(tt.text))
			if tt.fault != "" {
				if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			var keys []string
			for _, i := range ignored {
				if i.Why != "it can be set only in your own configuration" {
					t.Errorf("%+v", i)
				}
				keys = append(keys, i.Key)
			}
			if diff := cmp.Diff(tt.ignored, keys); diff != "" || err != nil || string(p.Rules) != tt.rules {
				t.Error(diff, err, string(p.Rules))
			}
		})
	}
	for _, none := range []error{fs.ErrNotExist, pawl.ErrNotFound} {
		if p, ignored, err := LoadProject(func(string) ([]byte, error) { return nil, none }); p.Rules != nil || ignored != nil || err != nil {
			t.Errorf("%v: %+v, %v", none, p, err)
		}
	}
	if _, _, err := LoadProject(func(string) ([]byte, error) { return nil, fs.ErrPermission }); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestManaged: a policy that others could have written is refused, not passed
// over. Row A20.
func TestManaged(t *testing.T) {
	t.Parallel()
	const good = `{"max_mode":"guard","rules":[{"kind":"net"}],"sandbox_required":true,"hooks":{"Stop":[]},"allow_only_managed_hooks":true}`
	owner := uint32(os.Geteuid()) //nolint:gosec // no user has a number below zero
	lay := func(t *testing.T, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "etc", "pawl", "managed.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil { //nolint:gosec // as in /etc
			t.Fatal(err)
		}
		return path
	}
	if m, err := loadManaged(lay(t, "// ours\n{\"max_mode\": \"ask\",}"), owner); err != nil || m.MaxMode != "ask" {
		t.Errorf("with a comment: %+v, %v", m, err)
	}
	m, err := loadManaged(lay(t, good), owner)
	if err != nil || m.MaxMode != "guard" || string(m.Rules) != `[{"kind":"net"}]` || !m.SandboxRequired || string(m.Hooks) != `{"Stop":[]}` || !m.OnlyManaged {
		t.Errorf("%+v, %v", m, err)
	}
	for name, spoil := range map[string]func(path string) error{
		"a file that the group may write":   func(path string) error { return os.Chmod(path, 0o664) },
		"a file that all may write":         func(path string) error { return os.Chmod(path, 0o646) },
		"a folder that the group may write": func(path string) error { return os.Chmod(filepath.Dir(path), 0o775) },
		"a folder above that all may write": func(path string) error { return os.Chmod(filepath.Dir(filepath.Dir(path)), 0o757) },
		"a link":                            func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) },
		"a link to nothing":                 func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/none", path)) },
		"a folder that is a link": func(path string) error {
			d := filepath.Dir(path)
			return errors.Join(os.Rename(d, d+"2"), os.Symlink(d+"2", d))
		},
		"a folder in the file's place": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
		"a file in the folder's place": func(path string) error {
			d := filepath.Dir(path)
			return errors.Join(os.RemoveAll(d), os.WriteFile(d, nil, 0o600))
		},
		"a folder that is a link to nothing": func(path string) error {
			d := filepath.Dir(path)
			return errors.Join(os.RemoveAll(d), os.Symlink("/none", d))
		},
	} {
		path := lay(t, good)
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if m, err := loadManaged(path, owner); !errors.Is(err, pawl.ErrDenied) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if m, err := loadManaged(lay(t, good), owner+1); !errors.Is(err, pawl.ErrDenied) || !strings.Contains(fault.HintOf(err), "chown root") {
		t.Errorf("somebody else's: %+v, %v", m, err)
	}
	for _, text := range []string{`null`, `[]`, `x`, ``, `{"max_modes":"ask"}`, `{"Max_mode":"ask"}`, `{"max_mode":"ask","max_mode":"yolo"}`, `{"sandbox_required":"yes"}`, `{"allow_only_managed_hooks":1}`, `{"allow_managed_hooks_only":true}`, `{"hooks":{},"hooks":{}}`, `{}` + strings.Repeat(" ", maxManaged)} {
		if m, err := loadManaged(lay(t, text), owner); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%.30q: %+v, %v", text, m, err)
		}
	}
	for _, path := range []string{"/none/pawl/managed.json", filepath.Join(filepath.Dir(lay(t, "")), "other.json")} {
		if m, err := loadManaged(path, owner); err != nil || m.Rules != nil || m.MaxMode != "" {
			t.Errorf("%s: %+v, %v", path, m, err)
		}
	}
}

// TestManagedStays: no variable moves the policy.
func TestManagedStays(t *testing.T) { //nolint:paralleltest // it sets environment variables
	path := filepath.Join(t.TempDir(), "managed.json")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PAWL_MANAGED", "PAWL_MANAGED_CONFIG", "PAWL_CONFIG", "PAWL_DATA", "XDG_CONFIG_DIRS"} {
		t.Setenv(name, path)
	}
	if m, err := LoadManaged(); err != nil || m.MaxMode != "" {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestSandboxKeys holds row C11: a path means what it says.
func TestSandboxKeys(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	u, _, err := decodeUser([]byte(`{"sandbox":{"network":["example.org","*.golang.org","localhost:8080"],"writable":["~/.cache/go-build","/srv/x/"],"readable":["~/src/lib","/srv/y"],"env":["GOFLAGS","_a1"],"hidden":["~/private","/srv/secret","*.pem"]}}`))
	want := Sandbox{
		Network:  []string{"example.org", "*.golang.org", "localhost:8080"},
		Writable: []string{"/home/u/.cache/go-build", "/srv/x"},
		Readable: []string{"/home/u/src/lib", "/srv/y"},
		Env:      []string{"GOFLAGS", "_a1"},
		Hidden:   []string{"/home/u/private", "/srv/secret", "*.pem"},
	}
	if diff := cmp.Diff(want, u.Sandbox); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for key, values := range map[string][]string{
		"writable": {"", "x", "./x", "../x", "~//etc", "~/../etc", "~/./x", "~/x/../../etc", "~root/x", "~", "~/", "/", "//", "//etc", "/srv/../etc", "/srv//x", "/srv/./x", "/home/u", "/srv/x\u0000"},
		"readable": {"", "x", "~/../etc", "~", "/", "/home/u", "/srv//x"},
		"hidden":   {"", "a/b", "../x", "~//etc", "~/../etc", "/srv/../etc", "[a"},
		"network":  {"", "*", "*.", "*.org", "http://example.org", "example.org/", "example.org:", "example.org:0", "example.org:99999999", "a b", "-a.org", "a-.org", "exa*mple.org", "*.*.org", "EXAMPLE.org", ".example.org", "example.org.", "exämple.org", "user@example.org", "[::1]"},
		"env":      {"", "A=b", "1A", "A-B", "A B", "*", "PATH\u0000"},
	} {
		for _, value := range values {
			if u, _, err := decodeUser(fmt.Appendf(nil, `{"sandbox":{%q:[%q]}}`, key, value)); err == nil {
				t.Errorf("%s %q: %+v", key, value, u.Sandbox)
			}
		}
	}
	for _, text := range []string{`{"sandbox":{"Network":[]}}`, `{"sandbox":{"off":true}}`, `{"sandbox":[]}`} {
		if u, _, err := decodeUser([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, u.Sandbox)
		}
	}
	t.Setenv("HOME", "")
	if _, _, err := decodeUser([]byte(`{"sandbox":{"writable":["~/x"]}}`)); err == nil {
		t.Error("a path from a home that is not known")
	}
}

// FuzzConfig: whatever a file holds, reading it is no fault, and a project's
// says nothing but rules.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `{"permissions":{"mode":"yolo","rules":[{"kind":"net"}]}}`, `{"max_mode":"ask","rules":[],"sandbox_required":true}`,
		`{"sandbox":{"network":["*.a.b:1"],"writable":["~/x","/y"],"env":["A"],"hidden":["*.pem"]}}`, `{"Mode":"yolo"}`, `{"a":1,"a":2}`,
		"// x\n{\"model\": \"m\", /* y */ \"providers\": {\"a\": {\"headers\": {\"b\": \"{env:C}\",},},},}", `[[[{"a":[`, `{"$schema":"x","modell":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Setenv("HOME", "/home/u")
	f.Fuzz(func(t *testing.T, text []byte) {
		if u, _, err := decodeUser(text); err == nil {
			for _, path := range u.Sandbox.Writable {
				if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
					t.Errorf("%q can be written", path)
				}
			}
		}
		if _, err := decodeManaged(text); err == nil && len(text) > maxManaged {
			t.Error("it is too large")
		}
		p, ignored, err := decodeProject(text)
		if err != nil && (p.Rules != nil || ignored != nil) {
			t.Errorf("%+v beside %v", p, err)
		}
		rest := p
		rest.Rules = nil
		if !cmp.Equal(rest, Project{}) {
			t.Errorf("a project says %+v", p)
		}
	})
}
