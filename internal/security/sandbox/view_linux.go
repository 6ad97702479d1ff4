package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// prepareView creates the layer that hides files of the workspace.
func (m *mounts) prepareView(p Profile) error {
	v := p.View
	if within(resolve(v.Upper), m.dir) || within(m.dir, resolve(filepath.Dir(v.Upper))) {
		return fault.New(ErrRefused, "%s contains Pawl's own files", m.dir)
	}
	hides := func(h mask) bool { return h.path != m.dir && within(h.path, m.dir) }
	var paths []string
	for _, h := range m.masks {
		if hides(h) {
			paths = append(paths, h.path)
		}
	}
	m.masks = slices.DeleteFunc(m.masks, hides)
	var committed map[string][]byte
	if len(paths) > 0 && p.Committed != nil {
		committed = p.Committed(paths)
	}
	for _, path := range paths {
		text, ok := committed[path]
		if !ok {
			if err := whiteOut(m.dir, v.Mask, path); err != nil {
				return fmt.Errorf("hide %s: %w", path, err)
			}
			continue
		}
		f, err := memoryFile("committed", text)
		if err != nil {
			return err
		}
		m.list = append(m.list, mount{path: path, args: []string{"--perms", "0644", "--ro-bind-data", m.file(f), path}})
	}
	m.list = append(m.list, mount{path: m.dir, args: []string{"--bind", v.Merged, m.dir}})
	return nil
}

// whiteOut hides a path of the workspace in the layer above it. Directories there show
// the modes and times of the real ones.
func whiteOut(dir, layer, path string) error {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	var above []string
	for at := filepath.Dir(rel); at != "."; at = filepath.Dir(at) {
		above = append(above, at)
	}
	for _, at := range slices.Backward(above) {
		if err := os.Mkdir(filepath.Join(layer, at), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if err := unix.Mknod(filepath.Join(layer, rel), unix.S_IFCHR, 0); err != nil {
		return err
	}
	for _, at := range append(above, ".") {
		if err := showAs(filepath.Join(dir, at), filepath.Join(layer, at)); err != nil {
			return err
		}
	}
	return nil
}

// showAs gives a directory the mode and the times of another one.
func showAs(from, to string) error {
	var st unix.Stat_t
	if err := unix.Lstat(from, &st); err != nil {
		return err
	}
	if err := unix.Chmod(to, st.Mode&0o777|0o300); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, to, []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
}

// viewCommand returns the command line of the helper that mounts the overlay and then
// executes bwrap, and the namespaces that it needs.
func (m *mounts) viewCommand(v *View, bwrap []string) ([]string, *syscall.SysProcAttr, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find the Pawl executable: %w", err)
	}
	namespace, err := supervise.MountNamespace()
	if err != nil {
		return nil, nil, fmt.Errorf("read the mount namespace: %w", err)
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); !canMount() {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ { // so that the helper keeps them
			attr.AmbientCaps = append(attr.AmbientCaps, c)
		}
	}
	return slices.Concat([]string{self, namespace, m.dir, v.Mask, v.Upper, v.Work, v.Merged}, bwrap), attr, nil
}

// canMount reports whether this process can mount without a user namespace.
var canMount = sync.OnceValue(func() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
})
