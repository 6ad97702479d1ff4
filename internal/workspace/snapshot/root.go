package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// root is an open directory in which files are inspected and restored. It never
// follows symbolic links.
type root struct {
	fd      int
	maxFile int64
}

func openRoot(dir string, maxFile int64) (*root, error) {
	fd, err := openAt(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return &root{fd, maxFile}, nil
}

func (r *root) close() { _ = unix.Close(r.fd) } // nothing is buffered

// sight is the current state of a path. The zero value means that nothing exists
// there.
type sight struct {
	state
	folder bool // a directory; its state is zero, because git records files only
	look   look // of a path that snapshots leave out, to detect changes
	perm   uint32
}

// same reports whether two sights show the same state.
func (s sight) same(other sight) bool { return s.state == other.state && s.look == other.look }

// in calls do with the open parent directory of path and with path's base name.
func (r *root) in(path string, do func(fd int, name string) error) error {
	fd := r.fd
	parts := strings.Split(path, "/")
	for _, part := range parts[:len(parts)-1] {
		next, err := enter(fd, part)
		if fd != r.fd {
			_ = unix.Close(fd)
		}
		if err != nil {
			return err
		}
		fd = next
	}
	if fd != r.fd {
		defer unix.Close(fd) //nolint:errcheck // nothing is buffered
	}
	return do(fd, parts[len(parts)-1])
}

// enter opens the subdirectory name of an open directory. It fails for a symbolic
// link.
func enter(fd int, name string) (int, error) {
	return openAt(fd, name, unix.O_DIRECTORY)
}

// absent reports whether err means that the path does not exist, which includes
// paths below a file or a symbolic link.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// look returns the current state of path.
func (r *root) look(path string) (s sight, err error) {
	err = r.in(path, func(fd int, name string) (err error) {
		s, err = r.lookIn(fd, name)
		return err
	})
	if absent(err) {
		return sight{}, nil
	}
	if err != nil {
		return s, &os.PathError{Op: "look at", Path: path, Err: err}
	}
	return s, nil
}

func (r *root) lookIn(fd int, name string) (sight, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return sight{}, err
	}
	kind := uint32(number(st.Mode)) & modeTypes
	s := sight{perm: uint32(number(st.Mode)) & 0o777}
	other := look{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), ino: st.Ino}
	switch {
	case kind == unix.S_IFDIR:
		return sight{folder: true}, nil
	case kind != unix.S_IFREG && kind != unix.S_IFLNK:
		s.state, s.look = state{modeOut, outIDs[outSpecial]}, other
		return s, nil
	}
	data, out, err := readAt(fd, name, modeOf(&st), r.maxFile)
	switch {
	case errors.Is(err, fs.ErrPermission):
		s.state, s.look = state{modeOut, outIDs[outUnread]}, other
	case err != nil:
		return s, err
	case out != "":
		s.state, s.look = state{modeOut, outIDs[out]}, other
	default:
		s.state = state{modeOf(&st), idOf(kindBlob, data)}
	}
	return s, nil
}

// obstacles finds what prevents files from being restored: a file or link where a
// parent directory is needed, a directory with other files in the file's place, or
// a nested git repository around it. Files that the plan itself removes do not
// count.
func (p *Plan) obstacles(root *root) error {
	files := map[string]*Restore{}
	for i := range p.Files {
		files[p.Files[i].Path] = &p.Files[i]
	}
	for i := range p.Files {
		r := &p.Files[i]
		if !r.open() {
			continue
		}
		o := obstacle{root: root, files: files, to: r}
		if err := o.find(); err != nil {
			return err
		}
	}
	return nil
}

// maxBelow bounds the entries inspected in a directory that occupies a file's path.
const maxBelow = 10_000

// obstacle looks for what prevents one file from being restored.
type obstacle struct {
	root  *root
	files map[string]*Restore
	to    *Restore
	seen  int
}

func (o *obstacle) find() error {
	parts := strings.Split(o.to.Path, "/")
	for i := 1; i < len(parts) && o.to.want.covered(); i++ {
		if r := o.files[strings.Join(parts[:i], "/")]; r != nil && r.open() && r.want.covered() {
			o.block(fmt.Sprintf("%q is in the way: someone else changed its type in the meantime", r.Path))
			return nil
		}
	}
	for i := 1; i < len(parts); i++ {
		above := strings.Join(parts[:i], "/")
		s, err := o.root.look(above)
		if err != nil {
			return err
		}
		switch {
		case s.folder:
			if repo, err := o.root.look(above + "/.git"); err != nil {
				return err
			} else if repo != (sight{}) {
				o.block(fmt.Sprintf("%q is now a separate repository", above))
				return nil
			}
		case s.state == state{}:
			return nil // neither the directory nor the file exists
		case o.to.want.covered():
			o.remove(above)
			return nil
		}
	}
	if !o.to.now.folder || !o.to.want.covered() {
		return nil
	}
	return o.below(o.to.Path)
}

// below inspects a directory that occupies the path of a file.
func (o *obstacle) below(path string) error {
	return o.root.in(path, func(fd int, name string) error {
		opened, err := enter(fd, name)
		if err != nil {
			return err
		}
		dir := os.NewFile(uintptr(opened), path)
		defer dir.Close()
		entries, err := dir.ReadDir(-1)
		if err != nil {
			return err
		}
		for _, e := range entries {
			at := path + "/" + e.Name()
			if o.seen++; o.seen > maxBelow {
				o.block("it is now a directory with many files")
				return nil
			}
			if !e.IsDir() || e.Name() == ".git" {
				o.remove(at)
			} else if err := o.below(at); err != nil {
				return err
			}
		}
		return nil
	})
}

// remove records a conflict if the entry at path has to be removed first and the
// plan does not do that.
func (o *obstacle) remove(path string) {
	switch r := o.files[path]; {
	case r == nil || !r.open() || r.want.covered() || r.Conflict != "" && !r.canKeep():
		o.block(fmt.Sprintf("%q is in the way", path))
	case r.Conflict != "" && o.to.Conflict == "":
		o.to.Conflict = fmt.Sprintf("%q is in the way and has %s", path, r.Conflict)
	}
}

func (o *obstacle) block(why string) { o.to.Conflict, o.to.blocked = why, true }
