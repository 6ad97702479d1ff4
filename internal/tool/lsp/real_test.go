package lsp

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// realPath is where the real servers are, and all that they need.
func realPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PAWL_TEST_LSP_PATH")
	for _, name := range []string{"gopls", "typescript-language-server"} {
		if _, err := find(name, "/nowhere", path); err != nil {
			t.Fatalf(`%s is not on PAWL_TEST_LSP_PATH=%q: run "make tools" and export PAWL_TEST_LSP_PATH=$(make -s lsp-path)`, name, path)
		}
	}
	return path + ":" + os.Getenv("PATH")
}

func realServers(t *testing.T) *Servers {
	t.Helper()
	table := Table()
	for i := range table {
		table[i].Settle = 20 * settleTime // diagnostics of other files may be late on a busy machine
	}
	m := &Servers{Table: table, Path: realPath(t)}
	closeAtEnd(t, m)
	return m
}

const goMod = "module example.com/x\n\ngo 1.26\n"

// step is a change of files and what a Check then says. An empty text removes
// the file. Warnings in other files do not matter: they come when they come.
type step struct {
	name   string
	change map[string]string
	check  []string
	want   []string
}

// play plays the steps one after another on one server, and logs what they took.
func play(t *testing.T, m *Servers, dir string, steps []step) {
	t.Helper()
	for i, step := range steps {
		for name, text := range step.change {
			if text == "" {
				remove(t, dir, name)
			} else {
				put(t, dir, name, text)
			}
		}
		began := time.Now()
		r := check(t, m, dir, step.check...)
		took := time.Since(began)
		t.Logf("%6d ms  %s", took.Milliseconds(), step.name)
		if i > 0 && took > time.Minute { // warm, it is some 100 ms on a machine that does nothing else
			t.Errorf("%s: it took %s", step.name, took)
		}
		r.Files = slices.DeleteFunc(r.Files, func(f File) bool { return !f.Asked && f.Errors == 0 })
		checkLines(t, r, step.want...)
		if t.Failed() {
			t.Fatalf("in step %q", step.name)
		}
	}
}

func TestGopls(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"go.mod":   goMod,
		"a.go":     "package x\n\nfunc A() int { return 1 }\n",
		"sub/b.go": "package sub\n\nimport \"example.com/x\"\n\nvar B = x.A()\n",
	})
	good := "package x\n\nfunc A() int { return 1 }\n"
	play(t, realServers(t), dir, []step{
		{"cold", nil, []string{"a.go"}, nil},
		{"unchanged", nil, []string{"a.go"}, nil},
		{
			"an edit that breaks the build", map[string]string{"a.go": "package x\n\nfunc A() int { return \"\" }\n"},
			[]string{"a.go"},
			[]string{`+a.go:3: error: cannot use "" (untyped string constant) as int value in return statement`},
		},
		{"the fix", map[string]string{"a.go": good}, []string{"a.go"}, nil},
		{
			"a warning", map[string]string{"a.go": good + "\nfunc w() { for { continue; w() } }\n"},
			[]string{"a.go"},
			[]string{"a.go:5: warning: unreachable code"},
		},
		{
			"a change that breaks another file", map[string]string{"a.go": "package x\n\nfunc AA() int { return 1 }\n"},
			[]string{"a.go"},
			[]string{"+[sub/b.go]:5: error: undefined: x.A"},
		},
		{"the fix", map[string]string{"a.go": good}, []string{"a.go"}, nil},
		{
			"a new file", map[string]string{"c.go": "package x\n\nfunc C() int { return A(1) }\n"},
			[]string{"c.go"},
			[]string{"+c.go:3: error: too many arguments in call to A have (number) want ()"},
		},
		{"a new file that is right", map[string]string{"c.go": "package x\n\nfunc C() int { return A() }\n"}, []string{"c.go"}, nil},
		{
			"a deleted file", map[string]string{"a.go": ""},
			[]string{"a.go"},
			[]string{"+[c.go]:3: error: undefined: A", "+[sub/b.go]:5: error: undefined: x.A"},
		},
		{"it is back", map[string]string{"a.go": good}, []string{"a.go"}, nil},
		{
			"a file that a command has broken", map[string]string{"sub/b.go": "package sub\n\nvar B int = true\n"}, nil,
			[]string{"+[sub/b.go]:3: error: cannot use true (untyped bool constant) as int value in variable declaration"},
		},
		{"a file that a command has deleted", map[string]string{"sub/b.go": ""}, nil, nil},
		{
			"go.mod", map[string]string{"go.mod": goMod + "\nrequire x\n"},
			[]string{"go.mod"},
			[]string{"+go.mod:5: error: usage: require module/path v1.2.3"},
		},
		{"go.mod is right", map[string]string{"go.mod": goMod}, []string{"go.mod"}, nil},
	})
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	good := "export function f(n: number) { return n }\n"
	dir := folder(t, map[string]string{
		"tsconfig.json": `{"compilerOptions":{"strict":true}}`,
		"a.ts":          good,
		"b.ts":          "import { f } from './a'\nexport const x: number = f(1)\n",
		// A repository must not bring the TypeScript that is run.
		"node_modules/typescript/package.json":    `{"name":"typescript","version":"5.9.3"}`,
		"node_modules/typescript/lib/tsserver.js": `require("fs").writeFileSync("hostile", ""); process.exit(1)`,
	})
	play(t, realServers(t), dir, []step{
		{"cold", nil, []string{"a.ts"}, nil},
		{"unchanged", nil, []string{"a.ts"}, nil},
		{
			"an edit that breaks it", map[string]string{"a.ts": good + "const s: string = f(1)\n"},
			[]string{"a.ts"},
			[]string{"+a.ts:2: error: Type 'number' is not assignable to type 'string'."},
		},
		{"the fix", map[string]string{"a.ts": good}, []string{"a.ts"}, nil},
		{
			"a change that breaks another file", map[string]string{"a.ts": "export function f(n: string) { return 1 }\n"},
			[]string{"a.ts"},
			[]string{"+[b.ts]:2: error: Argument of type 'number' is not assignable to parameter of type 'string'."},
		},
		{"the fix", map[string]string{"a.ts": good}, []string{"a.ts"}, nil},
		{
			"a new file", map[string]string{"c.tsx": "export const c = f(1)\n"},
			[]string{"c.tsx"},
			[]string{"+c.tsx:1: error: Cannot find name 'f'."},
		},
		{"a new file that is right", map[string]string{"c.tsx": "export const c = 1\n"}, []string{"c.tsx", "b.ts"}, nil},
		{
			"a deleted file", map[string]string{"a.ts": ""},
			[]string{"a.ts"},
			[]string{"+[b.ts]:1: error: Cannot find module './a' or its corresponding type declarations."},
		},
		{"it is back", map[string]string{"a.ts": good}, []string{"a.ts"}, nil},
		{
			"a missing package", map[string]string{"b.ts": "import { f } from './a'\nimport { g } from 'pkg'\nf(g)\n"},
			[]string{"b.ts"},
			[]string{"+b.ts:2: error: Cannot find module 'pkg' or its corresponding type declarations."},
		},
		{
			"a package that a command installs", map[string]string{
				"node_modules/pkg/package.json": `{"name":"pkg","types":"index.d.ts"}`,
				"node_modules/pkg/index.d.ts":   "export const g: number\n",
			}, nil, nil,
		},
	})
	if _, err := os.Stat(dir + "/hostile"); err == nil {
		t.Error("the TypeScript of the project was run")
	}
}

