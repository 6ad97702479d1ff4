package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// Landlock is the sandbox on Linux without user namespaces. Landlock rules can only
// allow, and a rule for a directory applies to everything below. So a directory that
// contains something protected is not allowed as a whole; its other entries are
// allowed one by one, and nothing can be created in it.
type Landlock struct {
	surveyor surveyor
}

var _ Backend = (*Landlock)(nil)

// Name returns landlock.
func (*Landlock) Name() string { return "landlock" }

// systemRead are readable directories, except for what is hidden in them.
var systemRead = []string{
	"/bin", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/sbin", "/snap", "/usr",
	"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/run/current-system", "/run/wrappers", "/home/linuxbrew",
}

// devices are the only devices that can be used: /dev/pts, for example, has the user's
// terminals.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// maxRules bounds the landlock rules.
const maxRules = 20_000

// confinement is passed to the helper as JSON, on file descriptor 3.
type confinement struct {
	Dir   string
	Names []string // of the variables that the command gets
	Read  []string
	List  []string // directories that can be listed only
	Write []string
	Use   []string // devices
}

// Wrap returns a call of this program as a helper, which confines itself and executes
// the command.
func (l *Landlock) Wrap(argv []string, p Profile) (w Wrapped, err error) {
	if len(argv) == 0 {
		return Wrapped{}, errors.New("no command")
	}
	if err := sealFiles(); err != nil {
		return Wrapped{}, err
	}
	if p.ProxySocket != "" {
		return Wrapped{}, fault.New(ErrRefused, "the Landlock sandbox does not support network access to single hosts")
	}
	pl, err := newPlan(p, argv[0], &l.surveyor)
	if err != nil {
		return Wrapped{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return Wrapped{}, fmt.Errorf("find the Pawl executable: %w", err)
	}
	done := pl.undo
	if pl.temp == "" {
		if pl.temp, err = os.MkdirTemp("", "pawl-box-"); err != nil {
			return Wrapped{}, fmt.Errorf("create a directory for temporary files: %w", err)
		}
		done = func() {
			pl.undo()
			_ = os.RemoveAll(pl.temp) // nothing is lost if some of it stays
		}
	}
	c, err := pl.confinement(p.Pass)
	var file *os.File
	if err == nil {
		var text []byte
		if text, err = json.Marshal(c); err == nil {
			file, err = memoryFile("confinement", text)
		}
	}
	if err != nil {
		done()
		return Wrapped{}, err
	}
	env := temporary(pl.env, pl.temp)
	return Wrapped{
		Args:    append([]string{self}, argv...),
		Env:     setenv(env, supervise.Var, helperLandlock),
		Files:   []*os.File{file},
		Partial: pl.partial,
		Check:   func() ([]string, error) { return pl.check(&l.surveyor) },
		Close: func() {
			_ = file.Close() // it was only read
			done()
		},
	}, nil
}

// confinement returns what the command may access.
func (pl *plan) confinement(pass []string) (confinement, error) {
	c := confinement{Dir: pl.work, Use: devices, Names: append([]string{"TMPDIR", "XDG_CACHE_HOME"}, pass...)}
	for _, entry := range pl.env {
		name, _, _ := strings.Cut(entry, "=")
		c.Names = append(c.Names, name)
	}
	var secret []string
	for _, m := range pl.masks {
		secret = append(secret, m.path)
	}
	kept := slices.Concat(secret, pl.readonly, pl.missing, pl.absent, pl.links)
	read := slices.Concat(systemRead, pl.writable, pl.gitRead())
	write := append(pl.writableRoots(), pl.temp)
	var a, b allowance
	a.holes = slices.Concat(secret, pl.apartFrom(""))
	for _, path := range append(read, programFolders(getenv(pl.env, "PATH"), pl.homes)...) {
		a.add(resolve(path))
	}
	for _, path := range pl.roots() {
		a.holes = slices.Concat(secret, pl.apartFrom(path))
		a.add(resolve(path))
	}
	c.Read, c.List = a.whole, a.split
	for _, path := range write {
		b.holes = slices.Concat(kept, pl.apartFrom(path))
		b.add(path)
	}
	c.Write = b.whole
	if len(c.Read)+len(c.Write) > maxRules {
		return c, fmt.Errorf("the sandbox needs more than %d rules: hide or protect fewer files", maxRules)
	}
	return c, nil
}

// programFolders returns the directories of PATH and of their libraries.
func programFolders(path string, homes []string) []string {
	var list []string
	for _, dir := range filepath.SplitList(path) {
		if dir = resolve(dir); !filepath.IsAbs(dir) || dir == "/" {
			continue
		}
		list = append(list, dir)
		parent := filepath.Dir(dir)
		if base := filepath.Base(dir); (base == "bin" || base == "sbin" || base == "shims") && parent != "/" && !slices.Contains(homes, parent) {
			list = append(list, parent)
		}
	}
	return list
}

// allowance allows directories as a whole if there are no holes in them, and otherwise
// entry by entry.
type allowance struct {
	holes        []string
	whole, split []string
}

func (a *allowance) add(path string) {
	if path == "" || len(a.whole) > maxRules || slices.ContainsFunc(a.holes, func(h string) bool { return within(path, h) }) {
		return
	}
	if !slices.ContainsFunc(a.holes, func(h string) bool { return within(h, path) }) {
		a.whole = append(a.whole, path)
		return
	}
	a.split = append(a.split, path)
	entries, _ := os.ReadDir(path) // what cannot be read is not allowed
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 { // the target of a link is allowed, or not, by itself
			a.add(filepath.Join(path, e.Name()))
		}
	}
}
