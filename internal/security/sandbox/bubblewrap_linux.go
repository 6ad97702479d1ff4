package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// Bubblewrap is the sandbox on Linux with user namespaces.
type Bubblewrap struct {
	Path string // of bwrap; see findBubblewrap

	surveyor surveyor
}

var _ Backend = (*Bubblewrap)(nil)

// Name returns bubblewrap.
func (*Bubblewrap) Name() string { return "bubblewrap" }

// Wrap returns the call of bwrap.
func (b *Bubblewrap) Wrap(argv []string, p Profile) (w Wrapped, err error) {
	if len(argv) == 0 {
		return Wrapped{}, errors.New("no command")
	}
	if err := sealFiles(); err != nil {
		return Wrapped{}, err
	}
	pl, err := newPlan(p, argv[0], &b.surveyor)
	if err != nil {
		return Wrapped{}, err
	}
	if bin := resolve(b.Path); bin == "" || within(bin, pl.dir) {
		return Wrapped{}, fault.New(ErrRefused, "%s not found, or inside the workspace", b.Path)
	}
	m := &mounts{plan: pl}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	// The options come first, the seccomp filter second; masks add more.
	m.files = make([]*os.File, 1, 2)
	if err := m.namespaces(); err != nil {
		return Wrapped{}, err
	}
	if err := m.system(); err != nil {
		return Wrapped{}, err
	}
	if err := m.prepareViews(p); err != nil {
		return Wrapped{}, err
	}
	if err := m.workspace(); err != nil {
		return Wrapped{}, err
	}
	caches := m.prepareCaches(p)
	env := temporary(pl.env, "/tmp")
	if p.ProxySocket != "" {
		if env, err = m.forward(env, p.ProxySocket); err != nil {
			return Wrapped{}, err
		}
	}
	if pl.view || p.renames {
		m.helpers = append(m.helpers, helperRename)
	}
	if argv, err = m.help(m.allWritable(slices.Concat(p.Views, caches)), argv); err != nil {
		return Wrapped{}, err
	}
	for _, mount := range inOrder(m.list) {
		m.add(mount.args...)
	}
	m.passEnv(env, p.Pass)
	m.add("--chdir", pl.work)
	if m.files[0], err = memoryFile("options", []byte(strings.Join(m.args, "\x00")+"\x00")); err != nil {
		return Wrapped{}, err
	}
	args := append([]string{b.Path, "--args", "3", "--"}, argv...)
	var attr *syscall.SysProcAttr
	if views := slices.Concat(overlays(p.Views), caches); len(views) > 0 {
		if args, attr, err = m.viewCommand(views, args); err != nil {
			return Wrapped{}, err
		}
		env = append(env, supervise.Var+"="+supervise.View)
	}
	return Wrapped{
		Args:       args,
		Attr:       attr,
		Env:        env,
		Files:      m.files,
		Partial:    pl.partial,
		Repository: pl.writable,
		Check:      func() ([]string, error) { return pl.check(&b.surveyor) },
		Close:      sync.OnceFunc(m.close),
	}, nil
}

// mounts collects bwrap's options.
type mounts struct {
	*plan
	args         []string
	list         []mount
	files        []*os.File
	placeholders []string
	helpers      []string // see supervise.Var
}

func (m *mounts) add(args ...string) { m.args = append(m.args, args...) }

// close releases the resources of the sandbox.
func (m *mounts) close() {
	for _, f := range m.files {
		if f != nil {
			_ = f.Close() // it was only read
		}
	}
	m.undo()
	for _, path := range m.placeholders {
		releasePlaceholder(path)
	}
}

// file passes a file to bwrap and returns its descriptor there.
func (m *mounts) file(f *os.File) string {
	m.files = append(m.files, f)
	return fmt.Sprint(len(m.files) + 2)
}

// namespaces isolates the command with namespaces and a seccomp filter.
func (m *mounts) namespaces() error {
	m.add("--unshare-user", "--unshare-uts", "--unshare-cgroup", "--new-session", "--cap-drop", "ALL")
	m.add("--unshare-ipc")
	m.add("--unshare-net")
	m.add("--unshare-pid", "--die-with-parent")
	m.add("--disable-userns")
	program, err := localFilter()
	if err != nil {
		return err
	}
	f, err := memoryFile("filter", program)
	if err != nil {
		return err
	}
	m.add("--seccomp", m.file(f))
	return nil
}

// passEnv drops the variables of pawl's environment that the command must not get, in
// case the caller left them in. --clearenv would also drop those that the caller adds
// on purpose.
func (m *mounts) passEnv(env, pass []string) {
	keep := map[string]bool{}
	for _, name := range pass {
		keep[name] = true
	}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		keep[name] = true
	}
	for _, entry := range os.Environ() {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" && name != supervise.Var && !keep[name] {
			m.add("--unsetenv", name)
		}
	}
}

// help makes the command a child of the helper, if it needs one.
func (m *mounts) help(writable, argv []string) ([]string, error) {
	if len(m.helpers) == 0 {
		return argv, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the Pawl executable: %w", err)
	}
	m.list = append(m.list, mount{path: helperPath, args: []string{"--ro-bind", self, helperPath}})
	m.add("--setenv", supervise.Var, strings.Join(m.helpers, ","))
	return append([]string{helperPath}, supervise.Command{Writable: writable, Argv: argv}.Args()...), nil
}

// allWritable returns the paths that the command can write to.
func (m *mounts) allWritable(views []View) []string {
	paths := slices.Concat(m.writableRoots(), []string{"/tmp", "/var/tmp", "/run", "/dev"})
	for _, v := range views {
		paths = append(paths, v.Dir)
	}
	return paths
}

// forward adds the helper that relays connections to a network address to the proxy's
// socket, and returns the environment with that address.
func (m *mounts) forward(env []string, socket string) ([]string, error) {
	info, err := os.Stat(socket)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("proxy: %s is not a socket", socket)
	}
	m.list = append(m.list, mount{path: forwarderSocket, args: []string{"--ro-bind", resolve(socket), forwarderSocket}})
	m.helpers = append(m.helpers, helperForward)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = setenv(env, name, "http://"+forwarderAddress)
		env = setenv(env, strings.ToLower(name), "http://"+forwarderAddress)
	}
	// Servers in the sandbox itself are reached directly. Anything more would bypass the
	// proxy's rules.
	env = setenv(env, "NO_PROXY", "localhost,127.0.0.1,::1")
	env = setenv(env, "no_proxy", "localhost,127.0.0.1,::1")
	return env, nil
}

// memoryFile returns an anonymous file with the data, positioned at its beginning.
func memoryFile(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("pawl-"+name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create a file in memory: %w", err), f.Close())
	}
	return f, nil
}
