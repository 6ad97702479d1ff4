package tree

import (
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// conflictError says that somebody else changed the target of an operation.
type conflictError struct{ reason string }

func (e conflictError) Error() string { return e.reason }

// exec brings an operation to its end, from wherever it was interrupted.
func (r *run) exec(i int) error {
	o := &r.m.Ops[i]
	parent, base, err := r.root.parent(string(o.Path))
	if isMissing(err) {
		if o.New.Type == Missing {
			return nil // deleted, perhaps with its directory before an interruption
		}
		return conflictError{reasonParent}
	}
	if err != nil {
		return err
	}
	defer parent.close()
	switch o.Kind {
	case create:
		return r.create(i, parent, base)
	case replace:
		return r.replace(i, parent, base)
	case remove:
		return r.remove(i, parent, base)
	case rmdir:
		return removeDir(o, parent, base)
	case swap:
		now, err := parent.stat(base)
		if err != nil {
			return err
		}
		if now.Type == Dir {
			if err := removeDir(o, parent, base); err != nil {
				return err
			}
		}
		return r.create(i, parent, base)
	default:
		return setProperties(o, parent, base)
	}
}

func (r *run) create(i int, parent directory, base string) error {
	o := &r.m.Ops[i]
	now, err := parent.stat(base)
	if err != nil {
		return err
	}
	if is(now, o.Staged) {
		return r.setMode(o.Path, o.Staged.Inode, o.New.Mode, o.Staged.Mode) // for what is created in a directory
	}
	if now.Type != Missing {
		return conflictError{reasonExists}
	}
	staged, err := r.slots.stat(slot(i))
	if err != nil {
		return err
	}
	from, fromBase := r.slots, slot(i)
	if !is(staged, o.Staged) {
		if o.Copy || o.New.Type == Dir {
			return nil // applied before the interruption, and deleted since
		}
		if from, fromBase, err = r.upper.parent(string(o.Path)); err != nil {
			return err
		}
		defer from.close()
		if missing, err := clean(from, fromBase, o); missing || err != nil {
			return err
		}
	}
	if err := r.at("move " + strconv.Itoa(i)); err != nil {
		return err
	}
	err = rename(from, fromBase, parent, base, unix.RENAME_NOREPLACE)
	if errors.Is(err, os.ErrExist) {
		return conflictError{reasonExists}
	}
	return err
}

func (r *run) replace(i int, parent directory, base string) error {
	o := &r.m.Ops[i]
	if err := r.moveToSlot(i); err != nil {
		return err
	}
	if o.New.Type == Dir {
		if err := r.setMode(o.Path, o.Staged.Inode, o.New.Mode, o.Staged.Mode); err != nil {
			return err
		}
	}
	out, err := r.slots.stat(slot(i))
	if err != nil || out.Type == Missing {
		return err
	}
	if !is(out, o.Staged) {
		return r.look(i, out, noLease) // moved before the interruption
	}
	return r.moveOut(i, parent, base, func() error {
		return rename(r.slots, slot(i), parent, base, unix.RENAME_EXCHANGE)
	})
}

func (r *run) remove(i int, parent directory, base string) error {
	out, err := r.slots.stat(slot(i))
	if err != nil {
		return err
	}
	if out.Type != Missing {
		return r.look(i, out, noLease) // moved before the interruption
	}
	err = r.moveOut(i, parent, base, func() error {
		return rename(parent, base, r.slots, slot(i), unix.RENAME_NOREPLACE)
	})
	if errors.Is(err, conflictError{reasonDeleted}) {
		return nil // before the interruption, or by somebody else
	}
	return err
}

// moveOut calls move, which moves the old entry to the slot, and looks at what was moved.
func (r *run) moveOut(i int, parent directory, base string, move func() error) error {
	o := &r.m.Ops[i]
	now, err := parent.stat(base)
	if err != nil {
		return err
	}
	if !unchanged(now, o.Old) {
		return conflictError{changedReason(now)}
	}
	writers, err := r.takeLease(parent, base, o.Old)
	if err != nil {
		return err
	}
	defer writers.release()
	if err := r.at("move " + strconv.Itoa(i)); err != nil {
		return err
	}
	err = move()
	if errors.Is(err, os.ErrNotExist) {
		return conflictError{reasonDeleted}
	}
	if err != nil {
		return err
	}
	if err := r.at("look " + strconv.Itoa(i)); err != nil {
		return err
	}
	out, err := r.slots.stat(slot(i))
	if err != nil {
		return err
	}
	return r.look(i, out, writers)
}

// look undoes an operation that moved another entry to the slot than the old one, or one that a program wants to write
// to.
func (r *run) look(i int, out Stat, writers lease) error {
	if unchanged(out, r.m.Ops[i].Old) && !writers.broken() {
		return nil
	}
	if err := r.undo(i); err != nil {
		return err
	}
	return conflictError{reasonChanged}
}

func removeDir(o *op, parent directory, base string) error {
	now, err := parent.stat(base)
	if err != nil || now.Type == Missing {
		return err
	}
	if !is(now, o.Old) {
		return conflictError{reasonChanged}
	}
	err = unix.Unlinkat(int(parent), base, unix.AT_REMOVEDIR)
	switch {
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EBUSY), errors.Is(err, unix.ENOTDIR):
		return conflictError{reasonFull}
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return &os.PathError{Op: "rmdir", Path: base, Err: err}
	}
	return nil
}

