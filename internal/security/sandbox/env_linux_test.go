package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// baseVar names a directory that is not among those a sandbox replaces, such as /tmp.
const baseVar = "SANDBOX_TEST_BASE"

func base(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(baseVar)
	switch {
	case dir != "":
	case os.Geteuid() == 0:
		dir = "/var/lib"
	default:
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = cache
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := os.MkdirTemp(dir, "pawl-box-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(made, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Release()
		if err := os.RemoveAll(made); err != nil {
			t.Error(err)
		}
	})
	return made
}

// testEnv is a home directory with secrets, a workspace, and things outside of both
// that a hostile command would like to reach.
type testEnv struct {
	t                   testing.TB
	backend             Backend
	root, home, ws      string
	outside             string
	profile             Profile
	secrets             map[string]string // what each is called, by its text
	guarded             []string          // files that must stay as they are, or stay away
	before              map[string]string
	victim              *exec.Cmd
	tcp, udp            string
	abstract, tmpSocket string
	names               *strings.Replacer

	terminal *os.File // the end of a terminal that its user sits at
	pts      string   // the other
	memory   int      // shared memory

	mu      sync.Mutex
	hits    map[string]int  // how often each server was reached, by address
	heard   map[string]bool // those that have heard of the world itself
	servers [][2]string     // network and address
}

func newTestEnv(t testing.TB, backend Backend) *testEnv {
	t.Helper()
	w := &testEnv{t: t, backend: backend, root: base(t), secrets: map[string]string{}, before: map[string]string{}, hits: map[string]int{}, heard: map[string]bool{}}
	w.home, w.ws, w.outside = filepath.Join(w.root, "home"), filepath.Join(w.root, "ws"), filepath.Join(w.root, "outside")
	if s, ok := t.(interface{ Setenv(k, v string) }); ok {
		s.Setenv("HOME", w.home)
		s.Setenv("PAWL_TEST_TOKEN", w.secret("a variable"))
	}
	for _, name := range []string{
		".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gcloud/credentials.db", ".docker/config.json",
		".bash_history", ".kube/config", ".gnupg/private-keys-v1.d/key", ".git-credentials", ".mozilla/firefox/cookies.sqlite",
		".local/share/keyrings/login.keyring", ".local/share/pawl/pawl.db",
	} {
		w.write(filepath.Join(w.home, name), w.secret(name))
	}
	w.write(filepath.Join(w.home, "bin/tool"), "tool")
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = me\n")
	w.guard(filepath.Join(w.home, ".bashrc"), "# mine")
	w.guard(filepath.Join(w.outside, "canary.txt"), "canary")
	w.guard(filepath.Join(w.root, "wsx", "canary.txt"), "canary") // its path begins as the workspace's does
	w.workspace()
	w.listen()
	w.startVictim()
	w.share()
	w.profile = Profile{Dir: w.ws, Hidden: []string{filepath.Join(w.home, ".local/share/pawl"), ".env*"}}
	w.link()
	return w
}

// workspace fills the workspace: a repository with things to protect, at the
// top and below.
func (w *testEnv) workspace() {
	w.t.Helper()
	w.write(filepath.Join(w.ws, "src", "main.go"), "package main")
	w.write(filepath.Join(w.ws, ".env"), w.secret(".env"))
	w.write(filepath.Join(w.ws, "conf", ".env.local"), w.secret(".env.local"))
	for _, dir := range []string{w.ws, filepath.Join(w.ws, "lib")} {
		if err := os.CopyFS(filepath.Join(dir, ".git"), repository(w.t)); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, name := range []string{
		".git/config", "lib/.git/config", ".vscode/settings.json", ".mcp.json", "pkg/.cursor/mcp.json", ".Idea/workspace.xml", ".npmrc",
	} {
		path := filepath.Join(w.ws, name)
		if text, err := os.ReadFile(path); err == nil {
			w.guard(path, string(text))
		} else {
			w.guard(path, "mine")
		}
	}
	for _, name := range []string{
		".git/hooks/pre-commit", "lib/.git/hooks/pre-commit", ".git/commondir", ".git/config.worktree", ".claude/settings.json", ".pawl/pawl.json",
		".agents/AGENT.md", ".gitmodules", ".envrc", ".husky/pre-commit", ".vscode/tasks.json", ".bashrc", ".zshrc", "pkg/.cursor/rules", ".codex", ".gemini", ".cursor",
	} {
		w.guarded = append(w.guarded, filepath.Join(w.ws, name))
	}
}

func (w *testEnv) git(args ...string) {
	w.t.Helper()
	if err := git(args...); err != nil {
		w.t.Fatal(err)
	}
}

func git(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w: %s", args, err, out)
	}
	return nil
}

