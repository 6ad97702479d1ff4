package tree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Apply applies changes to the root, which may be only some of those that Scan returned. It consumes the upper
// directory. An entry that somebody else changed since t.Since is left alone, and its change is returned as a
// conflict. If Apply returns an error, Resume tries again.
func (t *Transaction) Apply(ctx context.Context, changes []Change) (Result, error) {
	if len(changes) == 0 {
		return Result{}, nil
	}
	if _, err := os.Lstat(filepath.Join(t.Dir, manifestName)); err == nil {
		return Result{}, fmt.Errorf("apply %s: the transaction has started", t.Dir)
	}
	m := manifest{Root: quoted(t.Root), Upper: quoted(t.View.Upper), Ops: plan(changes)}
	r, err := openRun(t.Dir, m)
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	r.hook, r.noLeases = t.hook, t.noLeases
	if err := r.prepare(t); err != nil {
		return Result{}, err
	}
	return r.finish(ctx)
}

// Resume finishes a transaction that was interrupted. It returns ErrNotStarted if the transaction changed nothing.
// To resume one that is finished has no effect.
func Resume(ctx context.Context, dir string) (Result, error) { return resume(ctx, dir, nil) }

func resume(ctx context.Context, dir string, hook func(string) error) (Result, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Result{}, err
	}
	if m.Done {
		return m.result(dir), nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(string(m.Root), &st); isMissing(err) || err == nil && st.Ino != m.RootInode {
		return Result{}, fmt.Errorf("resume %s: %s: %w", dir, m.Root, ErrRootLost)
	}
	r, err := openRun(dir, m)
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	r.hook = hook
	if err := unix.Fstat(int(r.root), &st); err != nil || st.Ino != m.RootInode {
		return Result{}, fmt.Errorf("resume %s: %s: %w", dir, m.Root, ErrRootLost)
	}
	return r.finish(ctx)
}

// run is a transaction at work.
type run struct {
	dir                string
	m                  manifest
	root, upper, trash directory
	slots              directory // the trash, or a directory in the root
	refused            bool      // the manifest lacks a conflict
	hook               func(point string) error
	noLeases           bool
}

func openRun(dir string, m manifest) (*run, error) {
	r := &run{dir: dir, m: m, root: -1, upper: -1, trash: -1, slots: -1}
	err := r.open()
	if err != nil {
		r.close()
	}
	return r, err
}

func (r *run) open() (err error) {
	for _, name := range []string{TrashName, "conflicts"} {
		if err := os.MkdirAll(filepath.Join(r.dir, name), 0o700); err != nil {
			return err
		}
	}
	if r.root, err = openDirectory(string(r.m.Root)); err != nil {
		return err
	}
	if r.upper, err = openDirectory(string(r.m.Upper)); err != nil {
		return err
	}
	if r.trash, err = openDirectory(filepath.Join(r.dir, TrashName)); err != nil {
		return err
	}
	return nil
}

func (r *run) close() {
	if r.slots != r.trash {
		r.slots.close()
	}
	r.root.close()
	r.upper.close()
	r.trash.close()
}

func (r *run) at(point string) error {
	if r.hook == nil {
		return nil
	}
	return r.hook(point)
}

// prepare checks the operations and writes the manifest.
func (r *run) prepare(t *Transaction) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(r.root), &st); err != nil {
		return err
	}
	r.m.RootInode = st.Ino
	if err := newChecker(t, r.root).checkAll(r.m.Ops); err != nil {
		return err
	}
	same, err := sameMount(r.root, r.trash)
	if err != nil {
		return err
	}
	if !same {
		r.m.Slots = quoted(".pawl-" + rand.Text())
	}
	movable, err := sameMount(r.root, r.upper)
	if err != nil {
		return err
	}
	if err := r.planDirs(); err != nil {
		return err
	}
	if err := r.openUpper(); err != nil {
		return err
	}
	if err := r.planCopies(t.Copy || !movable); err != nil {
		return err
	}
	if same { // nobody sees the slots, so one manifest is enough
		if err := r.stageAll(); err != nil {
			return err
		}
	}
	if err := r.at("manifest"); err != nil {
		return err
	}
	return r.m.write(r.dir)
}

// finish does what is left of a transaction. It does not stop when ctx ends, as half of a change is worse than all of
// it; an error leaves the rest to Resume.
func (r *run) finish(ctx context.Context) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := r.openUpper(); err != nil {
		return Result{}, err
	}
	if !r.m.Staged {
		if err := r.stageAll(); err != nil {
			return Result{}, err
		}
		if err := r.m.write(r.dir); err != nil {
			return Result{}, err
		}
	}
	if err := r.openSlots(); err != nil {
		return Result{}, err
	}
	if err := r.openDirs(); err != nil {
		return Result{}, err
	}
	for i := range r.m.Ops {
		if err := r.step(i); err != nil {
			return Result{}, fmt.Errorf("apply %s: %w", r.m.Ops[i].Path, err)
		}
	}
	if err := r.lookAgain(); err != nil {
		return Result{}, err
	}
	if err := r.cleanUp(); err != nil {
		return Result{}, err
	}
	return r.m.result(r.dir), nil
}

