package tool

import (
	"context"
	"errors"
	"fmt"
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

func newJobs(t *testing.T) *Jobs {
	t.Helper()
	jobs := NewJobs(openStore(t), Unsandboxed{})
	t.Cleanup(jobs.Close)
	return jobs
}

func TestContract_R5_Bash(t *testing.T) {
	t.Parallel()
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
		{"folder", fields{"command": "basename $PWD", "workdir": "sub/dir"}, pawl.Result{Content: "dir\n", Meta: ok}, ""},
		{"the workspace", fields{"command": "cat sub/file"}, pawl.Result{Content: "x\n", Meta: ok}, ""},
		{"not UTF-8", fields{"command": `printf 'a long text\xff\xfe\0b\n'`}, pawl.Result{Content: "a long text\uFFFDb\n", Meta: ok}, ""},
		{
			"binary output", fields{"command": `printf 'a\xff\xfe\0\1b\n'`},
			pawl.Result{Content: "a\uFFFDb\n(binary output)", Meta: map[string]string{"exit_code": "0", "binary": "true"}}, "",
		},
		{
			"binary output, exit code", fields{"command": `printf '\0\1\2\3'; exit 4`},
			pawl.Result{Content: "\uFFFD\n(binary output; exit code 4)", IsError: true, Meta: map[string]string{"exit_code": "4", "binary": "true"}}, "",
		},
		{"a progress bar", fields{"command": `printf '10%%\r20%%\r\e[1m100%%\e[0m\n'`}, pawl.Result{Content: "100%\n", Meta: ok}, ""},
		{"no start-up files", fields{"command": "shopt -q login_shell || echo plain; echo $-"}, pawl.Result{Content: "plain\nhBc\n", Meta: ok}, ""},
		{"input is at its end", fields{"command": "cat; read x || echo end; head -c 1 | wc -c"}, pawl.Result{Content: "end\n0\n", Meta: ok}, ""},
		{"late output", fields{"command": "(until ! [ -e /proc/$$/exe ]; do :; done; echo late) & echo early"}, pawl.Result{Content: "early\nlate\n", Meta: ok}, ""},
		{"no folder", fields{"command": "true", "workdir": "nope"}, pawl.Result{}, "nope"},
		{"a folder outside", fields{"command": "true", "workdir": ".."}, pawl.Result{}, ".. is outside the workspace"},
		{"nothing to run", fields{"command": " \n"}, pawl.Result{}, "command is empty"},
		{"negative timeout", fields{"command": "true", "timeout": -1}, pawl.Result{}, "timeout must be between 0 and 600"},
	}
	dir, bash := folder(t, map[string]string{"sub/dir/": "", "sub/file": "x\n"}), Bash(newJobs(t))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), bash, call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			if diff := cmp.Diff(test.want, got, meta); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBashAccess(t *testing.T) {
	t.Parallel()
	got, err := Bash(NewJobs(nil, Unsandboxed{})).Access(t.Context(), call("/project", `{"command":"go test ./...","workdir":"sub","background":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pawl.Access{{Kind: pawl.AccessExec, Target: "go test ./..."}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestContract_R14_BashIsCanceled(t *testing.T) { //nolint:paralleltest // it sets environment variables
	mine := markProcesses(t)
	for command, signal := range map[string]string{
		"echo begun; exec sleep 1000":                                                                         "terminated",
		"echo begun; sleep 1000 & sleep 1000; wait":                                                           "terminated",
		"trap '' TERM; echo begun; sleep 1000; sleep 1000":                                                    "killed",
		"(trap '' TERM; exec sleep 1000) & sleep 0.01; echo begun; wait":                                      "terminated",
		"echo begun; setsid --wait sleep 1000":                                                                "terminated",
		"(setsid sh -c \"trap '' TERM; echo begun; while :; do sleep 1; done\" >&2 &); exec sleep 1000":       "terminated",
		"(setsid sh -c 'echo begun >&2; exec sleep 1000 </dev/null >/dev/null 2>&1' &); (sleep 1000); exit 3": "terminated",
		"echo begun; yes >/dev/null":                                                                          "terminated",
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
			got, err := try(ctx, Bash(newJobs(t)), c)
			if took := time.Since(canceled); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if left := mine(); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			if !errors.Is(err, why) {
				t.Errorf("got %v, want the cause", err)
			}
			want := pawl.Result{Content: "begun\n", IsError: true, Meta: map[string]string{"exit_code": "-1", "signal": signal, "killed": "true"}}
			if diff := cmp.Diff(want, got, meta); diff != "" {
				t.Errorf("what had come is not kept: %s", diff)
			}
		})
	}
	if n := zombies(t); n > 0 {
		t.Errorf("%d zombies are left", n)
	}
}

// Output comes while the command runs, and while its line has no end: it goes
// on only when that was seen.
func TestBashShowsProgress(t *testing.T) {
	t.Parallel()
	for _, print := range []string{"echo one", "printf one"} {
		t.Run(print, func(t *testing.T) {
			dir := t.TempDir()
			bash := Bash(newJobs(t))
			c := call(dir, input(t, fields{"command": "mkfifo seen; " + print + "; cat seen; echo three"}))
			var seen []string
			c.Progress = func(text string) {
				if seen = append(seen, text); len(seen) == 1 {
					go func() { // the other end of the pipe
						_, _ = try(t.Context(), bash, call(dir, input(t, fields{"command": "echo two > " + filepath.Join(dir, "seen")})))
					}()
				}
			}
			got, err := try(t.Context(), bash, c)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(got.Content, "two\nthree\n") || len(seen) < 2 {
				t.Errorf("got %q, seen %q", got.Content, seen)
			}
			if diff := cmp.Diff(got.Content, strings.Join(seen, "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is more than the model is given is kept, and the model can read it.
func TestBashTruncates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, command string
		head, tail    string
		size          int64
		is            string
	}{
		{"lines", "seq 100000", "1\n2\n3\n", "99999\n100000\n", 588895, ""},
		{"lines, and a failure", "seq 100000; exit 3", "1\n2\n3\n", "99999\n100000\n(exit code 3)", 588895, ""},
		{"a huge line", "printf begin; head -c 200000 /dev/zero | tr '\\0' y; printf end", "beginyyy", "yyyend", 200008, ""},
		{"more than memory holds", "seq 1000000", "1\n2\n3\n", "999999\n1000000\n", 6888896, ""},
		{"runes", "for i in {1..30000}; do printf 日本; done", "日本日本", "日本日本", 180000, ""},
	}
	jobs := newJobs(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), Bash(jobs), call(t.TempDir(), input(t, fields{"command": test.command})))
			if err != nil {
				t.Fatal(err)
			}
			if got.Full == nil || got.Full.Size != test.size {
				t.Fatalf("it is kept as %+v", got.Full)
			}
			if !strings.HasPrefix(got.Content, test.head) || !strings.HasSuffix(got.Content, test.tail) {
				t.Errorf("%.20q … %q", got.Content, got.Content[len(got.Content)-30:])
			}
			if n := len(got.Content); n > ResultBytes+200 || n < ResultBytes-200 || !utf8.ValidString(got.Content) {
				t.Errorf("%d bytes", n)
			}
			if !strings.Contains(got.Content, fmt.Sprintf(" bytes left out: read blob:%s to see all …\n", got.Full.ID)) {
				t.Error("the model is not told of the rest")
			}
			page, err := try(t.Context(), Read(jobs.blobs), call("/", input(t, fields{"path": "blob:" + got.Full.ID, "limit": 1})))
			if err != nil || !strings.HasPrefix(page.Content, blobNote+"     1\t"+strings.SplitAfter(test.head, "\n")[0]) {
				t.Errorf("the blob reads %.30q, %v", page.Content, err)
			}
		})
	}
}

// A gigabyte takes neither memory nor time.
func TestBashHugeOutputIsBounded(t *testing.T) { //nolint:paralleltest // it measures memory
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak uint64
	pieces, shown := 0, 0
	c := call(t.TempDir(), input(t, fields{"command": "head -c 1M /dev/zero | tr '\\0' x >f; cat $(yes f | head -1024); echo; echo the end"}))
	c.Progress = func(text string) {
		pieces++
		shown += len(text)
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
	}
	jobs := newJobs(t)
	began := time.Now()
	got, err := try(t.Context(), Bash(jobs), c)
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Content) > ResultBytes+200 || !strings.HasPrefix(got.Content, "xxx") || !strings.HasSuffix(got.Content, "xxx\nthe end\n") {
		t.Errorf("%d bytes: %.20q … %q", len(got.Content), got.Content, got.Content[len(got.Content)-20:])
	}
	if got.Full == nil || got.Full.Size > BashDiskBytes+100 || got.Full.Size < BashDiskBytes {
		t.Errorf("it is kept as %+v", got.Full)
	}
	if grown := int64(peak - before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d MiB of memory were used", grown>>20)
	}
	if most := int(took/progressEvery) + 2; pieces > most || shown > most*(progressBytes+100) {
		t.Errorf("%d pieces of %d bytes were shown in %s", pieces, shown, took)
	}
	if took > 2*time.Minute { // a few seconds, when nothing else runs
		t.Errorf("it took %s", took)
	}
	t.Logf("1 GiB took %s, %d pieces were shown, the heap grew by %d KiB", took, pieces, (peak-before.HeapAlloc)>>10)
}
