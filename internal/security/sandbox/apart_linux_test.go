package sandbox

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestApart: of a directory that is set apart a command sees the workspace in it and
// what it is to read, and no more; in the workspace all is guarded as anywhere.
func TestApart(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range allBackends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			at := func(name string) string { return filepath.Join(w.root, name) }
			w.guard(at("data/keys"), w.secret("keys"))
			w.guard(at("data/places/r/other/f"), w.secret("another's file"))
			w.guard(at("data/places/r/mine/.mcp.json"), "mine")
			w.write(at("data/places/r/mine/.env"), w.secret("a variable's file"))
			w.write(at("data/places/r/mine/f"), "mine")
			w.guard(at("src/repo/f"), w.secret("the user's file"))
			w.guard(at("src/repo/.git/objects/o"), "object")
			w.guard(at("src/repo/.git/config"), w.secret("the user's configuration"))
			w.write(at("src/free/f"), "free")
			p := Profile{
				Dir: at("data/places/r/mine"), Hidden: []string{".env", at("data/keys")}, Writable: []string{at("src")},
				Apart: []string{at("data"), at("src/repo"), at("nowhere")}, Readable: []string{at("src/repo/.git/objects")},
			}
			o := w.run(p, `cat f {root}/src/repo/.git/objects/o; echo changed > f; echo free > {root}/src/free/f && echo WORKS
				cat .env {root}/data/keys {root}/data/places/r/other/f {root}/src/repo/f {root}/src/repo/.git/config
				for f in {root}/data/keys {root}/data/places/r/other/f {root}/src/repo/f {root}/src/repo/.git/config {root}/src/repo/.git/objects/o .mcp.json; do echo bad > $f; rm -f $f; done
				mv {root}/src/repo {root}/src/gone; mv {root}/data {root}/gone; true`)
			if damage := w.damage(o); len(damage) > 0 {
				t.Errorf("%q\n%s", damage, o.output)
			}
			if !strings.HasPrefix(o.output, "mineobject") || !strings.Contains(o.output, "WORKS") {
				t.Errorf("what is its own cannot be used:\n%s", o.output)
			}
		})
	}
}

// TestApartIsNotOpenedByGit: a worktree in a directory that is set apart gets no space
// in a repository that is.
func TestApartIsNotOpenedByGit(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range allBackends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			repo, tree := filepath.Join(w.root, "repo"), filepath.Join(w.root, "tree")
			w.git("init", "-q", repo)
			w.git("-C", repo, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first")
			w.git("-C", repo, "worktree", "add", "-q", tree)
			objects := filepath.Join(repo, ".git/objects")
			w.guarded = append(w.guarded, filepath.Join(objects, "new"), filepath.Join(repo, ".git/refs/new"), filepath.Join(repo, ".git/worktrees/tree/new"))
			o := w.run(Profile{Dir: tree, Apart: []string{repo}, Readable: []string{objects}}, `for f in objects refs worktrees/tree; do echo bad > {root}/repo/.git/$f/new; done; true`)
			if damage := w.damage(o); len(damage) > 0 {
				t.Errorf("%q\n%s", damage, o.output)
			}
		})
	}
}

// TestReadable: what is to be read must be there, and cannot be a secret.
func TestReadable(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := allBackends(t)[0]
	w := newTestEnv(t, backend)
	for _, path := range []string{filepath.Join(w.home, ".ssh"), filepath.Join(w.home, ".ssh/id_ed25519"), filepath.Join(w.root, "nowhere")} {
		p := w.profile
		p.Readable = []string{path}
		if _, err := backend.Wrap([]string{"true"}, p); err == nil {
			t.Errorf("%s can be read", path)
		} else if strings.Contains(path, ".ssh") && !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	}
}
