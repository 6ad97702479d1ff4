package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// rebound are directories with programs, in directories that are hidden.
var rebound = []string{"/run/current-system", "/run/wrappers", "/run/opengl-driver", "/home/linuxbrew"}

// rootFiles are files of /proc that root can write without any capability, in any
// namespace.
var rootFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/acpi/wakeup", "/proc/scsi/scsi"}

// mount is a mount option of bwrap.
type mount struct {
	path  string
	args  []string
	cheap bool // see inOrder
}

// show binds a path at the same place.
func (m *mounts) show(option, path string) {
	m.list = append(m.list, mount{path: path, args: []string{option, path, path}})
}

// open makes a directory writable.
func (m *mounts) open(path, at string) error { return m.hand("--bind-fd", path, at) }

// hand passes a file or directory to bwrap as an open file: its path could be replaced
// before bwrap mounts it.
func (m *mounts) hand(option, path, at string) error {
	fd, err := openReal(path, unix.O_PATH)
	if err != nil {
		return err
	}
	m.list = append(m.list, mount{path: at, args: []string{option, m.file(os.NewFile(uintptr(fd), path)), at}})
	return nil
}

// empty mounts an empty directory at a path.
func (m *mounts) empty(perms, path string) {
	m.list = append(m.list, mount{path: path, args: []string{"--perms", perms, "--tmpfs", path}, cheap: true})
}

// inOrder sorts the mounts so that none covers another: parents come first, and mounts
// at the same path stay in their order. Otherwise empty directories come last, because
// bwrap reads the list of all mounts for each bind, but not for an empty directory.
func inOrder(list []mount) []mount {
	var ordered []mount
	done := make([]bool, len(list))
	var put func(i int)
	put = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for j, above := range list {
			if above.path != list[i].path && within(list[i].path, above.path) || above.path == list[i].path && j < i {
				put(j)
			}
		}
		ordered = append(ordered, list[i])
	}
	for _, cheap := range []bool{false, true} {
		for i := range list {
			if list[i].cheap == cheap {
				put(i)
			}
		}
	}
	return ordered
}

// system mounts the machine read-only, with its own /dev and /proc.
func (m *mounts) system() error {
	m.show("--ro-bind", "/")
	m.list = append(m.list, mount{path: "/dev", args: []string{"--dev", "/dev"}})
	m.list = append(m.list, mount{path: "/proc", args: []string{"--proc", "/proc"}})
	if os.Geteuid() == 0 {
		for _, path := range rootFiles {
			if exists(path) {
				m.show("--ro-bind", path)
			}
		}
	}
	return m.directories()
}

// directories hides the directories that all users of the machine share.
func (m *mounts) directories() error {
	if m.temp == "" {
		m.empty("1777", "/tmp")
	} else if err := m.open(m.temp, "/tmp"); err != nil {
		return err
	}
	if isFolder("/var/tmp") {
		m.empty("1777", "/var/tmp")
	}
	var hidden []string
	for _, path := range []string{"/run", "/var/run", "/home"} {
		if isFolder(path) && (path != "/home" || othersIn(path, m.homes)) {
			hidden = append(hidden, path)
			m.empty("0755", path)
		}
	}
	for _, path := range rebound {
		if isFolder(path) && slices.ContainsFunc(hidden, func(h string) bool { return path != h && within(path, h) }) {
			m.show("--ro-bind", path)
		}
	}
	return nil
}

// othersIn reports whether a directory of home directories may contain those of other
// users.
func othersIn(dir string, homes []string) bool {
	list := names(dir)
	for name := range list {
		if !slices.Contains(homes, filepath.Join(dir, name)) {
			return true
		}
	}
	return list == nil
}

// workspace mounts the writable directories, then the protected paths in them, and
// hides secrets.
func (m *mounts) workspace() error {
	if m.readOnly {
		m.show("--ro-bind", m.dir)
	}
	for _, path := range m.writableRoots() {
		if err := m.open(path, path); err != nil {
			return err
		}
	}
	for _, path := range m.readable {
		if err := m.hand("--ro-bind-fd", path, path); err != nil {
			return err
		}
	}
	m.showHome()
	if err := m.protect(); err != nil {
		return err
	}
	for _, mask := range m.visibleApart() {
		if m.sees(mask.path) {
			m.empty("0555", mask.path)
		}
	}
	for _, mask := range m.masks {
		if m.sees(mask.path) && !m.setApart(mask.path) { // it would come up there
			if err := m.mask(mask); err != nil {
				return err
			}
		}
	}
	return m.maskSockets()
}

// showHome mounts the visible parts of home directories. Those in a directory that is
// replaced, such as /tmp, stay invisible.
func (m *mounts) showHome() {
	for _, path := range m.home.parts {
		if m.inSystem(path) && !m.underRoot(path) {
			m.show("--ro-bind", path)
		}
	}
	for _, l := range m.home.links {
		if m.inSystem(l.at) && !m.underRoot(l.at) {
			m.list = append(m.list, mount{path: l.at, args: []string{"--symlink", l.to, l.at}})
		}
	}
}

// underRoot reports whether a path is in a directory that is mounted for itself.
func (m *mounts) underRoot(path string) bool {
	return slices.ContainsFunc(slices.Concat(m.writableRoots(), m.readable, m.dirs, []string{m.dir}), func(root string) bool { return within(path, root) })
}

// inSystem reports whether a path is in no directory that is replaced for each sandbox.
func (m *mounts) inSystem(path string) bool { return !replaced(path) }

// protect mounts protected paths read-only at the same place. A mount point cannot be
// moved or removed either.
func (m *mounts) protect() error {
	for _, path := range m.missing {
		held, err := holdPlaceholder(path)
		if err != nil {
			return err
		}
		if !held {
			m.holdThere(path) // it was created meanwhile
			continue
		}
		m.placeholders = append(m.placeholders, path)
		m.empty("0555", path)
	}
	for _, path := range m.pinned {
		if err := m.open(path, path); err != nil {
			return err
		}
	}
	for _, path := range m.readonly {
		if slices.ContainsFunc(m.writableRoots(), func(root string) bool { return within(path, root) }) {
			m.show("--ro-bind", path)
		}
	}
	return nil
}

// mask hides a path behind an empty directory or an empty file.
func (m *mounts) mask(h mask) error {
	if h.dir {
		m.empty("0555", h.path)
		return nil
	}
	empty, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	m.list = append(m.list, mount{path: h.path, args: []string{"--perms", "0444", "--ro-bind-data", m.file(empty), h.path}})
	return nil
}

// maskSockets hides the unix sockets of servers: a read-only mount does not prevent
// connecting to them.
func (m *mounts) maskSockets() error {
	paths, err := listening()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if m.sees(path) && !m.hidden(path) {
			if err := m.mask(mask{path: path}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sees reports whether a path is the same file inside of the sandbox as outside,
// masks aside.
func (m *mounts) sees(path string) bool { return m.underRoot(path) || m.inSystem(path) }
