package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func grantOf(pattern string) Grant {
	return Grant{
		Rule:  Rule{Tool: "bash", Pattern: pattern, Decision: Allow},
		Scope: ScopeProject, Dir: "/work/project", At: time.Date(2026, 11, 15, 1, 2, 3, 0, time.UTC),
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := Store{filepath.Join(t.TempDir(), "data", "grants.json")}
	if got, err := s.List(); got != nil || err != nil {
		t.Fatalf("without a file: %v, %v", got, err)
	}
	if err := s.Revoke("x"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("revoke what is not there: %v", err)
	}
	session := grantOf("ls")
	session.Scope, session.Session = ScopeSession, "S"
	again := grantOf("ls")
	again.At = again.At.Add(time.Hour)
	if err := errors.Join(s.Add(grantOf("ls"), grantOf("go vet")), s.Add(session, again)); err != nil {
		t.Fatal(err)
	}
	got, err := s.List()
	want := []Grant{grantOf("ls"), grantOf("go vet"), session}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for path, mode := range map[string]fs.FileMode{s.Path: 0o600, filepath.Dir(s.Path): fs.ModeDir | 0o700} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(s.Path)); len(entries) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := s.Revoke(got[0].ID(), "nothing"); !errors.Is(err, pawl.ErrNotFound) || !strings.Contains(err.Error(), "saved answer nothing not found") {
		t.Errorf("revoke one that is there and one that is not: %v", err)
	}
	if err := s.Revoke(got[0].ID(), got[2].ID()); err != nil {
		t.Error(err)
	}
	got, err = s.List()
	if diff := cmp.Diff([]Grant{grantOf("go vet")}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestGrantIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]Grant{}
	other, session := grantOf("ls"), grantOf("ls")
	other.Dir = "/work/other"
	session.Scope, session.Session = ScopeSession, "S"
	for _, g := range []Grant{grantOf("ls"), grantOf("l s"), grantOf("'l s'"), other, session} {
		if twin, ok := seen[g.ID()]; ok || len(g.ID()) != 12 {
			t.Errorf("%+v and %+v are %s", g, twin, g.ID())
		}
		seen[g.ID()] = g
	}
}

func TestInvalidGrants(t *testing.T) {
	t.Parallel()
	change := func(f func(*Grant)) Grant {
		g := grantOf("ls")
		f(&g)
		return g
	}
	s := Store{filepath.Join(t.TempDir(), "grants.json")}
	for what, g := range map[string]Grant{
		"a shell":                   grantOf("bash -c ls"),
		"no allow":                  change(func(g *Grant) { g.Rule.Decision = Ask }),
		"once":                      change(func(g *Grant) { g.Scope = ScopeOnce }),
		"no scope":                  change(func(g *Grant) { g.Scope = "" }),
		"no folder":                 change(func(g *Grant) { g.Dir = "" }),
		"a folder that is not real": change(func(g *Grant) { g.Dir = "/work/../work" }),
		"a session without a name":  change(func(g *Grant) { g.Scope = ScopeSession }),
		"a project with a session":  change(func(g *Grant) { g.Session = "S" }),
	} {
		if err := s.Add(grantOf("ls"), g); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got, err := s.List(); got != nil || err != nil {
		t.Errorf("kept all the same: %v, %v", got, err)
	}
}

// A file that is not as pawl leaves it counts for nothing, and is not replaced.
func TestSpoiledStore(t *testing.T) {
	t.Parallel()
	good := `[{"rule":{"tool":"bash","pattern":"ls","decision":"allow"},"scope":"project","dir":"/w","at":"2026-11-15T01:02:03Z"}]`
	for _, tt := range []struct {
		what, text string
		mode       fs.FileMode
		want       error
	}{
		{"others may read it", good, 0o644, pawl.ErrDenied},
		{"a group may write it", good, 0o620, pawl.ErrDenied},
		{"an unknown key", strings.Replace(good, `"scope"`, `"Scope"`, 1), 0o600, pawl.ErrInvalid},
		{"a key twice", strings.Replace(good, `"dir"`, `"dir":"/x","dir"`, 1), 0o600, pawl.ErrInvalid},
		{"a rule that nobody could grant", strings.Replace(good, `"ls"`, `"*"`, 1), 0o600, pawl.ErrInvalid},
		{"a rule that denies", strings.Replace(good, "allow", "deny", 1), 0o600, pawl.ErrInvalid},
		{"no JSON", "x", 0o600, pawl.ErrInvalid},
		{"nothing", "", 0o600, pawl.ErrInvalid},
		{"too large", strings.Repeat(" ", maxGrantFile+1), 0o600, pawl.ErrInvalid},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s := Store{filepath.Join(t.TempDir(), "grants.json")}
			if err := errors.Join(os.WriteFile(s.Path, []byte(tt.text), 0o600), os.Chmod(s.Path, tt.mode)); err != nil {
				t.Fatal(err)
			}
			if got, err := s.List(); got != nil || !errors.Is(err, tt.want) {
				t.Errorf("list: %v, %v", got, err)
			}
			if err := s.Add(grantOf("go vet")); !errors.Is(err, tt.want) {
				t.Errorf("add: %v", err)
			}
			if text, err := os.ReadFile(s.Path); string(text) != tt.text || err != nil {
				t.Errorf("it was changed: %.100q, %v", text, err)
			}
		})
	}
}

// Neither a link in the file's place nor one in the directory's is followed.
func TestStoreLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Store{filepath.Join(dir, "grants.json")}
	if err := os.Symlink(target, s.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("list: %v", err)
	}
	if err := s.Add(grantOf("ls")); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("add: %v", err)
	}
	if text, err := os.ReadFile(target); string(text) != "[]" || err != nil {
		t.Errorf("written through the link: %s, %v", text, err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "folder")); err != nil {
		t.Fatal(err)
	}
	if err := (Store{filepath.Join(dir, "folder", "grants.json")}).Add(grantOf("ls")); err == nil {
		t.Error("added through a folder that is a link")
	}
}

func TestManyWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "grants.json")
	const writers, each = 8, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s := Store{path}
			for i := range each {
				g := grantOf(fmt.Sprintf("ls %d", w*each+i))
				if err := s.Add(g); err != nil {
					t.Error(err)
				}
				if i == 0 {
					if err := s.Revoke(g.ID()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got, err := (Store{path}).List(); len(got) != writers*(each-1) || err != nil {
		t.Errorf("%d grants, %v", len(got), err)
	}
}

func TestTooManyGrants(t *testing.T) {
	t.Parallel()
	s := Store{filepath.Join(t.TempDir(), "grants.json")}
	var many []Grant
	for i := range maxGrants {
		many = append(many, grantOf(fmt.Sprintf("ls %d", i)))
	}
	if err := s.Add(many...); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(grantOf("ls")); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("one more: %v", err)
	}
	if err := s.Add(many[7]); err != nil {
		t.Errorf("one that is there: %v", err)
	}
}

// TestLargeGrants checks that grants that would make the file too large to read are rejected and the others stay in force.
func TestLargeGrants(t *testing.T) {
	t.Parallel()
	s := Store{filepath.Join(t.TempDir(), "grants.json")}
	large := func(i int) Grant { return grantOf(fmt.Sprintf("ls %d %s", i, strings.Repeat("x", 100<<10))) }
	for i := range 10 {
		if err := s.Add(large(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(large(10)); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("one too many: %v", err)
	}
	if got, err := s.List(); len(got) != 10 || err != nil {
		t.Errorf("%d are left, %v", len(got), err)
	}
}