// repository is a new .git. All worlds begin with the same.
func repository(t testing.TB) fs.FS {
	t.Helper()
	files, err := newRepository()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var newRepository = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "pawl-box-repository-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in memory by then
	if err := git("init", "-q", dir); err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	return files, fs.WalkDir(os.DirFS(filepath.Join(dir, ".git")), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			files[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			return nil
		}
		text, err := os.ReadFile(filepath.Join(dir, ".git", name))
		files[name] = &fstest.MapFile{Data: text, Mode: 0o644}
		return err
	})
})

func (w *testEnv) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testEnv) guard(path, text string) {
	w.t.Helper()
	w.write(path, text)
	w.guarded, w.before[path] = append(w.guarded, path), text
}

func (w *testEnv) secret(name string) string {
	text := "secret-" + rand.Text()
	w.secrets[text] = name
	return text
}

func (w *testEnv) hit(who string, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if string(data) == "world" {
		w.heard[who] = true
	} else {
		w.hits[who]++
	}
}

// reached returns the servers that somebody has been at. It goes there itself:
// when that is noticed, whoever came before has been, too.
func (w *testEnv) reached() []string {
	w.t.Helper()
	var list []string
	for _, s := range w.servers {
		conn, err := net.Dial(s[0], s[1])
		if err != nil {
			list = append(list, err.Error())
			continue
		}
		if _, err := conn.Write([]byte("world")); err != nil {
			w.t.Fatal(err)
		}
		wait.Until(w.t, s[1]+" hears", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.heard[s[1]]
		})
		_ = conn.Close()
		w.mu.Lock()
		if n := w.hits[s[1]]; n > 0 {
			list = append(list, fmt.Sprintf("%s %s was reached", s[0], s[1]))
		}
		w.mu.Unlock()
	}
	return list
}

// listen opens what a command must not reach: TCP, UDP, an abstract socket,
// and sockets as those of docker and an agent.
func (w *testEnv) listen() {
	w.t.Helper()
	w.abstract = "@pawl-box-test-" + rand.Text()
	w.tmpSocket = "/tmp/pawl-box-test-" + rand.Text() + ".sock"
	serve := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				data := make([]byte, 5)
				_ = c.SetReadDeadline(time.Now().Add(time.Second)) // who comes and says nothing has come
				n, _ := c.Read(data)
				w.hit(l.Addr().String(), data[:n])
				_ = c.Close()
			}
		}()
		w.servers = append(w.servers, [2]string{network, l.Addr().String()})
		return l.Addr().String()
	}
	w.tcp = serve("tcp", "127.0.0.1:0")
	serve("unix", w.abstract)
	for _, path := range []string{filepath.Join(w.home, ".docker/docker.sock"), filepath.Join(w.outside, "agent.sock"), filepath.Join(w.ws, "db.sock"), w.tmpSocket} {
		serve("unix", path)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = udp.Close() })
	w.udp = udp.LocalAddr().String()
	w.servers = append(w.servers, [2]string{"udp", w.udp})
	go func() {
		for {
			data := make([]byte, 64)
			n, _, err := udp.ReadFrom(data)
			if err != nil {
				return
			}
			w.hit(w.udp, data[:n])
		}
	}()
}

// startVictim starts a process of the same user, outside.
func (w *testEnv) startVictim() {
	w.t.Helper()
	w.victim = exec.Command("sleep", "1000")
	w.victim.Env = []string{"VICTIM=" + w.secret("another process's variable")}
	if err := w.victim.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = w.victim.Process.Kill()
		_ = w.victim.Wait()
	})
}

