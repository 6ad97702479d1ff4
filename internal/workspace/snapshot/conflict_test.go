package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// conflicts are changes by others to files that a command has changed.
var conflicts = []struct {
	name           string
	lay            string
	first          string // the command
	concurrent     string // changes by others between the commands
	second         string // an optional second command
	since          string // changes by others after all commands
	path, conflict string
	aside          string // content that KeepAside copies; "" if it leaves the file
	mine           string // content by others that must survive
}{
	{name: "edited", lay: "echo 1 >f; echo 1 >g", first: "echo 2 >f; echo 2 >g", since: "echo mine >f", path: "f", conflict: "changed since", aside: "mine\n", mine: "f"},
	{name: "made again", lay: "echo 1 >f; echo 1 >g", first: "rm f; echo 2 >g", since: "echo mine >f", path: "f", conflict: "changed since", aside: "mine\n", mine: "f"},
	{name: "edited new one", lay: "echo 1 >g", first: "echo 2 >f; echo 2 >g", since: "echo mine >f", path: "f", conflict: "changed since", aside: "mine\n", mine: "f"},
	{name: "made a link", lay: "echo 1 >f; echo 1 >g", first: "echo 2 >f; echo 2 >g", since: "rm f; ln -s mine f", path: "f", conflict: "changed since", aside: "mine", mine: "f"},
	{name: "made large", lay: "echo 1 >f; echo 1 >g", first: "echo 2 >f; echo 2 >g", since: "printf %0200d 0 >f", path: "f", conflict: "changed since", aside: strings.Repeat("0", 200), mine: "f"},
	{name: "edited between", lay: "echo 1 >f; echo 1 >g", first: "echo 2 >f; echo 2 >g", concurrent: "echo mine >f", second: "echo 3 >>f", path: "f", conflict: "changed in the meantime", aside: "mine\n3\n", mine: "f"},
	{name: "folder instead", lay: "echo 1 >f; echo 1 >g", first: "rm f; echo 2 >g", since: "mkdir f; echo mine >f/x", path: "f", conflict: `"f/x" is in the way`, mine: "f/x"},
	{name: "file above", lay: "mkdir d; echo 1 >d/f; echo 1 >g", first: "rm -r d; echo 2 >g", since: "echo mine >d", path: "d/f", conflict: `"d" is in the way`, mine: "d"},
	{name: "link above", lay: "mkdir d; echo 1 >d/f; echo 1 >g", first: "rm -r d; echo 2 >g", since: "ln -s ../outside d", path: "d/f", conflict: `"d" is in the way`, mine: "d"},
	{name: "repository", lay: "mkdir d; echo 1 >d/f; echo 1 >g", first: "echo 2 >d/f; echo 2 >g", since: "git init -q d", path: "d/f", conflict: `"d" is now a separate repository`, mine: "d/f"},
	{name: "pipe instead", lay: "echo 1 >f; echo 1 >g", first: "echo 2 >f; echo 2 >g", since: "rm f; mkfifo f", path: "f", conflict: "changed since", mine: "f"},
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, tt := range conflicts {
		for how, mode := range map[string]Conflicts{"refuse": Refuse, "aside": KeepAside, "leave": Leave} {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				w := newEnvWith(t, Config{MaxFile: 100})
				outside := filepath.Join(filepath.Dir(w.dir), "outside")
				if err := os.Mkdir(outside, 0o700); err != nil {
					t.Fatal(err)
				}
				w.sh(tt.lay)
				spans := []Span{w.span(tt.first)}
				if tt.second != "" {
					w.sh(tt.concurrent)
					spans = append(spans, w.span(tt.second))
				}
				w.sh(tt.since + "\n")
				before := w.show()
				p := w.plan(false, spans...)
				list := p.Conflicts()
				if len(list) != 1 || list[0].Path != tt.path || list[0].Conflict != tt.conflict {
					t.Fatalf("conflicts: %+v", list)
				}
				r, err := w.store.Apply(t.Context(), p, mode)
				after := w.show()
				var conflict *ConflictError
				switch {
				case mode == Refuse:
					if diff := cmp.Diff(before, after); diff != "" || !errors.As(err, &conflict) || len(conflict.Files) != 1 {
						t.Errorf("%v, %s", err, diff)
					}
				case err != nil:
					t.Error(err)
				case after["g"] != "-rw-r--r-- 1\n":
					t.Errorf("the file without a conflict is %q", after["g"])
				case mode == KeepAside && tt.aside != "":
					kept, err := os.ReadFile(r.Aside[tt.path])
					if string(kept) != tt.aside || len(r.Aside) != 1 || len(r.Left) != 0 || before[tt.path] == after[tt.path] || !strings.HasPrefix(r.Aside[tt.path], w.store.Dir) {
						t.Errorf("%+v, kept %q, %v", r, kept, err)
					}
				case before[tt.mine] != after[tt.mine] || len(r.Aside) != 0 || !cmp.Equal(r.Left, []string{tt.path}):
					t.Errorf("%+v, now %q", r, after[tt.mine])
				}
				if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
					t.Errorf("something was written outside: %v, %v", list, err)
				}
			})
		}
	}
}

