package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// However a server tells, the faults are those of the text on the disk.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"good", "stale", "unversioned", "silent-when-clean", "pull", "pull-later", "pull-refresh", "pull-cancel", "pull-works"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			m := fakes(t, way)
			dir := folder(t, map[string]string{"a.txt": "one\nBAD two\nWARN three\n"})
			checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:2: error: BAD two", "a.txt:3: warning: WARN three")
			put(t, dir, "a.txt", "one\nmore\nBAD two\n")
			checkLines(t, check(t, m, dir, "a.txt"), "a.txt:3: error: BAD two")
			put(t, dir, "a.txt", "")
			want := []string(nil)
			if way == "silent-when-clean" {
				want = []string{"a.txt:3: error: BAD two"} // it never retracts what it said
			}
			checkLines(t, check(t, m, dir, "a.txt"), want...)
			put(t, dir, "a.txt", "BAD again")
			checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD again")
		})
	}
}

// What commands change is seen too, and files that a change has broken.
func TestOtherFiles(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"good", "pull"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			m := fakes(t, way)
			dir := folder(t, map[string]string{"a.txt": "needs b.txt\n", "b.txt": "", "c.txt": ""})
			checkLines(t, check(t, m, dir, "a.txt"))
			checkLines(t, check(t, m, dir, "b.txt"))
			remove(t, dir, "b.txt")
			checkLines(t, check(t, m, dir, "b.txt"), "+[a.txt]:1: error: there is no b.txt")
			checkLines(t, check(t, m, dir, "c.txt"), "[a.txt]:1: error: there is no b.txt")
			put(t, dir, "b.txt", "BAD")
			checkLines(t, check(t, m, dir, "b.txt"), "+b.txt:1: error: BAD")
			remove(t, dir, "b.txt") // by a command
			checkLines(t, check(t, m, dir), "+[a.txt]:1: error: there is no b.txt")
			put(t, dir, "a.txt", "BAD now\n")
			put(t, dir, "c.txt", "BAD too\n")
			checkLines(t, check(t, m, dir), "+[a.txt]:1: error: BAD now", "+[c.txt]:1: error: BAD too")
			checkLines(t, check(t, m, dir), "[a.txt]:1: error: BAD now", "[c.txt]:1: error: BAD too")
		})
	}
}

// The first that a server hears of may be that a file no longer exists.
func TestDeletedFirst(t *testing.T) {
	t.Parallel()
	m := fakes(t, "good")
	dir := folder(t, map[string]string{"a.txt": "BAD far away", "sub/a.txt": "needs sub/b.txt\n", "sub/root.txt": ""})
	checkLines(t, check(t, m, dir, "sub/b.txt"), "+[sub/a.txt]:1: error: there is no sub/b.txt")
	checkLines(t, check(t, fakes(t, "good"), t.TempDir(), "b.txt"))
}

// A check of what has not changed costs nothing.
func TestCheckUnchanged(t *testing.T) {
	t.Parallel()
	m := fakes(t, "silent-when-clean")
	dir := folder(t, map[string]string{"a.txt": "BAD\n", "b.txt": ""})
	check(t, m, dir, "a.txt")
	check(t, m, dir, "b.txt")
	began := time.Now()
	for range 5 {
		checkLines(t, check(t, m, dir, "b.txt"), "[a.txt]:1: error: BAD")
	}
	if took := time.Since(began); took > 5*silenceTime {
		t.Errorf("it took %s", took)
	}
}

func TestServerAsks(t *testing.T) {
	t.Parallel()
	m := fakes(t, "asks")
	dir := folder(t, map[string]string{"a.txt": ""})
	checkLines(t, check(t, m, dir, "a.txt"),
		`+a.txt:1: error: BAD "q0" [{"a":1},null]`,
		`+a.txt:2: error: BAD "q1" null`,
		`+a.txt:3: error: BAD "q2" {"applied":false}`,
		fmt.Sprintf(`+a.txt:4: error: BAD "q3" [{"name":"%s","uri":"file://%s"}]`, dir[strings.LastIndex(dir, "/")+1:], dir),
		`+a.txt:5: error: BAD "q4" -32601 pawl does not know window/showDocument`,
	)
}

// What was said of the text before is not said of the one that is there now.
func TestStaleFaultsAreNotShown(t *testing.T) {
	t.Parallel()
	m := fakes(t, "mute-later")
	dir := folder(t, map[string]string{"a.txt": "BAD\n", "b.txt": "BAD\n"})
	check(t, m, dir, "a.txt", "b.txt")
	put(t, dir, "a.txt", "good\n")
	checkLines(t, checkFor(t, m, silenceTime+time.Second, dir, "a.txt"), "[b.txt]:1: error: BAD", "note: fake-lsp is still at work")
}