// share opens a terminal, and memory that others can attach to.
func (w *testEnv) share() {
	w.t.Helper()
	check := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	check(err)
	w.terminal = os.NewFile(uintptr(fd), "terminal")
	w.t.Cleanup(func() { _ = w.terminal.Close() })
	check(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	check(err)
	w.pts = "/dev/pts/" + strconv.Itoa(n)
	w.memory, err = unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	check(err)
	w.t.Cleanup(func() { _, _ = unix.SysvShmCtl(w.memory, unix.IPC_RMID, nil) })
	data, err := unix.SysvShmAttach(w.memory, 0, 0)
	check(err)
	copy(data, w.secret("shared memory"))
	check(unix.SysvShmDetach(data))
}

// link puts the probe into the workspace and names everything for the scripts.
func (w *testEnv) link() {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	probe := filepath.Join(w.ws, "src", "probe")
	if err := os.Link(self, probe); err != nil {
		if err := copyFile(self, probe); err != nil {
			w.t.Fatal(err)
		}
	}
	w.names = strings.NewReplacer("{probe}", probe+" probe", "{home}", w.home, "{ws}", w.ws, "{out}", w.outside, "{root}", w.root,
		"{tcp}", w.tcp, "{udp}", w.udp, "{abstract}", w.abstract, "{tmpsock}", w.tmpSocket, "{victim}", strconv.Itoa(w.victim.Process.Pid),
		"{pts}", w.pts, "{shm}", strconv.Itoa(w.memory))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// outcome is what a command in the sandbox has left.
type outcome struct {
	output   string
	code     int
	reported []string
}

// run runs a script in the sandbox, to its end.
func (w *testEnv) run(p Profile, script string) outcome {
	w.t.Helper()
	return w.runArgs(p, []string{"bash", "--noprofile", "--norc", "-c", w.names.Replace(script)})
}

func (w *testEnv) runArgs(p Profile, argv []string) outcome {
	w.t.Helper()
	wrapped, err := w.backend.Wrap(argv, p)
	if err != nil {
		w.t.Fatal(err)
	}
	defer wrapped.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, wrapped.Args[0], wrapped.Args[1:]...)
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = wrapped.Env, wrapped.Files, wrapped.Attr
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		w.t.Fatal(err)
	}
	reported, err := wrapped.Check()
	if err != nil {
		reported = []string{err.Error()}
	}
	code := cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = 128 + int(status.Signal()) // as bwrap tells it, and shells
	}
	return outcome{output.String(), code, reported}
}

// damage lists what a command has reached that it must not.
func (w *testEnv) damage(o outcome) []string {
	var list []string
	for text, name := range w.secrets {
		if strings.Contains(o.output, text) {
			list = append(list, "it read "+name)
		}
	}
	for line := range strings.Lines(o.output) {
		if strings.HasPrefix(line, "ESCAPED") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	for _, path := range w.guarded {
		text, err := os.ReadFile(path)
		was, there := w.before[path]
		if there && (err != nil || string(text) != was) {
			list = append(list, fmt.Sprintf("%s is changed: %q, %v", path, text, err))
		}
		if info, err := os.Lstat(path); !there && err == nil && !isPlaceholder(path, info) {
			list = append(list, path+" was created")
		}
	}
	list = append(list, w.reached()...)
	typed := make([]byte, 64)
	if n, _ := unix.Read(int(w.terminal.Fd()), typed); n > 0 {
		list = append(list, "the terminal shows "+strconv.Quote(string(typed[:n])))
	}
	if err := syscall.Kill(w.victim.Process.Pid, 0); err != nil || zombie(w.victim.Process.Pid) {
		list = append(list, "the process outside was killed")
	}
	slices.Sort(list)
	return list
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// start runs a wrapped command as it is and returns what it prints.
func start(t testing.TB, w Wrapped) string {
	t.Helper()
	cmd := exec.Command(w.Args[0], w.Args[1:]...)
	cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = w.Env, w.Files, w.Attr
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
}
