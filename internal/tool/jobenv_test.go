package tool

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// jobEnv is a workspace with the three tools.
type jobEnv struct {
	t     *testing.T
	dir   string
	jobs  *Jobs
	tools map[string]toolapi.Tool
}

func newJobEnv(t *testing.T) *jobEnv {
	t.Helper()
	jobs := newJobs(t)
	w := &jobEnv{t: t, dir: t.TempDir(), jobs: jobs, tools: map[string]toolapi.Tool{}}
	for _, tool := range []toolapi.Tool{Bash(jobs), BashOutput(jobs), BashKill(jobs)} {
		w.tools[tool.Name] = tool
	}
	return w
}

func (w *jobEnv) call(in fields) toolapi.Call { return call(w.dir, input(w.t, in)) }

func (w *jobEnv) try(tool string, in fields) (pawl.Result, error) {
	return try(w.t.Context(), w.tools[tool], w.call(in))
}

func (w *jobEnv) must(tool string, in fields) pawl.Result {
	w.t.Helper()
	r, err := w.try(tool, in)
	if err != nil {
		w.t.Errorf("%s %v: %v", tool, in, err)
	}
	return r
}

var seconds = regexp.MustCompile(`running, [0-9]+\.[0-9] s`)

// want checks a result: how long something ran is left out.
func (w *jobEnv) want(tool string, in fields, content, meta string) {
	w.t.Helper()
	r := w.must(tool, in)
	if diff := cmp.Diff(content, seconds.ReplaceAllString(r.Content, "running")); diff != "" {
		w.t.Errorf("%s %v: %s", tool, in, diff)
	}
	if _, err := strconv.Atoi(r.Meta["duration_ms"]); err != nil {
		w.t.Errorf("%s %v: the duration: %v", tool, in, err)
	}
	delete(r.Meta, "duration_ms")
	var got []string
	for _, k := range slices.Sorted(maps.Keys(r.Meta)) {
		got = append(got, k+"="+r.Meta[k])
	}
	if diff := cmp.Diff(meta, strings.Join(got, " ")); diff != "" {
		w.t.Errorf("%s %v: %s", tool, in, diff)
	}
}

// startMany starts n jobs beside each other.
func (w *jobEnv) startMany(n int, command string) {
	w.t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { w.must("bash", fields{"command": command, "background": true}) })
	}
	wg.Wait()
}

// say lets go on who reads the pipe.
func (w *jobEnv) say(pipe, text string) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, pipe), os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

const processMark = "TOOL_TEST_MARK"

// markProcesses returns a function that finds what this test has started, at
// whatever remove.
func markProcesses(t *testing.T) func() []int {
	t.Helper()
	mark := rand.Text()
	t.Setenv(processMark, mark)
	return func() []int {
		t.Helper()
		var pids []int
		paths, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%d processes, %v", len(paths), err)
		}
		for _, path := range paths {
			env, _ := os.ReadFile(path)
			if slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return string(v) == processMark+"="+mark }) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				pids = append(pids, pid)
			}
		}
		return pids
	}
}

// zombies counts the children of this process that have ended and were not waited for.
func zombies(t *testing.T) int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d processes, %v", len(paths), err)
	}
	n := 0
	for _, path := range paths {
		stat, _ := os.ReadFile(path)
		var state string
		var parent int
		_, _ = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent)
		if state == "Z" && parent == os.Getpid() {
			n++
		}
	}
	return n
}
