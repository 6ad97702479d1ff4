package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/namespace"
	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// prepareViews prepares the views of the profile.
func (m *mounts) prepareViews(p Profile) error {
	repository, _ := Repository(m.dir)
	for _, v := range p.Views {
		if v.Dir == repository { // nothing in it is hidden
			m.list = append(m.list, mount{path: v.Dir, args: []string{"--bind", v.Merged, v.Dir}})
			if err := m.fill(v, nil); err != nil {
				return err
			}
			continue
		}
		if v.Dir != m.dir && !slices.Contains(m.dirs, v.Dir) {
			return fault.New(ErrRefused, "%s is not a directory of the project", v.Dir)
		}
		if err := m.prepareView(p, v); err != nil {
			return err
		}
	}
	return nil
}

// prepareView creates the layer that hides files of a directory.
func (m *mounts) prepareView(p Profile, v View) error {
	if within(resolve(v.Upper), v.Dir) || within(v.Dir, resolve(filepath.Dir(v.Upper))) {
		return fault.New(ErrRefused, "%s contains Pawl's own files", v.Dir)
	}
	hides := func(h mask) bool { return h.path != v.Dir && within(h.path, v.Dir) }
	var paths []string
	for _, h := range m.masks {
		if hides(h) {
			paths = append(paths, h.path)
		}
	}
	m.masks = slices.DeleteFunc(m.masks, hides)
	var indexed map[string][]byte
	if len(paths) > 0 && p.Indexed != nil {
		indexed = p.Indexed(v.Dir, paths)
	}
	for _, path := range paths {
		text, ok := indexed[path]
		if !ok {
			if err := whiteOut(v, path); err != nil {
				return fmt.Errorf("hide %s: %w", path, err)
			}
			continue
		}
		f, err := memoryFile("indexed", text)
		if err != nil {
			return err
		}
		m.list = append(m.list, mount{path: path, args: []string{"--perms", "0644", "--ro-bind-data", m.file(f), path}})
	}
	m.list = append(m.list, mount{path: v.Dir, args: []string{"--bind", v.Merged, v.Dir}})
	return m.fill(v, paths)
}

// fill fills a view that is a copy. Mount points in the directory are read-only, and hidden paths below them are masked
// like those outside of the view.
func (m *mounts) fill(v View, hidden []string) error {
	if v.Fill == nil {
		return nil
	}
	points, err := v.Fill()
	if err != nil {
		return fmt.Errorf("copy %s: %w", v.Dir, err)
	}
	for _, point := range points {
		at := filepath.Join(v.Dir, point)
		if err := m.hand("--ro-bind-fd", at, at); err != nil {
			return err
		}
		for _, path := range hidden {
			if within(path, at) {
				m.masks = append(m.masks, mask{path, isFolder(path)})
			}
		}
	}
	return nil
}

// prepareCaches binds the views of caches, and returns them. It leaves out those that
// contain something hidden, and those in a directory that is replaced for each sandbox.
func (m *mounts) prepareCaches(p Profile) (views []View) {
	for _, v := range p.Caches {
		hides := func(h mask) bool { return within(h.path, v.Dir) || within(v.Dir, h.path) }
		if !m.inSystem(v.Dir) && v.Dir != p.CacheHome || slices.ContainsFunc(m.masks, hides) {
			continue
		}
		m.list = append(m.list, mount{path: v.Dir, args: []string{"--bind", v.Merged, v.Dir}})
		views = append(views, v)
	}
	return views
}

// checkOverlay returns an error if an overlay would hide mount points in a directory, or if it could not change files that
// the user can change.
func checkOverlay(ctx context.Context, dir string) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	if at := mountIn(string(mounts), dir); at != "" {
		return fmt.Errorf("another file system is mounted at %s", at)
	}
	if namespace.ForMounts().Cloneflags&unix.CLONE_NEWUSER == 0 {
		return nil
	}
	path, err := tree.Foreign(ctx, dir)
	if err == nil && path != "" {
		err = fmt.Errorf("%w, such as %s", ErrForeign, path)
	}
	return err
}

// mountIn returns a mount point below a directory, or "".
func mountIn(mountinfo, dir string) string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(mountinfo) {
		const mountPoint = 4
		if fields := strings.Fields(line); len(fields) > mountPoint {
			if at := unescape.Replace(fields[mountPoint]); at != dir && within(at, dir) {
				return at
			}
		}
	}
	return ""
}

// overlays returns the views that are overlays.
func overlays(views []View) []View {
	return slices.DeleteFunc(slices.Clone(views), func(v View) bool { return v.Fill != nil })
}

// whiteOut hides a path of the workspace in the layer above it. Directories there show
// the modes and times of the real ones.
func whiteOut(v View, path string) error {
	dir, layer := v.Dir, v.Mask
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
	create := tree.WhiteOut
	if v.Fill == nil { // the kernel must accept it
		create = func(path string) error { return unix.Mknod(path, unix.S_IFCHR, 0) }
	}
	if err := create(filepath.Join(layer, rel)); err != nil {
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

// viewCommand returns the command line of the helper that mounts the overlays and then
// executes bwrap, and the namespaces that it needs.
func (m *mounts) viewCommand(views []View, bwrap []string) ([]string, *syscall.SysProcAttr, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find the Pawl executable: %w", err)
	}
	parent, err := supervise.Parent()
	if err != nil {
		return nil, nil, fmt.Errorf("read the mount namespace: %w", err)
	}
	args := []string{self, parent, strconv.Itoa(len(views))}
	for _, v := range views {
		args = append(args, cmp.Or(v.Lower, v.Dir), v.Mask, v.Upper, v.Work, v.Merged)
	}
	return append(args, bwrap...), namespace.ForMounts(), nil
}
