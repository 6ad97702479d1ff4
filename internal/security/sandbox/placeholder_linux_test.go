package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestPlaceholders: sandboxes share them, within a process and between processes,
// and the last one removes them. In between they always exist.
func TestPlaceholders(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	path := filepath.Join(t.TempDir(), ".claude")
	hold := func() {
		t.Helper()
		if held, err := holdPlaceholder(path); !held || err != nil {
			t.Fatal(held, err)
		}
	}
	there := func(want bool, why string) {
		t.Helper()
		if exists(path) != want {
			t.Error(why)
		}
	}
	hold()
	hold()
	releasePlaceholder(path)
	Release()
	there(true, "it is gone while another relies on it")
	releasePlaceholder(path)
	there(true, "it is gone at once")
	sweep(placeholderLinger)
	there(true, "it is gone before its time")
	Release()
	there(false, "the last one has left it")

	other, err := takePlaceholder(path) // as another process does
	if other == nil || err != nil {
		t.Fatal(other, err)
	}
	hold()
	releasePlaceholder(path)
	Release()
	there(true, "it is gone while another process relies on it")
	if err := unix.Close(other.lock); err != nil { // as a crash does
		t.Fatal(err)
	}
	there(true, "")
	hold()
	releasePlaceholder(path)
	Release()
	there(false, "what a crash left is not taken away")

	hold()
	if err := os.WriteFile(filepath.Join(path, "settings.json"), nil, 0o600); err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	releasePlaceholder(path)
	Release()
	there(os.Geteuid() == 0, "what a person has put there")
	if held, err := holdPlaceholder(path); held != (os.Geteuid() != 0) || err != nil {
		t.Errorf("a folder that is used is taken for a placeholder: %v, %v", held, err)
	}

	file := filepath.Join(t.TempDir(), ".mcp.json")
	if held, err := holdPlaceholder(file); !held || err != nil {
		t.Fatal(held, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	releasePlaceholder(file)
	Release()
	if !exists(file) {
		t.Error("what a person has put in its place is gone")
	}
	if held, err := holdPlaceholder("/proc/.claude"); held || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(held, err)
	}
}

// TestPlaceholdersAtOnce: many processes come and go; whoever holds one has one.
func TestPlaceholdersAtOnce(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	path := filepath.Join(t.TempDir(), ".vscode")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				p, err := takePlaceholder(path)
				if err != nil {
					continue // the others were always there first
				}
				if now, err := inodeAt(unix.AT_FDCWD, path); err != nil || p == nil || now != p.id {
					t.Error("what is held is not what is there", err)
					return
				}
				placeholders.Lock() // other tests' sandboxes may still be tidied away
				p.letGo(path)
				placeholders.Unlock()
			}
		})
	}
	wg.Wait()
	if left := names(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestBoxesAtOnce: one sandbox's end does not open another.
func TestBoxesAtOnce(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := backends(t)[0]
	w := newTestEnv(t, backend)
	long, err := backend.Wrap([]string{"true"}, w.profile)
	if err != nil {
		t.Fatal(err)
	}
	w.run(w.profile, `true`)
	Release()
	w.run(w.profile, `echo bad > .claude/settings.json; mkdir .pawl; echo bad > .pawl/pawl.json; true`)
	for _, name := range []string{".claude/settings.json", ".pawl/pawl.json"} {
		if exists(filepath.Join(w.ws, name)) {
			t.Errorf("%s was created", name)
		}
	}
	Release()
	if !exists(filepath.Join(w.ws, ".claude")) {
		t.Error("the placeholder of a box that still runs is gone")
	}
	other, err := backend.Wrap([]string{"true"}, w.profile)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	other.Close() // which is not a second sandbox's end
	Release()
	if !exists(filepath.Join(w.ws, ".claude")) {
		t.Error("the placeholder of a box that still runs is gone")
	}
	long.Close()
	Release()
	if exists(filepath.Join(w.ws, ".claude")) {
		t.Error("the last box has left its placeholder")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			wrapped, err := backend.Wrap([]string{"true"}, w.profile)
			if err != nil {
				t.Error(err)
				return
			}
			start(t, wrapped)
			if reported, err := wrapped.Check(); len(reported) > 0 || err != nil {
				t.Error(reported, err)
			}
			wrapped.Close()
		})
	}
	wg.Wait()
}

func TestSurvey(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var s surveyor
	g, err := newGuard(Profile{Protected: []string{"mine", "a/b"}, Hidden: []string{".env*", "/abs"}})
	if err != nil {
		t.Fatal(err)
	}
	check := func(want ...string) {
		t.Helper()
		got, err := s.survey(dir, g, surveyDirs)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range got.found {
			name, err := filepath.Rel(dir, f.path)
			if err != nil {
				t.Fatal(err)
			}
			if f.hidden {
				name += " (hidden)"
			}
			if f.git {
				name += " (git)"
			}
			list = append(list, name)
		}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Error(diff)
		}
	}
	check()
	for _, name := range []string{"x", "a/.vscode/x", "a/.vscode/.npmrc", "a/b/.ENV.local", "a/b/.git/config", "c/.GIT", "MINE", "node_modules/p/.npmrc"} {
		write(name)
	}
	check("MINE", "a/.vscode", "c/.GIT (git)", "a/b/.ENV.local (hidden)", "a/b/.git (git)")
	check("MINE", "a/.vscode", "c/.GIT (git)", "a/b/.ENV.local (hidden)", "a/b/.git (git)")
	write("a/b/new/.npmrc")
	if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	check("MINE", "a/.vscode", "a/b/.ENV.local (hidden)", "a/b/.git (git)", "a/b/new/.npmrc")
	for i := range 40 {
		write(fmt.Sprintf("wide/%d/.npmrc", i))
	}
	got, err := s.survey(dir, g, surveyDirs)
	if err != nil || len(got.found) != 45 || got.partial {
		t.Error(len(got.found), got.partial, err)
	}
	s.limit = 10
	if got, err = s.survey(dir, g, surveyDirs); err != nil || len(got.found) >= 45 || !got.partial {
		t.Error(len(got.found), got.partial, err)
	}
}

func TestFold(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	g, err := newGuard(Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".vscode", ".VSCode", ".v\u200cscode", ".v\u017fcode", ".MCP.json", ".huſky", ".hus\u212ay"} {
		if !g.protects("ws", name) {
			t.Errorf("%q is not protected", name)
		}
	}
	for _, name := range []string{"vscode", ".vscode2", ""} {
		if g.protects("ws", name) {
			t.Errorf("%q is protected", name)
		}
	}
}
