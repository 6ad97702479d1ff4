package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

var (
	day   = time.Date(2026, 11, 15, 1, 2, 3, 0, time.UTC)
	one   = trust.HashOf("one")
	other = trust.HashOf("other")
)

// directory returns a new directory's real path.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func stateOf(t *testing.T, s trust.Store, dir, hash string) trust.State {
	t.Helper()
	state, err := s.State(dir, hash)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestStore: trust is for one path and what was there. Row A12 for what is
// approved by itself.
func TestStore(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	s := trust.Store{Path: filepath.Join(tempDir(t), "data", "trust.json")}
	put(t, dir, map[string]string{"sub/x": ""})
	link := filepath.Join(tempDir(t), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, s, dir, one); got != trust.Unknown {
		t.Errorf("without a file: %s", got)
	}
	if err := errors.Join(s.Trust(link, one, day), s.Approve(dir, "mcp", "db", one, day)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir, hash string
		want      trust.State
	}{
		{dir, one, trust.Trusted},
		{link, one, trust.Trusted},
		{dir + "/sub/..", one, trust.Trusted},
		{dir, other, trust.Changed},
		{dir, "", trust.Changed},
		{filepath.Join(dir, "sub"), one, trust.Unknown},
		{filepath.Dir(dir), one, trust.Unknown},
	} {
		if got := stateOf(t, s, tt.dir, tt.hash); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.dir, got, tt.want)
		}
	}
	for _, tt := range []struct {
		dir, kind, name, hash string
		want                  trust.State
	}{
		{dir, "mcp", "db", one, trust.Trusted},
		{dir, "mcp", "db", other, trust.Changed},
		{dir, "mcp", "db", "", trust.Changed},
		{dir, "mcp", "web", one, trust.Unknown},
		{dir, "hook", "db", one, trust.Unknown},
		{filepath.Join(dir, "sub"), "mcp", "db", one, trust.Unknown},
	} {
		if got, err := s.Approved(tt.dir, tt.kind, tt.name, tt.hash); got != tt.want || err != nil {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
	if err := errors.Join(s.Trust(dir, other, day), s.Approve(dir, "mcp", "db", other, day)); err != nil {
		t.Fatal(err)
	}
	dirs, approvals, err := s.List()
	if diff := cmp.Diff([]trust.Directory{{Path: dir, Hash: other, At: day}}, dirs); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff([]trust.Approval{{Path: dir, Kind: "mcp", Name: "db", Hash: other, At: day}}, approvals); diff != "" {
		t.Error(diff)
	}
	for path, mode := range map[string]fs.FileMode{s.Path: 0o600, filepath.Dir(s.Path): fs.ModeDir | 0o700} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := s.Revoke(filepath.Join(dir, "sub")); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("revoke what is not trusted: %v", err)
	}
	if err := s.Revoke(link); err != nil {
		t.Error(err)
	}
	if got, err := s.Approved(dir, "mcp", "db", other); got != trust.Unknown || err != nil || stateOf(t, s, dir, other) != trust.Unknown {
		t.Errorf("revoked: %s, %v", got, err)
	}
}

// TestSpoiledStore: a file that is not as pawl leaves it counts for nothing, and
// is not replaced.
func TestSpoiledStore(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	good := `{"projects":[{"path":"` + dir + `","hash":"` + one + `","at":"2026-11-15T01:02:03Z"}],"approvals":[]}`
	for name, tt := range map[string]struct {
		text string
		mode fs.FileMode
		want error
	}{
		"others may read it":   {good, 0o644, pawl.ErrDenied},
		"a group may write it": {good, 0o620, pawl.ErrDenied},
		"another case":         {strings.Replace(good, `"hash"`, `"Hash"`, 1), 0o600, pawl.ErrInvalid},
		"a key twice":          {strings.Replace(good, `"hash"`, `"hash":"x","hash"`, 1), 0o600, pawl.ErrInvalid},
		"no hash":              {strings.Replace(good, one, "", 1), 0o600, pawl.ErrInvalid},
		"a path with dots":     {strings.Replace(good, dir, dir+"/..", 1), 0o600, pawl.ErrInvalid},
		"nothing":              {"", 0o600, pawl.ErrInvalid},
	} {
		s := trust.Store{Path: filepath.Join(tempDir(t), "trust.json")}
		if err := errors.Join(os.WriteFile(s.Path, []byte(tt.text), 0o600), os.Chmod(s.Path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.State(dir, one); got != trust.Unknown || !errors.Is(err, tt.want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if err := s.Trust(dir, one, day); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if text, err := os.ReadFile(s.Path); string(text) != tt.text || err != nil {
			t.Errorf("%s: it was replaced: %s, %v", name, text, err)
		}
	}
	target := filepath.Join(tempDir(t), "x.json")
	s := trust.Store{Path: filepath.Join(tempDir(t), "trust.json")}
	if err := errors.Join(os.WriteFile(target, []byte(good), 0o600), os.Symlink(target, s.Path)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.State(dir, one); got != trust.Unknown || !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("a link: %s, %v", got, err)
	}
	if err := s.Trust(dir, "x", day); !errors.Is(err, pawl.ErrDenied) {
		t.Error(err)
	}
}

// TestManyWriters: nothing is lost where several write at once.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	s := trust.Store{Path: filepath.Join(tempDir(t), "trust.json")}
	var wg sync.WaitGroup
	for range 20 {
		dir := tempDir(t)
		wg.Go(func() {
			if err := s.Trust(dir, one, day); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if dirs, _, err := s.List(); len(dirs) != 20 || err != nil {
		t.Errorf("%d, %v", len(dirs), err)
	}
	if err := s.Trust(tempDir(t), "no hash", day); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("no hash: %v", err)
	}
}

// TestWorktree: a linked worktree has the hash of the directory that it was made
// from, if what can run something is the same. Row A8.
func TestWorktree(t *testing.T) {
	t.Parallel()
	main, tree := tempDir(t), tempDir(t)
	files := map[string]string{".pawl/hooks/a": "x", "go.mod": ""}
	put(t, main, files)
	put(t, main, map[string]string{".git/HEAD": "x", ".git/config": "[alias]\nx = !y\n", ".git/hooks/pre-commit": ""})
	put(t, tree, files)
	put(t, tree, map[string]string{".git": "gitdir: " + main + "/.git/worktrees/tree\n"})
	want := survey(t, main).Hash()
	linked, err := trust.SurveyRepository(tree, filepath.Join(main, ".git"))
	if err != nil || linked.Hash() != want {
		t.Errorf("%v, %v", brief(linked), err)
	}
	if survey(t, tree).Hash() == want {
		t.Error("a file .git alone is believed")
	}
	put(t, tree, map[string]string{".pawl/hooks/a": "y"})
	if linked, err = trust.SurveyRepository(tree, filepath.Join(main, ".git")); err != nil || linked.Hash() == want {
		t.Errorf("%v, %v", brief(linked), err)
	}
}