// step runs an operation. After a conflict it undoes the operations that must not be applied without it.
func (r *run) step(i int) error {
	o := &r.m.Ops[i]
	if o.Conflict != "" {
		return nil
	}
	if err := r.at("apply " + strconv.Itoa(i)); err != nil {
		return err
	}
	err := r.exec(i)
	var c conflictError
	if errors.As(err, &c) {
		return r.refuse(i, c.reason)
	}
	if errors.Is(err, os.ErrPermission) {
		return r.refuse(i, err.Error())
	}
	return err
}

// refuse marks an operation as a conflict and undoes those that go with it.
func (r *run) refuse(i int, reason string) error {
	r.refused = true
	r.m.Ops[i].Conflict = reason
	marked := spread(r.m.Ops)
	slices.Sort(marked)
	for _, j := range slices.Backward(marked) {
		if err := r.at("undo " + strconv.Itoa(j)); err != nil {
			return err
		}
		if err := r.undo(j); err != nil {
			return fmt.Errorf("undo %s: %w", r.m.Ops[j].Path, err)
		}
	}
	return nil
}

// lookAgain finds programs that had opened a replaced or deleted file before, and wrote to it after it was moved away.
func (r *run) lookAgain() error {
	for i := range r.m.Ops {
		o := &r.m.Ops[i]
		if o.Conflict != "" || o.Old.Type != File || (o.Kind != replace && o.Kind != remove) {
			continue
		}
		old, err := r.slots.stat(slot(i))
		if err != nil {
			return err
		}
		if old.Type == Missing || is(old, o.Staged) || unchanged(old, o.Old) {
			continue
		}
		if err := r.undo(i); err != nil {
			return err
		}
		if err := r.refuse(i, reasonOpen); err != nil {
			return err
		}
	}
	return nil
}

// cleanUp sets the modes of directories, keeps what was not applied, and syncs.
func (r *run) cleanUp() error {
	if err := r.at("modes"); err != nil {
		return err
	}
	if err := r.closeDirs(); err != nil {
		return err
	}
	if r.refused {
		if err := r.m.write(r.dir); err != nil {
			return err
		}
	}
	for i := range r.m.Ops {
		if err := r.at("keep " + strconv.Itoa(i)); err != nil {
			return err
		}
		if err := r.keep(i); err != nil {
			return err
		}
	}
	if r.m.Slots != "" {
		if err := unix.Unlinkat(int(r.root), string(r.m.Slots), unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) {
			return &os.PathError{Op: "remove", Path: string(r.m.Slots), Err: err}
		}
	}
	own, err := r.identities()
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Syncfs(int(r.root)), unix.Syncfs(int(r.trash))); err != nil {
		return err
	}
	if err := r.at("done"); err != nil {
		return err
	}
	r.m.Own, r.m.Done = own, true
	return r.m.write(r.dir)
}

// identities returns what the transaction changed, as it is now.
func (r *run) identities() ([]Identity, error) {
	var own []Identity
	seen := map[string]bool{"": true}
	for i := range r.m.Ops {
		old, err := r.trash.stat(slot(i))
		if err != nil {
			return nil, err
		}
		if old.Type != Missing {
			own = append(own, identity(old))
		}
		path := string(r.m.Ops[i].Path)
		for dir, _ := split(path); !seen[dir]; dir, _ = split(dir) {
			seen[dir] = true
			if own, err = r.appendIdentity(own, dir, Stat{}); err != nil {
				return nil, err
			}
		}
		if o := &r.m.Ops[i]; o.Conflict == "" && o.New.Type != Missing {
			if own, err = r.appendIdentity(own, path, o.Staged); err != nil {
				return nil, err
			}
		}
	}
	return own, nil
}

// appendIdentity appends an entry, if it is the expected one.
func (r *run) appendIdentity(own []Identity, path string, expected Stat) ([]Identity, error) {
	parent, base, err := r.root.parent(path)
	if isMissing(err) || errors.Is(err, os.ErrPermission) {
		return own, nil // the directory may be closed again
	}
	if err != nil {
		return own, err
	}
	defer parent.close()
	now, err := parent.stat(base)
	if errors.Is(err, os.ErrPermission) {
		return own, nil
	}
	if err != nil || now.Type == Missing || expected.Type != Missing && !unchanged(now, expected) {
		return own, err
	}
	return append(own, identity(now)), nil
}

func (m *manifest) result(dir string) Result {
	res := Result{Own: m.Own}
	for i := range m.Ops {
		o := &m.Ops[i]
		if o.Conflict == "" {
			res.Applied = append(res.Applied, o.change())
			continue
		}
		c := Conflict{Change: o.change(), Reason: o.Conflict}
		kept := filepath.Join(dir, "conflicts", slot(i))
		if _, err := os.Lstat(kept); err == nil {
			c.Kept = kept
		}
		res.Conflicts = append(res.Conflicts, c)
	}
	return res
}

func slot(i int) string { return strconv.Itoa(i) }
