package policy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// newHookEnv is a user with a configuration, and a directory with hooks of its own.
func newHookEnv(t *testing.T, user string, files map[string]string) (s *Safety, dir string) {
	t.Helper()
	base := t.TempDir()
	t.Setenv("PAWL_DATA", base+"/data")
	t.Setenv("PAWL_CONFIG", base+"/pawl.json")
	t.Setenv("PAWL_CACHE", base+"/cache")
	t.Setenv("PAWL_STORE", "")
	dir = t.TempDir()
	if user != "" {
		write(t, base+"/pawl.json", user)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const startHook = `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"true"}]}]}}`

// TestHookCommands: whose hooks there are in a directory. Those of the directory are
// there only if it is trusted.
func TestHookCommands(t *testing.T) { //nolint:paralleltest // it sets environment variables
	files := map[string]string{".pawl/config.json": startHook, ".claude/settings.json": startHook}
	for name, test := range map[string]struct {
		user    string
		files   map[string]string
		trusted bool
		want    string // layers and files
		fails   string
	}{
		"nobody's":                                    {},
		"the user's":                                  {user: startHook, want: "user pawl.json"},
		"of an untrusted folder":                      {user: startHook, files: files, want: "user pawl.json"},
		"of a trusted folder":                         {user: startHook, files: files, trusted: true, want: "project config.json, project settings.json, user pawl.json"},
		"the user's are no object":                    {user: `{"hooks":[]}`, fails: "pawl.json"},
		"the folder's are none":                       {files: map[string]string{".claude/settings.json": `{"hooks":7}`}, trusted: true, fails: ".claude/settings.json"},
		"of a folder that is not trusted, and broken": {files: map[string]string{".claude/settings.json": `{"hooks":7}`}},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newHookEnv(t, test.user, test.files)
			list, _, err := s.HookCommands(t.Context(), dir, pawl.Settings{Trusted: test.trusted})
			sameHooks(t, list, err, test.want, test.fails)
		})
	}
}

// TestManagedHooks: those of the administrator are there for everybody, after all
// others, and nobody can take them away; they can be all there are. What cannot be
// understood of them is an error.
func TestManagedHooks(t *testing.T) { //nolint:paralleltest // it sets environment variables
	files := map[string]string{".pawl/config.json": startHook, ".claude/settings.json": startHook}
	const all = "project config.json, project settings.json, user pawl.json, managed managed.json"
	key := json.RawMessage(`{"SessionStart":[{"hooks":[{"type":"command","command":"true"}]}]}`)
	for name, test := range map[string]struct {
		policy config.Managed
		user   string
		files  map[string]string
		want   string
		fails  string
	}{
		"beside those of others":             {policy: config.Managed{Hooks: key}, user: startHook, files: files, want: all},
		"alone":                              {policy: config.Managed{Hooks: key, OnlyManaged: true}, user: startHook, files: files, want: "managed managed.json"},
		"none, and none of others":           {policy: config.Managed{OnlyManaged: true}, user: startHook, files: files},
		"alone, and those of others broken":  {policy: config.Managed{Hooks: key, OnlyManaged: true}, user: `{"hooks":[]}`, files: map[string]string{".claude/settings.json": `{"hooks":7}`}, want: "managed managed.json"},
		"switched off by the user":           {policy: config.Managed{Hooks: key}, user: `{"hooks":{"SessionStart":[]}}`, want: "managed managed.json"},
		"of another form":                    {policy: config.Managed{Hooks: json.RawMessage(`[]`)}, fails: "managed.json"},
		"at an unknown event":                {policy: config.Managed{Hooks: json.RawMessage(`{"PreTool":[]}`)}, fails: "unknown event"},
		"with an unknown key":                {policy: config.Managed{Hooks: json.RawMessage(`{"Stop":[{"hooks":[{"command":"true","timeuot":1}]}]}`)}, fails: "timeuot"},
		"of a type that nobody knows":        {policy: config.Managed{Hooks: json.RawMessage(`{"Stop":[{"hooks":[{"type":"http","command":"true"}]}]}`)}, fails: "only command is supported"},
		"without a command":                  {policy: config.Managed{Hooks: json.RawMessage(`{"Stop":[{"hooks":[{}]}]}`)}, fails: "hook ignored"},
		"with an unknown key beside matcher": {policy: config.Managed{Hooks: json.RawMessage(`{"Stop":[{"matchr":"Bash","hooks":[]}]}`)}, fails: "matchr"},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newHookEnv(t, test.user, test.files)
			s.managed.known, s.managed.path, s.managed.value = true, config.ManagedFile, test.policy // as if it was read
			list, _, err := s.HookCommands(t.Context(), dir, pawl.Settings{Trusted: true})
			sameHooks(t, list, err, test.want, test.fails)
		})
	}
}

