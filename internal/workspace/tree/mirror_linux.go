package tree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// maxMirrored bounds the size of a file that a Mirror copies.
const maxMirrored = 1 << 30

// Mirror copies changes between a directory and a view of it while a job runs there. It works on the mounted view, so
// that the job sees new content and is notified of it.
type Mirror struct {
	lower, upper, view directory
	since              int64 // see Transaction.Since

	// same has the entries whose content is the same in both, or is left different because of a conflict.
	same map[string]versions
}

// versions are the states of an entry in the upper and in the lower directory.
type versions struct{ upper, lower Stat }

// OpenMirror returns the Mirror of a view. mounted is where the view is mounted.
func OpenMirror(v View, mounted string, since int64) (*Mirror, error) {
	m := &Mirror{lower: -1, upper: -1, view: -1, since: since, same: map[string]versions{}}
	var err error
	for _, d := range []struct {
		dir  *directory
		path string
	}{{&m.lower, v.Lower}, {&m.upper, v.Upper}, {&m.view, mounted}} {
		if *d.dir, err = openDirectory(d.path); err != nil {
			m.Close()
			return nil, err
		}
	}
	return m, nil
}

// Close closes the directories: a view cannot be unmounted while it is open.
func (m *Mirror) Close() {
	m.lower.close()
	m.upper.close()
	m.view.close()
	m.lower, m.upper, m.view = -1, -1, -1
}

// Own returns the entries of the lower directory that the job has seen or changed.
func (m *Mirror) Own() []Identity {
	own := make([]Identity, 0, len(m.same))
	for _, v := range m.same {
		if v.lower.Type != Missing {
			own = append(own, identity(v.lower))
		}
	}
	return own
}

// Foreign returns the changes without those that the Mirror made in the view.
func (m *Mirror) Foreign(changes []Change) (list []Change) {
	for _, c := range changes {
		if v, known := m.same[c.Path]; !known || !sameVersion(v.upper, c.New) {
			list = append(list, c)
		}
	}
	return list
}

// sameVersion compares an entry with a remembered one, whose change time may be unknown.
func sameVersion(remembered, now Stat) bool {
	now.Mode = remembered.Mode // Scan drops bits of it
	if remembered.ChangeTime == 0 {
		now.ChangeTime = 0
	}
	return remembered == now
}

// at returns the state of an entry, which is missing if a directory above it is.
func at(d directory, path string) (Stat, error) {
	parent, base, err := d.parent(path)
	if isMissing(err) {
		return Stat{}, nil
	}
	if err != nil {
		return Stat{}, err
	}
	defer parent.close()
	return parent.stat(base)
}

// upperVersion returns the state of an entry of the upper directory. What the job deleted is missing.
func (m *Mirror) upperVersion(path string) (Stat, error) {
	parent, base, err := m.upper.parent(path)
	if isMissing(err) {
		return Stat{}, nil
	}
	if err != nil {
		return Stat{}, err
	}
	defer parent.close()
	st, err := parent.lstat(base)
	if err != nil {
		return Stat{}, err
	}
	white, err := isWhiteout(parent, base, &st)
	if white {
		return Stat{}, err
	}
	return toStat(&st), err
}

// Update brings an entry of the directory, which somebody else may have changed, to the view. It leaves what the job
// has changed itself. For a directory it reports that its content may need an update too.
func (m *Mirror) Update(path string) (isDir bool, err error) {
	lower, err := at(m.lower, path)
	if err != nil {
		return false, err
	}
	if lower.Type == Dir {
		return true, m.updateDir(path, lower)
	}
	known, seen := m.same[path]
	if seen && known.lower == lower {
		return false, nil
	}
	upper, err := m.upperVersion(path)
	if err != nil {
		return false, err
	}
	if lower.Type != Missing && lower.ChangeTime < m.since { // unless it was moved here with its directory
		if now, err := at(m.view, path); err != nil || now.Type != Missing || !seen && upper.Type != Missing {
			return false, err
		}
	}
	if upper.Type != Missing && upper.Type != Dir && (!seen || !sameVersion(known.upper, upper)) {
		return false, nil // the job's own
	}
	switch lower.Type {
	case Missing:
		if err = m.removeFromView(path); err == nil {
			m.same[path] = versions{}
		}
	case File, Link:
		err = m.copyToView(path, lower)
	default:
	}
	return false, err
}