// setProperties sets the mode and modification time of a file. The mode of a directory is set at the end.
func setProperties(o *op, parent directory, base string) error {
	now, err := parent.stat(base)
	if err != nil {
		return err
	}
	if !is(now, o.Old) {
		return conflictError{changedReason(now)}
	}
	if o.Old.Type == Dir { // see if it can be set
		return parent.chmod(base, now.Inode, now.Mode)
	}
	known := (now.Mode == o.Old.Mode || now.Mode == o.New.Mode) && (now.ModTime == o.Old.ModTime || now.ModTime == o.New.ModTime)
	if !known || now.Size != o.Old.Size {
		return conflictError{reasonChanged}
	}
	return asConflict(errors.Join(
		parent.chmod(base, now.Inode, o.New.Mode), parent.setTime(base, now.Inode, o.New.ModTime)))
}

// undo puts back what an operation replaced. It leaves alone what somebody else changed since.
func (r *run) undo(i int) error {
	o := &r.m.Ops[i]
	parent, base, err := r.root.parent(string(o.Path))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.close()
	now, err := parent.stat(base)
	if err != nil {
		return err
	}
	old, err := r.slots.stat(slot(i))
	if err != nil {
		return err
	}
	switch {
	case o.Kind == touch:
		if o.Old.Type == File && is(now, o.Old) && now.Mode == o.New.Mode && now.ModTime == o.New.ModTime {
			return errors.Join(parent.chmod(base, now.Inode, o.Old.Mode), parent.setTime(base, now.Inode, o.Old.ModTime))
		}
		return nil
	case o.Kind == rmdir:
		return makeDir(parent, base, o.Old.Mode)
	case o.Kind == remove:
		if old.Type == Missing {
			return nil
		}
		err := rename(r.slots, slot(i), parent, base, unix.RENAME_NOREPLACE)
		if errors.Is(err, os.ErrExist) {
			return nil // somebody else created another one; the trash has the old one
		}
		return err
	case o.Kind == replace && old.Type != Missing && unchanged(now, o.Staged):
		return r.exchangeBack(i, parent, base, old)
	case (o.Kind == create || o.Kind == swap) && unchanged(now, o.Staged):
		return r.undoCreate(i, parent, base)
	}
	return nil
}

// exchangeBack puts back the old entry from the slot. If another one comes out than the new entry, somebody replaced
// it meanwhile: that goes back too.
func (r *run) exchangeBack(i int, parent directory, base string, old Stat) error {
	expected := r.m.Ops[i].Staged
	for {
		err := rename(r.slots, slot(i), parent, base, unix.RENAME_EXCHANGE)
		if errors.Is(err, os.ErrNotExist) {
			return nil // somebody deleted it
		}
		if err != nil {
			return err
		}
		out, err := r.slots.stat(slot(i))
		if err != nil || is(out, expected) {
			return err
		}
		expected, old = old, out
	}
}

func (r *run) undoCreate(i int, parent directory, base string) error {
	o := &r.m.Ops[i]
	if o.New.Type == Dir {
		err := unix.Unlinkat(int(parent), base, unix.AT_REMOVEDIR)
		if err != nil && !errors.Is(err, unix.ENOTEMPTY) {
			return &os.PathError{Op: "rmdir", Path: base, Err: err}
		}
		return nil
	}
	if err := rename(parent, base, r.slots, slot(i), unix.RENAME_NOREPLACE); err != nil {
		return err
	}
	if o.Kind == swap {
		return makeDir(parent, base, o.Old.Mode)
	}
	return nil
}

// makeDir creates a directory with a mode, whatever the umask. One that exists is left alone.
func makeDir(parent directory, base string, mode uint32) error {
	err := unix.Mkdirat(int(parent), base, 0o700)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "mkdir", Path: base, Err: err}
	}
	st, err := parent.stat(base)
	if err != nil {
		return err
	}
	return parent.chmod(base, st.Inode, mode)
}

func changedReason(now Stat) string {
	if now.Type == Missing {
		return reasonDeleted
	}
	return reasonChanged
}

func asConflict(err error) error {
	if errors.Is(err, errReplaced) || errors.Is(err, os.ErrNotExist) {
		return conflictError{reasonChanged}
	}
	return err
}

// lease finds out whether a program opens a file for writing while it is moved away.
type lease int

const noLease lease = -1

// takeLease returns a conflict if a program has the file open for writing. A file that is no regular file, or a file
// system without leases, has no lease: lookAgain must do.
func (r *run) takeLease(parent directory, base string, old Stat) (lease, error) {
	if old.Type != File || r.noLeases {
		return noLease, nil
	}
	fd, err := parent.open(base, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return noLease, nil
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	for try := 0; errors.Is(err, unix.EAGAIN) && try < 10; try++ {
		// A process that was just forked holds the descriptors of its parent until it executes its program.
		time.Sleep(2 * time.Millisecond)
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	}
	if err == nil {
		return lease(fd), nil
	}
	_ = unix.Close(fd)
	if errors.Is(err, unix.EAGAIN) {
		return noLease, conflictError{reasonOpen}
	}
	return noLease, nil
}

// broken reports whether a program waits to open the file for writing.
func (l lease) broken() bool {
	if l < 0 {
		return false
	}
	state, err := unix.FcntlInt(uintptr(l), unix.F_GETLEASE, 0)
	return err != nil || state != unix.F_RDLCK
}

func (l lease) release() {
	if l >= 0 {
		_ = unix.Close(int(l))
	}
}
