//go:build bench

package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

const (
	searchVar     = "PAWL_BENCH_SEARCH" // the search that a child process makes
	searchFolders = 1000
	searchFiles   = 100 // a directory
	searchRSS     = 100 << 20
)

// searchCall is what a child process does once.
type searchCall struct {
	Tool  string // grep-rg, grep-own, grep, glob, list, read
	Dir   string
	Input string
}

// searchTools are the tools that a child process may run.
func searchTools() (map[string]toolapi.Tool, error) {
	rg, err := exec.LookPath("rg")
	return map[string]toolapi.Tool{
		"grep": tool.Grep(search.Default()), "grep-rg": tool.Grep(search.Ripgrep(rg)), "grep-own": tool.Grep(search.Own()),
		"glob": tool.Glob(), "list": tool.List(), "read": tool.Read(nil),
	}, err
}

// searchMain is the child: it makes one call and prints its answer.
func searchMain() int {
	var c searchCall
	tools, err := searchTools()
	if err == nil {
		err = json.Unmarshal([]byte(os.Getenv(searchVar)), &c)
	}
	var result pawl.Result
	if err == nil {
		result, err = tools[c.Tool].Run(context.Background(), toolapi.Call{Dir: c.Dir, Input: json.RawMessage(c.Input), Progress: func(string) {}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(result.Content)
	return 0
}

// searched runs a command a few times and returns the medians and its last output.
func searched(t *testing.T, runs int, command func() *exec.Cmd) (cost, string) {
	t.Helper()
	var all []cost
	var text []byte
	for range runs {
		cmd := command()
		began := time.Now()
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("%s: %v", cmd, err)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		all = append(all, cost{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss: used.Maxrss << 10, wall: time.Since(began)})
		text = out
	}
	return cost{
		cpu:  median(all, func(c cost) time.Duration { return c.cpu }),
		rss:  median(all, func(c cost) int64 { return c.rss }),
		wall: median(all, func(c cost) time.Duration { return c.wall }),
	}, string(text)
}

// row measures one of our calls, which must come to its end in time. The
// memory is never less than this process has: a child begins with that.
func row(t *testing.T, name, dir string, input any) cost {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	env, err := json.Marshal(searchCall{name, dir, string(in)})
	if err != nil {
		t.Fatal(err)
	}
	c, text := searched(t, 3, func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), searchVar+"="+string(env))
		return cmd
	})
	t.Logf("%-10s %-52s wall %9s  CPU %9s  peak RSS %5.1f MB", name, in, ms(c.wall), ms(c.cpu), mb(c.rss))
	if strings.Contains(text, "time of") {
		t.Errorf("%s %s: …%s", name, in, text[max(0, len(text)-100):])
	}
	return c
}

// small fails the test if a call took much memory.
func small(t *testing.T, c cost) {
	t.Helper()
	if c.rss > searchRSS {
		t.Errorf("%.1f MB of memory, at most %d", mb(c.rss), searchRSS>>20)
	}
}

// bare measures another program.
func bare(t *testing.T, dir string, args ...string) {
	t.Helper()
	c, _ := searched(t, 3, func() *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		return cmd
	})
	t.Logf("%-10s %-52s wall %9s  CPU %9s  peak RSS %5.1f MB", "bare", strings.Join(args, " "), ms(c.wall), ms(c.cpu), mb(c.rss))
}

type inputs map[string]any

// TestBenchSearchTree: 100,000 files, beside the programs that people know.
func TestBenchSearchTree(t *testing.T) { //nolint:paralleltest // it measures time
	dir := t.TempDir()
	line := "func (s *Server) handle(ctx context.Context, name string) error { return nil }\n"
	for i := range searchFolders {
		folder := filepath.Join(dir, fmt.Sprintf("pkg%02d/mod%d/src", i/100, i%100))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for k := range searchFiles {
			text := strings.Repeat(line, 5+(i+k)%40)
			if k == 7 && i%50 == 0 {
				text += "the rareNeedle_42 is here\n"
			}
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file%d.go", k)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pattern := range []string{"rareNeedle_42", `\d{2}`, "handle"} {
		bare(t, dir, "rg", "--no-config", "-c", "-e", pattern)
		bare(t, dir, "grep", "-rcP", pattern)
		for _, engine := range []string{"grep-rg", "grep-own", "grep"} {
			small(t, row(t, engine, dir, inputs{"pattern": pattern}))
		}
	}
	bare(t, dir, "rg", "--no-config", "--files", "-g", "*7.go")
	small(t, row(t, "glob", dir, inputs{"pattern": "*7.go"}))
	small(t, row(t, "list", dir, inputs{"depth": 9}))
}

// TestBenchSearchFile: one file of 1 GB.
func TestBenchSearchFile(t *testing.T) { //nolint:paralleltest // it measures time
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	const lines = 16 << 20
	w := bufio.NewWriter(f)
	for range lines {
		_, err = io.WriteString(w, "a line of a log with nothing in it, as long as most of the rest\n")
	}
	if err == nil {
		_, err = io.WriteString(w, "the rareNeedle_42 is here\n")
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"rareNeedle_42", `\d{2}`} {
		bare(t, dir, "rg", "--no-config", "-c", "-e", pattern, "big")
		row(t, "grep-rg", dir, inputs{"pattern": pattern, "path": "big", "mode": "files"}) // it maps the file: that counts as its memory
	}
	small(t, row(t, "grep", dir, inputs{"pattern": "rareNeedle_42", "path": "big"}))
	small(t, row(t, "grep", dir, inputs{"pattern": "nothing", "path": "big"}))
	small(t, row(t, "read", dir, inputs{"path": "big", "offset": lines}))
}