// Hide removes an entry that somebody else created from the view, and not from the directory.
func (m *Mirror) Hide(path string) error {
	lower, err := at(m.lower, path)
	if err != nil || lower.Type == Missing {
		return err
	}
	if err := m.removeFromView(path); err != nil && !isMissing(err) {
		return err
	}
	m.same[path] = versions{lower: lower}
	return nil
}

func (m *Mirror) updateDir(path string, lower Stat) error {
	now, err := at(m.view, path)
	if err != nil || now.Type == Dir {
		return err
	}
	if now.Type != Missing {
		if err := m.removeFromView(path); err != nil {
			return err
		}
	}
	parent, base, err := m.view.parent(path)
	if isMissing(err) {
		return nil // the job deleted it
	}
	if err != nil {
		return err
	}
	defer parent.close()
	return makeDir(parent, base, lower.Mode)
}

// removeFromView removes an entry of the view. It leaves what the job has changed, and directories that contain such.
func (m *Mirror) removeFromView(path string) error {
	now, err := at(m.view, path)
	if err != nil || now.Type == Missing {
		return err
	}
	flags := 0
	if now.Type == Dir {
		flags = unix.AT_REMOVEDIR
		names, err := m.view.names(path)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := m.removeUnchanged(join(path, name)); err != nil {
				return err
			}
		}
	}
	parent, base, err := m.view.parent(path)
	if err != nil {
		return err
	}
	defer parent.close()
	err = unix.Unlinkat(int(parent), base, flags)
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func (m *Mirror) removeUnchanged(path string) error {
	upper, err := m.upperVersion(path)
	if err != nil {
		return err
	}
	known, seen := m.same[path]
	if upper.Type != Missing && upper.Type != Dir && (!seen || !sameVersion(known.upper, upper)) {
		return nil
	}
	if err := m.removeFromView(path); err != nil {
		return err
	}
	m.same[path] = versions{}
	return nil
}

// copyToView puts a copy of a file or link of the lower directory into the view, in one step.
func (m *Mirror) copyToView(path string, lower Stat) error {
	from, base, err := m.lower.parent(path)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.close()
	to, _, err := m.view.parent(path)
	if isMissing(err) {
		return nil // the job deleted the directory
	}
	if err != nil {
		return err
	}
	defer to.close()
	if now, err := to.stat(base); err != nil || now.Type == Dir {
		if err := errors.Join(err, m.removeFromView(path)); err != nil {
			return err
		}
	}
	temp := temporary(base)
	if err := removeSlot(to, temp); err != nil {
		return err
	}
	if err := copyNow(from, base, to, temp, lower); err != nil {
		return errors.Join(err, removeSlot(to, temp))
	}
	dir, _ := split(path)
	upper, err := at(m.upper, join(dir, temp))
	if err == nil {
		err = rename(to, temp, to, base, 0)
	}
	if err != nil {
		return errors.Join(err, removeSlot(to, temp))
	}
	upper.ChangeTime = 0 // a rename sets it
	m.same[path] = versions{upper, lower}
	return nil
}

// temporary returns a name for a copy. Programs that watch files ignore those of editors.
func temporary(base string) string {
	const most = 240 // bytes of a name, of which 255 are possible
	return "." + base[:min(len(base), most)] + ".swp"
}

// copyNow copies an entry as it is now. A file that changes meanwhile is copied again after that change.
func copyNow(from directory, base string, to directory, toBase string, st Stat) error {
	if st.Size > maxMirrored {
		return &os.PathError{Op: "copy", Path: base, Err: unix.EFBIG}
	}
	st.Mode &^= setIDs
	return copyEntry(from, base, to, toBase, st)
}
