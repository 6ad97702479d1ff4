package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/proc"
)

const fakeName = "fake-lsp"

// fakeSpec is a server that behaves in the given way.
func fakeSpec(way string) Spec {
	return Spec{
		Name: fakeName, Args: []string{serveArg + way}, Files: map[string]string{".txt": "text"}, Roots: []string{"root"},
		Install: "make it", Settings: map[string]any{"fake": map[string]any{"a": 1}},
	}
}

// binaries returns a directory with programs that are this test binary.
func binaries(t *testing.T, names ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// fakes returns servers that behave in the given way. When the test ends they
// are closed, and nothing of them may be left.
func fakes(t *testing.T, way string) *Servers {
	t.Helper()
	m := &Servers{Table: []Spec{fakeSpec(way)}, Path: binaries(t, fakeName) + ":" + os.Getenv("PATH")}
	closeAtEnd(t, m)
	return m
}

// closeAtEnd also puts a directory of the test on the servers' search path:
// by that running knows them.
func closeAtEnd(t *testing.T, m *Servers) {
	t.Helper()
	m.Path += ":" + t.TempDir()
	t.Cleanup(func() {
		m.Close()
		if left := running(m); len(left) > 0 {
			t.Errorf("after Close these still run: %v", left)
		}
	})
}

// running returns the processes of the servers and what they have started:
// the ids, and the command lines.
func running(m *Servers) map[int]string {
	own := m.Path[strings.LastIndex(m.Path, ":"):]
	return processes(func(env string) bool {
		return strings.Contains(env, "\x00PAWL_RUN="+proc.Self().Mark+"\x00") && strings.Contains(env, own+"\x00")
	})
}

// marked returns the processes that carry the mark.
func marked(mark string) map[int]string {
	return processes(func(env string) bool { return strings.Contains(env, "\x00PAWL_RUN="+mark+"\x00") })
}

func processes(match func(env string) bool) map[int]string {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	found := map[int]string{}
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !match("\x00"+string(env)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // that is what the pattern says
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return found
}

// directory makes a workspace.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// up starts the fake server of a directory.
func up(t *testing.T, m *Servers, dir string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	k := key{real, real, fakeName}
	s, err := m.use(t.Context(), k, m.Table[0])
	if err != nil {
		t.Fatal(err)
	}
	m.release(k, s)
}

// check is Check with time enough.
func check(t *testing.T, m *Servers, dir string, paths ...string) Report {
	t.Helper()
	return checkFor(t, m, time.Minute, dir, paths...)
}

func checkFor(t *testing.T, m *Servers, limit time.Duration, dir string, paths ...string) Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	report, err := m.Check(ctx, dir, paths)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// lines is a report as text: path:line: error|warning: message, then the notes.
// A + is in front of what is new, files not asked about are in brackets.
func lines(r Report) []string {
	var out []string
	for _, f := range r.Files {
		for _, fault := range f.Faults {
			path, kind, mark := f.Path, "warning", ""
			if !f.Asked {
				path = "[" + path + "]"
			}
			if fault.Error {
				kind = "error"
			}
			if fault.New {
				mark = "+"
			}
			out = append(out, fmt.Sprintf("%s%s:%d: %s: %s", mark, path, fault.Line, kind, fault.Message))
		}
	}
	for _, n := range r.Notes {
		out = append(out, "note: "+n.Text)
	}
	return out
}

func checkLines(t *testing.T, r Report, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(r), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
