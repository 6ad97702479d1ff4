package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSwapped: between Wrap and the start of the command, one in another sandbox
// swaps directories of the workspace for links. They open nothing.
func TestSwapped(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range backends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			w.guard(filepath.Join(w.outside, ".git", "config"), "mine")
			w.guard(filepath.Join(w.outside, ".git", "HEAD"), "mine")
			w.guarded = append(w.guarded, filepath.Join(w.outside, ".git", "pwned"), filepath.Join(w.outside, "pwned"))
			w.guard(filepath.Join(w.outside, ".git", "hooks", "pre-commit"), "mine") // all that the mounts look for
			wrapped, err := backend.Wrap([]string{"bash", "-c", `for d in lib src; do echo bad > $d/.git/pwned; echo bad > $d/.git/HEAD; echo bad > $d/pwned; done; true`}, w.profile)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"lib", "src"} {
				if err := os.Rename(filepath.Join(w.ws, name), filepath.Join(w.ws, name+"2")); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("../outside", filepath.Join(w.ws, name)); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(wrapped.Args[0], wrapped.Args[1:]...)
			cmd.Env, cmd.ExtraFiles = wrapped.Env, wrapped.Files
			out, _ := cmd.CombinedOutput() // it may fail: that is one way to notice
			if reported, err := wrapped.Check(); len(reported) == 0 || err != nil {
				t.Errorf("told of nothing, %v", err)
			}
			wrapped.Close()
			for _, name := range []string{"lib", "src"} {
				if err := os.Remove(filepath.Join(w.ws, name)); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(w.ws, name+"2"), filepath.Join(w.ws, name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, damage := range w.damage(outcome{output: string(out)}) {
				t.Errorf("%s\n%s", damage, out)
			}
		})
	}
}

// TestSwappedAtTheEnd: what is undone in the end is undone in the workspace.
func TestSwappedAtTheEnd(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	w := newTestEnv(t, backends(t)[0])
	other := filepath.Join(w.outside, ".git", "commondir")
	w.guard(other, "mine")
	wrapped, err := w.backend.Wrap([]string{"true"}, w.profile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(w.ws, "lib"), filepath.Join(w.ws, "lib2")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside", filepath.Join(w.ws, "lib")); err != nil {
		t.Fatal(err)
	}
	wrapped.Close()
	Release()
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}