// Two workspaces, and two projects in one of them, know nothing of each other.
// A server that is killed is started again, whoever asks. Many can ask at once.
func TestRealServersShared(t *testing.T) {
	t.Parallel()
	m := realServers(t)
	var dirs []string
	for _, name := range []string{"One", "Two"} {
		dirs = append(dirs, folder(t, map[string]string{
			"go.mod": goMod, "a.go": "package x\n\nvar A = " + name + "\n",
			"tool/go.mod": goMod, "tool/a.go": "package x\n\nvar A = Tool" + name + "\n",
			"tool/b.go": "package x\n\nvar B = Tool" + name + "\n",
		}))
	}
	ask := func() {
		t.Helper()
		var group sync.WaitGroup
		for i, name := range []string{"One", "Two"} {
			for path, want := range map[string]string{"a.go": name, "tool/a.go": "Tool" + name, "tool/b.go": "Tool" + name} {
				group.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					r, err := m.Check(ctx, dirs[i], []string{path})
					if err != nil {
						t.Error(err)
					}
					want := fmt.Sprintf("%s:3: error: undefined: %s", path, want)
					found := slices.ContainsFunc(lines(r), func(line string) bool { return strings.TrimPrefix(line, "+") == want })
					if others := strings.Contains(strings.Join(lines(r), "\n"), map[string]string{"One": "Two", "Two": "One"}[name]); !found || others {
						t.Errorf("%q does not hold %q, or something of the other", lines(r), want)
					}
				})
			}
		}
		group.Wait()
	}
	ask()
	gopls := 0
	for _, line := range running(m) {
		if strings.HasSuffix(line, "/gopls ") {
			gopls++
		}
	}
	if gopls < 4 {
		t.Errorf("%d servers run: %v", gopls, running(m))
	}
	for pid := range running(m) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // some end with the others
	}
	for _, dir := range dirs {
		put(t, dir, "tool/b.go", "package x\n\n\nvar B = 1\n")
		put(t, dir, "tool/b.go", strings.Replace("package x\n\nvar B = ToolNAME\n", "NAME", map[bool]string{true: "One", false: "Two"}[dir == dirs[0]], 1))
	}
	ask()
}

// A pawl that is killed leaves no server behind, nor what servers start.
func TestKilledPawlLeavesNoServers(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{"go.mod": goMod, "a.go": "package x\n\nvar A = B\n", "a.ts": "const a: string = 1\n"})
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), pawlVar+"="+dir, "PATH="+realPath(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	t.Cleanup(func() { proc.Reap(mark) })
	if rest != "0 notes, 2 files, <nil>" {
		t.Errorf("it found %s", rest)
	}
	running := strings.Join(slices.Collect(maps.Values(marked(mark))), "\n")
	for _, name := range []string{"/gopls ", "typescript-language-server", "tsserver.js"} {
		if !strings.Contains(running, name) {
			t.Errorf("%s does not run:\n%s", name, running)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	wait.Until(t, "all that it started is gone", func() bool { return len(marked(mark)) == 0 })
}
