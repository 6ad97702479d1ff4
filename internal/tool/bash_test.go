package tool

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
)

// meta compares all but the duration, which must be there.
var meta = cmp.Options{cmpopts.IgnoreMapEntries(func(k, v string) bool { return k == "duration_ms" && v != "" })}

func TestContract_R5_Bash(t *testing.T) {
	ok := map[string]string{"exit_code": "0"}
	tests := []struct {
		name  string
		in    fields
		want  pawl.Result
		error string
	}{
		{"output", fields{"command": "echo hello"}, pawl.Result{Content: "hello\n", Meta: ok}, ""},
		{"output that begins with a blank line", fields{"command": "echo; echo hello"}, pawl.Result{Content: "\nhello\n", Meta: ok}, ""},
		{"no output", fields{"command": "true"}, pawl.Result{Content: "(done, no output)", Meta: ok}, ""},
		{"both outputs", fields{"command": "echo out; echo err >&2; echo out"}, pawl.Result{Content: "out\nerr\nout\n", Meta: ok}, ""},
		{
			"exit code", fields{"command": "echo no; exit 3"},
			pawl.Result{Content: "no\n(exit code 3)", IsError: true, Meta: map[string]string{"exit_code": "3"}}, "",
		},
		{
			"exit code, no output", fields{"command": "exit 1"},
			pawl.Result{Content: "(exit code 1)", IsError: true, Meta: map[string]string{"exit_code": "1"}}, "",
		},
		{
			"no such command", fields{"command": "pawl-no-such-command"},
			pawl.Result{
				Content: "bash: line 1: pawl-no-such-command: command not found\n(exit code 127)", IsError: true,
				Meta: map[string]string{"exit_code": "127"},
			}, "",
		},
		{
			"signal", fields{"command": "echo x; kill -9 $$"},
			pawl.Result{Content: "x\n(ended by signal: killed)", IsError: true, Meta: map[string]string{"exit_code": "-1", "signal": "killed"}}, "",
		},
		{
			"timeout", fields{"command": "echo begun; exec sleep 1000", "timeout": 1},
			pawl.Result{
				Content: "begun\n(killed: it ran longer than 1s)", IsError: true,
				Meta: map[string]string{"exit_code": "-1", "timeout": "true"},
			}, "",
		},
		{"folder", fields{"command": "basename $PWD", "workdir": "sub/dir"}, pawl.Result{Content: "dir\n", Meta: ok}, ""},
		{"the workspace", fields{"command": "cat sub/file"}, pawl.Result{Content: "x\n", Meta: ok}, ""},
		{"binary output", fields{"command": `printf 'a\xff\xfe\0b\n'`}, pawl.Result{Content: "a\uFFFD\x00b\n", Meta: ok}, ""},
		{"no start-up files", fields{"command": "shopt -q login_shell || echo plain; echo $-"}, pawl.Result{Content: "plain\nhBc\n", Meta: ok}, ""},
		{"no folder", fields{"command": "true", "workdir": "nope"}, pawl.Result{}, "nope"},
		{"a folder outside", fields{"command": "true", "workdir": ".."}, pawl.Result{}, ".. is outside of the workspace"},
		{"nothing to run", fields{"command": " \n"}, pawl.Result{}, "command is empty"},
		{"negative timeout", fields{"command": "true", "timeout": -1}, pawl.Result{}, "timeout must be between 0 and 600"},
	}
	dir := folder(t, map[string]string{"sub/dir/": "", "sub/file": "x\n"})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), Bash(), call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			if diff := cmp.Diff(test.want, got, meta); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBashAccess(t *testing.T) {
	got, err := Bash().Access(t.Context(), call("/project", `{"command":"go test ./...","workdir":"sub"}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pawl.Access{{Kind: pawl.AccessExec, Target: "go test ./..."}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestContract_R14_BashIsCanceled(t *testing.T) {
	for _, command := range []string{
		"echo begun; exec sleep 1000",
		"echo begun; sleep 1000 & sleep 1000; wait",
		"trap '' TERM; echo begun; sleep 1000",
		"echo begun; setsid --wait sleep 1000",
		"echo begun; yes >/dev/null",
	} {
		t.Run(command, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("why")
			var canceled time.Time
			var once sync.Once
			c := call(t.TempDir(), input(t, fields{"command": command}))
			c.Progress = func(string) {
				once.Do(func() {
					canceled = time.Now()
					cancel(why)
				})
			}
			got, err := try(ctx, Bash(), c)
			if took := time.Since(canceled); took > time.Second {
				t.Errorf("it took %s", took)
			}
			if !errors.Is(err, why) {
				t.Errorf("got %v, want the cause", err)
			}
			want := pawl.Result{Content: "begun\n", IsError: true, Meta: map[string]string{"exit_code": "-1"}}
			if diff := cmp.Diff(want, got, meta); diff != "" {
				t.Errorf("what had come is not kept: %s", diff)
			}
		})
	}
}

// Output comes while the command runs: it ends only when its output was seen.
func TestBashShowsProgress(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "seen")
	c := call(dir, input(t, fields{"command": "mkfifo seen; echo one; cat seen; echo three"}))
	var seen []string
	c.Progress = func(text string) {
		seen = append(seen, text)
		if text == "one\n" {
			go func() { // the other end of the pipe
				_, _ = try(t.Context(), Bash(), call(dir, input(t, fields{"command": "echo two > " + fifo})))
			}()
		}
	}
	got, err := try(t.Context(), Bash(), c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("one\ntwo\nthree\n", got.Content); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("one\ntwo\nthree\n", strings.Join(seen, "")); diff != "" {
		t.Error(diff)
	}
}

func TestBashHugeOutputIsBounded(t *testing.T) {
	const size = 32 << 20
	var peak uint64
	n := 0
	c := call(t.TempDir(), input(t, fields{"command": "head -c 33554432 /dev/zero | tr '\\0' x; echo; echo the end"}))
	c.Progress = func(string) {
		if n++; n%64 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	got, err := try(t.Context(), Bash(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Content) > BashBytes+100 || !utf8.ValidString(got.Content) {
		t.Errorf("%d bytes were kept", len(got.Content))
	}
	if !strings.HasPrefix(got.Content, "xxx") || !strings.HasSuffix(got.Content, "xxx\nthe end\n") || !strings.Contains(got.Content, " bytes dropped …") {
		t.Errorf("head and tail are not kept: %.20q … %q", got.Content, got.Content[len(got.Content)-20:])
	}
	if peak > size/2 {
		t.Errorf("%d MiB of memory were used for %d MiB of output", peak>>20, size>>20)
	}
}
