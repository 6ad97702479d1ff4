//go:build e2e

package cli

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
)

// call is a tool call of a scripted model.
type call struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

func bash(command string) call {
	return call{"bash", map[string]any{"command": command, "timeout": 60}}
}

// pawl returns a call of Pawl in the project, with a model that makes the calls, one in each step.
func (p *project) pawl(args []string, calls ...call) *exec.Cmd {
	p.t.Helper()
	var script strings.Builder
	for _, c := range calls {
		line, err := json.Marshal(map[string]any{"calls": []call{c}})
		if err != nil {
			p.t.Fatal(err)
		}
		script.Write(append(line, '\n'))
	}
	script.WriteString(`{"text":"done"}` + "\n")
	path := filepath.Join(p.home, "script.jsonl")
	if err := os.WriteFile(path, []byte(script.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(p.bin, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.home, "PAWL_DATA="+p.data, "PAWL_MODEL=script:"+path, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=")
	return cmd
}

// prompt runs a turn and returns its tool results and what Pawl has printed.
func (p *project) prompt(args []string, calls ...call) string {
	p.t.Helper()
	out, err := p.pawl(append([]string{"run", "--format", "stream-json"}, args...), calls...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("pawl run %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestAddedDirectory: tools and commands work in a further project directory, with the checks of the workspace.
func TestAddedDirectory(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	more := filepath.Join(filepath.Dir(p.dir), "more")
	p.sh("mkdir -p ../more/src ../other; cd ../more; git init -q; echo one >src/a; echo KEY=secret >.env; echo other >../other/x; ln -s ../other/x link")
	out := p.prompt([]string{"--mode", "auto", "--add-dir", more, "go"},
		call{"read", map[string]any{"path": more + "/src/a"}},
		call{"write", map[string]any{"path": more + "/src/new", "content": "written\n"}},
		call{"edit", map[string]any{"path": more + "/src/a", "old": "one", "new": "two"}},
		call{"grep", map[string]any{"path": more, "pattern": "writ+en"}},
		call{"glob", map[string]any{"pattern": "**/a", "path": more}},
		call{"apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Add File: here\n+h\n*** Add File: " + more + "/there\n+t\n*** End Patch\n"}},
		bash("cd "+more+" && cat src/a && ls -A && cat .env; echo by command >src/c; echo evil >.git/hooks/pre-commit; echo x >../other/y; echo ok >"+p.dir+"/w"),
		call{"bash", map[string]any{"command": "pwd", "workdir": more + "/src"}},
		call{"read", map[string]any{"path": more + "/link"}},
		call{"read", map[string]any{"path": filepath.Dir(p.dir) + "/other/x"}},
		call{"write", map[string]any{"path": more + "/.git/hooks/post-commit", "content": "x"}},
	)
	for _, want := range []string{more + `/src/new\n1:written`, `by command`, more + `/src\n`, "auto mode denies what leaves the sandbox", "is outside the workspace", more + "/.git/hooks/pre-commit"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "KEY=secret") || strings.Contains(out, `"other`) {
		t.Errorf("a secret or another directory was read:\n%s", out)
	}
	if got := p.sh("cat w here; cd ../more; cat src/a src/new src/c there; ls .git/hooks | grep commit$; ls ../other"); got != "ok\nh\ntwo\nwritten\nby command\nt\nx\n" {
		t.Errorf("the files have %q\n%s", got, out)
	}
	// The next session does not have it, and an export does not carry it.
	if out := p.prompt([]string{"--mode", "auto", "go"}, call{"read", map[string]any{"path": more + "/src/a"}}, bash("echo no >>"+more+"/src/a")); !strings.Contains(out, "is outside the workspace") {
		t.Error(out)
	}
	if got := p.sh("cat ../more/src/a"); got != "two\n" {
		t.Errorf("a session without --add-dir wrote %q", got)
	}
}

// TestUndoInAddedDirectory: undo and redo restore what tools and commands changed in a further project directory.
func TestUndoInAddedDirectory(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	more := filepath.Join(filepath.Dir(p.dir), "more")
	p.sh("mkdir ../more; cd ../more; git init -q; echo one >a; echo gone >b")
	files := func() string {
		return p.sh("for f in here ../more/*; do if [ -e $f ]; then echo $f; cat $f; fi; done")
	}
	before := files()
	p.prompt([]string{"--mode", "auto", "--add-dir", more, "go"},
		call{"write", map[string]any{"path": more + "/new", "content": "written\n"}},
		bash("cd "+more+"; echo two >a; rm b; echo h >"+p.dir+"/here"),
	)
	after := files()
	if after != "here\nh\n../more/a\ntwo\n../more/new\nwritten\n" {
		t.Fatalf("the turn left %q", after)
	}
	for _, step := range []struct {
		args []string
		want string
	}{{[]string{"undo", "last", "--yes"}, before}, {[]string{"redo", "last", "--yes"}, after}, {[]string{"shell", "last", "echo three >" + more + "/a"}, ""}, {[]string{"undo", "last", "--yes"}, after}} {
		if out, ok := p.session(step.args...); !ok || step.want != "" && files() != step.want {
			t.Errorf("after %q the files are %q, want %q\n%s", step.args, files(), step.want, out)
		}
	}
	if got := p.sh("cat ../more/a"); got != "two\n" {
		t.Errorf("the shell command is not undone: %q", got)
	}
}

// TestRefusedDirectories: what cannot be a further project directory is rejected before a session exists.
func TestRefusedDirectories(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	p.sh("mkdir sub ../more ../more/sub; ln -s " + p.data + " ../link")
	for _, dirs := range [][]string{{"/"}, {p.home}, {filepath.Dir(p.home)}, {"sub"}, {"."}, {".."}, {p.data}, {"../link"}, {"/etc"}, {"/proc/self"}, {"missing"}, {"../more", "../more/sub"}, {"../more", "../more"}} {
		args := []string{"run", "hi"}
		for _, dir := range dirs {
			args = append(args, "--add-dir", dir)
		}
		if out, err := p.pawl(args).CombinedOutput(); err == nil {
			t.Errorf("%q was accepted:\n%s", dirs, out)
		}
	}
	if out, err := p.pawl([]string{"session", "list"}).CombinedOutput(); err != nil || strings.Contains(string(out), p.dir) {
		t.Errorf("sessions are left: %v\n%s", err, out)
	}
}

// TestImportedDirectories: an export does not give the session that is imported from it further project directories.
func TestImportedDirectories(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	more := filepath.Join(filepath.Dir(p.dir), "more")
	p.sh("mkdir ../more; echo one >../more/a")
	reads := call{"read", map[string]any{"path": more + "/a"}}
	if out := p.prompt([]string{"--mode", "auto", "--add-dir", more, "go"}, reads); !strings.Contains(out, `1\tone`) {
		t.Fatalf("the directory was not added:\n%s", out)
	}
	exported := func() string {
		out, err := p.pawl([]string{"session", "export", "--format", "jsonl", "last"}).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	first := exported()
	imports := p.pawl([]string{"session", "import", "--as-new"})
	imports.Stdin = strings.NewReader(first)
	if out, err := imports.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	second := exported()
	if !strings.Contains(first, `"add_dirs"`) || !strings.Contains(second, `1\tone`) || strings.Contains(second, `"add_dirs"`) {
		t.Errorf("exported:\n%s\nimported:\n%s", first, second)
	}
}

// TestServedDirectories: a client of a server adds no directory that is outside of the server's --dir.
func TestServedDirectories(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	outside := filepath.Join(filepath.Dir(p.dir), "outside")
	p.sh("mkdir work more ../outside; echo one >../outside/a; echo two >more/a; ln -s ../outside link")
	work, err := client.New(client.Config{URL: p.serve("--dir", p.dir, "--dir", filepath.Join(p.dir, "more")), Token: strings.TrimSpace(p.sh("cat " + p.data + "/server-token"))})
	if err != nil {
		t.Fatal(err)
	}
	s, err := work.Create(t.Context(), pawl.NewSession{Dir: filepath.Join(p.dir, "work")})
	if err != nil {
		t.Fatal(err)
	}
	send := func(dir string) error {
		_, err := work.Send(t.Context(), s.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Delivery: pawl.DeliverQueue, Settings: pawl.Settings{Mode: "auto", AddDirs: []string{dir}}})
		return err
	}
	for _, dir := range []string{outside, filepath.Join(p.dir, "link"), filepath.Join(p.dir, "more/../../outside"), "/", p.home, p.data} {
		if err := send(dir); err == nil {
			t.Errorf("%s was added", dir)
		}
	}
	if err := send(filepath.Join(p.dir, "more")); err != nil {
		t.Errorf("a directory of --dir was not added: %v", err)
	}
}

// serve starts a server and returns its URL.
func (p *project) serve(flags ...string) string {
	p.t.Helper()
	cmd := p.pawl(append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...))
	output, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "pawl: listening on "); ok {
			return url
		}
	}
	p.t.Fatal("the server has ended")
	return ""
}