// TestHookRunner: the user's own commands run as they are, a project's in the
// sandbox: it writes nothing outside, and where there is no sandbox it does not run.
func TestHookRunner(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for name, test := range map[string]struct {
		layer   hook.Layer
		mode    string
		nobox   bool
		outside bool // it can write there
		inside  bool
		fails   bool
	}{
		"the user's":                        {layer: hook.LayerUser, mode: "guard", outside: true, inside: true},
		"the administrator's":               {layer: hook.LayerManaged, mode: "guard", outside: true, inside: true},
		"a project's":                       {layer: hook.LayerProject, mode: "guard", inside: true},
		"a project's in the mode plan":      {layer: hook.LayerProject, mode: "plan"},
		"anybody else's":                    {layer: "plugin", mode: "guard", inside: true},
		"a project's without a sandbox":     {layer: hook.LayerProject, mode: "guard", nobox: true, fails: true},
		"a project's where all may be done": {layer: hook.LayerProject, mode: "yolo", outside: true, inside: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := newHookEnv(t, "", nil)
			if test.nobox {
				s.detect = func(context.Context) (sandbox.Backend, sandbox.Report) {
					return sandbox.None{Why: "a test"}, sandbox.Report{}
				}
			}
			outside := t.TempDir()
			var out, complaints strings.Builder
			_, err := hookRunner{s}.Run(t.Context(), hook.Command{
				Args: []string{"sh", "-c", `echo x > in; echo x > "$0/out"; cat; echo "$PAWL_SESSION_ID"`, outside}, Dir: dir,
				Env: []string{"PATH=" + os.Getenv("PATH"), "PAWL_SESSION_ID=me"}, Stdin: []byte("told "), Stdout: &out, Stderr: &complaints,
				Session: "01JD0000000000000000000000", Mode: test.mode, Origin: hook.Origin{Layer: test.layer},
			})
			if (err != nil) != test.fails {
				t.Fatalf("the error is %v\n%s", err, &complaints)
			}
			if !test.fails && !strings.Contains(out.String(), "told me") {
				t.Errorf("it said %q", &out)
			}
			for path, want := range map[string]bool{filepath.Join(dir, "in"): test.inside, filepath.Join(outside, "out"): test.outside} {
				if _, err := os.Stat(path); (err == nil) != want {
					t.Errorf("%s: written %v, want %v\n%s", path, err == nil, want, &complaints)
				}
			}
		})
	}
}

// TestHookChanges: what a project's hook changes is checked and applied as what a command
// changes. What is not applied is an error that names the file.
func TestHookChanges(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir := newHookEnv(t, "", nil)
	_, err := hookRunner{s}.Run(t.Context(), hook.Command{
		Args: []string{"sh", "-c", `echo x > in; mkdir .vscode; echo '{}' > .vscode/tasks.json`}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")},
		Stdout: io.Discard, Stderr: io.Discard, Session: "01JD0000000000000000000000", Mode: "guard", Origin: hook.Origin{Layer: hook.LayerProject},
	})
	if err == nil || !strings.Contains(err.Error(), ".vscode") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "in")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".vscode")); err == nil {
		t.Error(".vscode was created")
	}
}

// TestHookRunnerEnds: with its time, or with its command, all ends that a hook
// has started.
func TestHookRunnerEnds(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir := newHookEnv(t, "", nil)
	command := hook.Command{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Mode: "guard", Origin: hook.Origin{Layer: hook.LayerUser}}

	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	command.Args = []string{"sleep", "1000"}
	if _, err := (hookRunner{s}).Run(ctx, command); !errors.Is(err, late) {
		t.Errorf("the error is %v", err)
	}

	command.Args = []string{"sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! > pid"}
	if _, err := (hookRunner{s}).Run(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("it still runs: %s", stat)
	}
}

// sameHooks compares hooks by where they come from, or why none exist.
func sameHooks(t *testing.T, list []hook.External, err error, want, fails string) {
	t.Helper()
	if fails != "" {
		if err == nil || !strings.Contains(err.Error(), fails) || !errors.Is(err, pawl.ErrInvalid) {
			t.Fatalf("the error is %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range list {
		got = append(got, string(x.Origin.Layer)+" "+filepath.Base(x.Origin.File))
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("there are %q, want %q", got, want)
	}
}