// A server looks for its own programs, say go or node, outside of the workspace too.
func TestServerSearchPath(t *testing.T) {
	t.Parallel()
	m := &Servers{Table: []Spec{fakeSpec("path")}, Path: binaries(t, fakeName)}
	closeAtEnd(t, m)
	dir := folder(t, map[string]string{"a.txt": "", "bin/go": ""})
	want := m.Path
	m.Path = "bin:.:" + dir + "/bin:" + m.Path
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: "+want)
}

// A server that is at work is waited for, but not beyond the limit.
func TestServerAtWork(t *testing.T) {
	t.Parallel()
	m := fakes(t, "works")
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	up(t, m, dir)
	checkLines(t, checkFor(t, m, time.Second, dir, "a.txt"), "note: fake-lsp is still loading")
	put(t, dir, "a.txt", "BAD END\n")
	checkLines(t, check(t, m, dir, "a.txt"), "+a.txt:1: error: BAD END")
}

func TestConcurrentChecks(t *testing.T) {
	t.Parallel()
	m := fakes(t, "good")
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("%d.txt", i)] = fmt.Sprintf("BAD %d\n", i)
	}
	dir := folder(t, files)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := fmt.Sprintf("%d.txt", i)
			for range 5 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				r, err := m.Check(ctx, dir, []string{name})
				cancel()
				if err != nil || len(r.Notes) > 0 || len(r.Files) == 0 || r.Files[0].Path != name || r.Files[0].Errors != 1 {
					t.Errorf("%s: %+v, %v", name, r, err)
				}
			}
		})
	}
	group.Wait()
	if n := len(running(m)); n != 1 {
		t.Errorf("%d servers run for one folder", n)
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.txt": "BAD\n", "b.xyz": "", "big.txt": strings.Repeat("x", textBytes+1), "bin/" + fakeName: "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(dir, "bin", fakeName), 0o755); err != nil {
		t.Fatal(err)
	}
	some := binaries(t)
	tests := []struct {
		name, path, want string
		m                *Servers
	}{
		{"not installed", "a.txt", "fake-lsp is not installed: make it", &Servers{Path: some}},
		{"the first of two", "a.txt", "fake-lsp or other is not installed: make it", &Servers{Path: some, Table: []Spec{fakeSpec("good"), {Name: "other", Files: map[string]string{".txt": "x"}}}}},
		{"in the workspace", "a.txt", "fake-lsp was found only inside the workspace, from where it is not started: make it", &Servers{Path: dir + "/bin:" + some}},
		{"unknown", "b.xyz", "no language server is known for b.xyz", &Servers{Path: some}},
		{"too large", "big.txt", "big.txt cannot be checked: it is not a regular file, or too large", &Servers{Path: some}},
		{"a folder", "bin", "bin cannot be checked: it is not a regular file, or too large", &Servers{Path: some}},
		{"not trusted", "a.txt", "language servers are not started: the project is not trusted", &Servers{Path: some, Enabled: func(d string) bool { return d != dir }}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.m.Table == nil {
				test.m.Table = []Spec{fakeSpec("good")}
			}
			closeAtEnd(t, test.m)
			checkLines(t, check(t, test.m, dir, test.path), "note: "+test.want)
		})
	}
}

func TestCheckFails(t *testing.T) {
	t.Parallel()
	m := fakes(t, "never")
	dir := folder(t, map[string]string{"a.txt": "BAD\n"})
	if _, err := m.Check(t.Context(), dir+"/missing", []string{"a.txt"}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
	if _, err := m.Check(t.Context(), dir, []string{"../a.txt"}); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	began := time.Now()
	if _, err := m.Check(ctx, dir, []string{"a.txt"}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s to return", took)
	}
}

// Only so many files are opened by one Check, and only so many stay open.
func TestOpenDocuments(t *testing.T) {
	t.Parallel()
	m := fakes(t, "good")
	files := map[string]string{}
	var first, second []string
	for i := range checkPaths + 5 {
		files[fmt.Sprintf("a%02d.txt", i)], files[fmt.Sprintf("b%02d.txt", i)] = "BAD\n", "BAD\n"
		first, second = append(first, fmt.Sprintf("a%02d.txt", i)), append(second, fmt.Sprintf("b%02d.txt", i))
	}
	dir := folder(t, files)
	r := check(t, m, dir, first...)
	if len(r.Files) != checkPaths {
		t.Errorf("%d files were checked", len(r.Files))
	}
	if diff := cmp.Diff([]Note{{Left, "only the first 20 files were checked"}}, r.Notes); diff != "" {
		t.Error(diff)
	}
	r = check(t, m, dir, second[:checkPaths]...)
	if len(r.Files) != openDocs { // this server knows nothing of a file that is not open
		t.Errorf("%d files are open", len(r.Files))
	}
	for _, e := range m.entries {
		if len(e.server.docs) != openDocs {
			t.Errorf("%d documents are open", len(e.server.docs))
		}
	}
}
