package worktree

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

const function = "package p\n\nfunc f() int {\n\treturn 1\n}\n\nfunc g() int {\n\treturn 2\n}\n\nfunc h() int {\n\treturn 3\n}\n"

// merges are concurrent changes of two workers, and the result of merging the second.
var merges = []struct {
	name, first, second string
	conflicts           string            // comma-separated path: kind
	files               map[string]string // content of the merged or marked commit
}{
	{name: "different files", first: "echo x >x", second: "echo y >y", files: map[string]string{"x": "100644 x", "y": "100644 y"}},
	{name: "different functions", first: "sed -i s/1/10/ p.go", second: "sed -i s/3/30/ p.go",
		files: map[string]string{"p.go": "100644 " + strings.NewReplacer("1", "10", "3", "30").Replace(strings.TrimSpace(function))}},
	{name: "the same function", first: "sed -i s/1/10/ p.go", second: "sed -i s/1/11/ p.go", conflicts: "p.go: contents"},
	{name: "the same change", first: "sed -i s/1/10/ p.go", second: "sed -i s/1/10/ p.go", files: map[string]string{"p.go": "100644 " + strings.Replace(strings.TrimSpace(function), "1", "10", 1)}},
	{name: "both add it", first: "echo x >n", second: "echo y >n", conflicts: "n: contents"},
	{name: "one deletes what the other changes", first: "rm p.go", second: "sed -i s/1/10/ p.go", conflicts: "p.go: modify/delete"},
	{name: "one changes what the other deletes", first: "sed -i s/1/10/ p.go", second: "rm p.go", conflicts: "p.go: modify/delete"},
	{name: "both delete it", first: "rm p.go", second: "rm p.go", files: map[string]string{"p.go": ""}},
	{name: "mode and content", first: "chmod +x f", second: "echo two >f", files: map[string]string{"f": "100755 two"}},
	{name: "a link and a change", first: "rm f; ln -s p.go f", second: "echo two >f", conflicts: "f: distinct modes"},
	{name: "a folder where a file is", first: "rm f; mkdir f; echo x >f/x", second: "echo two >f", conflicts: "f: file/directory,f: modify/delete"},
	{name: "binary", first: `printf 'a\0b' >bin`, second: `printf 'a\0c' >bin`, conflicts: "bin: binary,bin: contents"},
	{name: "a rename is not guessed", first: "mv p.go q.go", second: "sed -i s/1/10/ p.go", conflicts: "p.go: rename,q.go: rename"},
	{name: "a renamed folder takes nothing along", first: "mv d e", second: "echo new >d/new", files: map[string]string{"d/new": "100644 new", "e/a": "100644 a"}},
	{name: "attributes of a worker decide nothing", first: "echo '* merge=union' >.gitattributes; echo x >f", second: "echo y >f", conflicts: "f: contents"},
	{name: "what does not fit together passes", first: "sed -i s/f/renamed/ p.go", second: "echo 'package p; var _ = f()' >q.go", // checks find this
		files: map[string]string{"q.go": "100644 package p; var _ = f()"}},
	{name: "odd names", first: `printf x >'a
b'`, second: `printf y >'a
b'`, conflicts: "a\nb: contents"},
}

func TestMerge(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"p.go": function, "f": "one\n", "bin": "a\x00", "d/a": "a\n", "d/b": "b\n"})
	// Pawl ignores all of these.
	w.write(filepath.Join(w.dir, ".gitattributes"), "* merge=union\n")
	w.git("config", "merge.renames", "true")
	w.git("config", "merge.directoryRenames", "true")
	w.git("config", "merge.evil.driver", w.evil)
	base := w.git("rev-parse", "main")
	for i, tt := range merges {
		t.Run(tt.name, func(t *testing.T) {
			w.t = t
			w.git("update-ref", "refs/heads/pawl/m1", base)
			before := w.state()
			names := []string{"a" + string(rune('a'+i)), "b" + string(rune('a'+i))}
			if err := w.trees.Make(t.Context(), base, names...); err != nil {
				t.Fatal(err)
			}
			w.sh(w.trees.Path(names[0]), tt.first)
			w.sh(w.trees.Path(names[1]), tt.second)
			m, err := w.trees.Merge(t.Context(), "pawl/m1", w.collect(names[0], base).Commit, label(names[0]))
			if err != nil || len(m.Conflicts) > 0 {
				t.Fatalf("%+v, %v", m, err)
			}
			if diff := cmp.Diff(before, w.state()); diff != "" {
				t.Errorf("the user's repository has changed:\n%s", diff)
			}
			if err := w.trees.Advance(t.Context(), "pawl/m1", m.Onto, m.Commit); err != nil {
				t.Fatal(err)
			}
			if m, err = w.trees.Merge(t.Context(), "pawl/m1", w.collect(names[1], base).Commit, label(names[1])); err != nil {
				t.Fatal(err)
			}
			checkMerge(t, w, m, tt.conflicts, tt.files)
		})
	}
}