// TestSpans: which spans are merged, and the combined effect of several spans on a
// file.
func TestSpans(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	got := merge([]Span{
		{"e", "f", at(9), at(10)}, {"a", "b", at(1), at(3)}, {"b", "c", at(2), at(5)}, {"c", "c2", at(4), at(4)},
		{"c", "d", at(5), at(6)}, {"x", "x", at(7), at(8)},
	})
	want := []Span{{"a", "c", at(1), at(5)}, {"c", "d", at(5), at(6)}, {"e", "f", at(9), at(10)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w := newEnv(t)
	w.sh("echo 1 >f; echo 1 >user; echo 1 >back")
	before := w.show()
	spans := []Span{w.span("echo 2 >f; echo 2 >back; echo tmp >tmp")}
	w.sh("echo 2 >user") // not part of a span
	spans = append(spans, w.span("echo 3 >f; echo 1 >back; rm tmp"))
	w.undo(Refuse, spans...)
	before["user"] = w.show()["user"]
	if diff := cmp.Diff(before, w.show()); diff != "" {
		t.Error(diff)
	}
	if r := w.undo(Refuse, spans...); len(r.Changed) > 0 {
		t.Errorf("the second time: %+v", r)
	}
}

// lastMoment changes a file after all checks but the last.
func lastMoment(t *testing.T, script string, how Conflicts) (w *env, r Report, err error) {
	t.Helper()
	w = newEnv(t)
	w.sh("mkdir d; echo 1 >d/f; echo 1 >gone")
	p := w.plan(false, w.span("echo 2 >d/f; rm gone; echo 2 >new"))
	done := false
	w.store.trace = func(point string) {
		if !done && (point == "put d/f" || point == "remove new") {
			done = point == "put d/f"
			if done == strings.Contains(script, "d") {
				w.sh(script)
			}
		}
	}
	r, err = w.store.Apply(t.Context(), p, how)
	return w, r, err
}

// TestLastMoment: a file that changes after all were checked is not replaced.
func TestLastMoment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ script, path string }{{"echo mine >d/f", "d/f"}, {"echo mine >new", "new"}} {
		for _, how := range []Conflicts{Refuse, Leave} {
			w, r, err := lastMoment(t, tt.script, how)
			var conflict *ConflictError
			if errors.As(err, &conflict) != (how == Refuse) || w.read(tt.path) != "mine\n" || how == Leave && !cmp.Equal(r.Left, []string{tt.path}) {
				t.Errorf("%s, %d: %q, %+v, %v", tt.script, how, w.read(tt.path), r, err)
			}
		}
	}
}

// linkedAbove replaces a directory by a symbolic link out of the workspace after all
// were checked.
func linkedAbove(t *testing.T) (outside map[string]string, err error) {
	t.Helper()
	w := newEnv(t)
	w.sh("mkdir ../outside d; echo theirs >../outside/f; echo 1 >d/f; echo 1 >a")
	p := w.plan(false, w.span("echo theirs >d/f; echo 2 >a"))
	w.store.trace = func(point string) {
		if point == "restored a" {
			w.sh("mv d e; ln -s ../outside d")
		}
	}
	_, err = w.store.Apply(t.Context(), p, KeepAside)
	return showDir(t, filepath.Join(filepath.Dir(w.dir), "outside")), err
}

// TestLinkAbove: Apply does not read or write through a symbolic link.
func TestLinkAbove(t *testing.T) {
	t.Parallel()
	outside, err := linkedAbove(t)
	if diff := cmp.Diff(map[string]string{"f": "-rw-r--r-- theirs\n"}, outside); diff != "" || err == nil {
		t.Errorf("%s, %v", diff, err)
	}
}

// TestForbidden: Apply never writes these paths, whatever the plan contains.
func TestForbidden(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh("git init -q .; echo 1 >f")
	s := w.span("echo 2 >f; mkdir .vscode; echo 2 >.vscode/tasks.json")
	p := w.plan(false, s)
	if len(p.Files) != 2 || !strings.HasPrefix(p.Files[0].LeftOut, "a protected path") {
		t.Errorf("%+v", p.Files)
	}
	before := showDir(t, filepath.Dir(w.dir))
	for _, path := range []string{"../out", "/tmp/out", ".git/config", ".GIT/hooks/x", "a/.git/config", ".vscode/tasks.json", "a/../../b", ".pawl-x", "", "."} {
		p.Files = []Restore{{Path: path, want: p.Files[len(p.Files)-1].want, origin: s.Before}}
		if r, err := w.store.Apply(t.Context(), p, KeepAside); err == nil {
			t.Errorf("%q: %+v", path, r)
		}
	}
	if diff := cmp.Diff(before, showDir(t, filepath.Dir(w.dir))); diff != "" {
		t.Error(diff)
	}
}

// TestPermissions: a restored file keeps the read permissions of the file that it
// replaces.
func TestPermissions(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh("echo 1 >secret; chmod 600 secret; echo 1 >tool; chmod 750 tool")
	before := w.show()
	w.undo(Refuse, w.span("echo 2 >secret; echo 2 >tool; chmod 640 tool"))
	if diff := cmp.Diff(before, w.show()); diff != "" {
		t.Error(diff)
	}
}