func checkMerge(t *testing.T, w *env, m Outcome, conflicts string, files map[string]string) {
	t.Helper()
	var got []string
	for _, c := range m.Conflicts {
		got = append(got, c.Path+": "+c.Kind)
	}
	if diff := cmp.Diff(conflicts, strings.Join(got, ",")); diff != "" {
		t.Error(diff)
	}
	commit := m.Commit
	if conflicts != "" {
		commit = m.Marked
	}
	if commit == "" || m.Commit != "" && m.Marked != "" {
		t.Fatalf("%+v", m)
	}
	all := w.files(commit)
	for name, want := range files {
		if all[name] != want {
			t.Errorf("%s is %q", name, all[name])
		}
	}
	if got := w.git("log", "-1", "--format=%P", commit); got != m.Onto {
		t.Errorf("its parent is %s, not %s", got, m.Onto)
	}
}

// A worker gets a conflict in a worktree with conflict markers.
func TestConflictIsSettled(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	base := w.git("rev-parse", "main")
	for _, name := range []string{"a", "b"} {
		w.write(filepath.Join(w.make(name), "f"), name+"\n")
	}
	first, err := w.trees.Merge(t.Context(), "pawl/m1", w.collect("a", base).Commit, label("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.trees.Advance(t.Context(), "pawl/m1", first.Onto, first.Commit); err != nil {
		t.Fatal(err)
	}
	second, err := w.trees.Merge(t.Context(), "pawl/m1", w.collect("b", base).Commit, label("b"))
	if err != nil || len(second.Conflicts) != 1 {
		t.Fatalf("%+v, %v", second, err)
	}
	if err := w.trees.Make(t.Context(), second.Marked, "again"); err != nil {
		t.Fatal(err)
	}
	w.sh(w.trees.Path("again"), "grep -q '<<<<<<<' f; echo both >f")
	third, err := w.trees.Merge(t.Context(), "pawl/m1", w.collect("again", second.Onto).Commit, label("again"))
	if err != nil || len(third.Conflicts) > 0 {
		t.Fatalf("%+v, %v", third, err)
	}
	if diff := cmp.Diff(map[string]string{"f": "100644 both"}, w.files(third.Commit)); diff != "" {
		t.Error(diff)
	}
}

// Concurrent merges all end up on the branch, one on top of the other.
func TestMergesRace(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	base := w.git("rev-parse", "main")
	names := []string{"a", "b", "c"}
	var wait sync.WaitGroup
	for _, name := range names {
		w.write(filepath.Join(w.make(name), name), name)
		commit := w.collect(name, base).Commit
		wait.Go(func() {
			for range 20 {
				m, err := w.trees.Merge(t.Context(), "pawl/m1", commit, label(name))
				if err == nil {
					err = w.trees.Advance(t.Context(), "pawl/m1", m.Onto, m.Commit)
				}
				if err == nil {
					return
				}
				if !errors.Is(err, pawl.ErrConflict) {
					t.Error(err)
					return
				}
			}
			t.Errorf("%s is never merged", name)
		})
	}
	wait.Wait()
	if diff := cmp.Diff(map[string]string{"f": "100644 one", "a": "100644 a", "b": "100644 b", "c": "100644 c"}, w.files("pawl/m1")); diff != "" {
		t.Error(diff)
	}
	for _, name := range names {
		if _, ok, err := w.trees.Merged(t.Context(), "pawl/m1", base, label(name)); !ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	if got := w.git("rev-list", "--count", "main..pawl/m1"); got != "3" {
		t.Errorf("there are %s commits", got)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n"})
	w.write(filepath.Join(w.make("a"), "f"), "two\n")
	mine := w.collect("a", "main").Commit
	w.sh(w.dir, "git checkout -q --orphan other; git commit -qm other; git branch pawl/other; git checkout -q main")
	for name, tt := range map[string]struct {
		branch, commit string
		label          Label
		want           error
	}{
		"a branch of the user's": {"main", mine, label("a"), pawl.ErrDenied},
		"no branch":              {"pawl/none", mine, label("a"), pawl.ErrNotFound},
		"no commit":              {"pawl/m1", "none", label("a"), pawl.ErrNotFound},
		"no label":               {"pawl/m1", mine, Label{}, pawl.ErrInvalid},
		"no parent":              {"pawl/m1", "main", label("a"), pawl.ErrInvalid},
		"another past":           {"pawl/other", mine, label("a"), pawl.ErrConflict},
	} {
		if m, err := w.trees.Merge(t.Context(), tt.branch, tt.commit, tt.label); !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestReadMerge(t *testing.T) {
	t.Parallel()
	tree := strings.Repeat("a", 40)
	for name, text := range map[string]string{
		"nothing": "", "no tree": "fatal\x00", "a message that is cut off": tree + "\x00\x001\x00f\x00CONFLICT (x)\x00", "no number": tree + "\x00\x00x\x00f\x00k\x00t\x00",
	} {
		if _, _, err := readMerge(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
