package tree

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Detach copies what a command created or modified in upper to an empty directory, and returns the changes with the entries
// of that directory. Use it as the upper directory of the view from then on: a process of another sandbox, to which
// the command passed a descriptor, may still write to the former one, and cannot reach this one.
func Detach(ctx context.Context, upper string, changes []Change, to string) ([]Change, error) {
	d := detacher{upper: -1, to: -1, first: map[uint64]string{}}
	defer func() { d.upper.close(); d.to.close() }()
	var err error
	if d.upper, err = openDirectory(upper); err != nil {
		return nil, err
	}
	if d.to, err = openDirectory(to); err != nil {
		return nil, err
	}
	if err := (&run{upper: d.upper, m: manifest{Ops: plan(changes)}}).openUpper(); err != nil {
		return nil, err
	}
	list := make([]Change, 0, len(changes))
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.New.Type != Missing {
			if err := d.copy(&c); err != nil {
				return nil, fmt.Errorf("copy %s: %w", c.Path, err)
			}
		}
		list = append(list, c)
	}
	return list, nil
}

type detacher struct {
	upper, to directory
	first     map[uint64]string // the copies of files that may have several names
}

// copy copies the new entry of a change, and sets it in the change.
func (d *detacher) copy(c *Change) error {
	if err := d.makeParents(c.Path); err != nil {
		return err
	}
	from, base, err := d.upper.parent(c.Path)
	if err != nil {
		return err
	}
	defer from.close()
	to, _, err := d.to.parent(c.Path)
	if err != nil {
		return err
	}
	defer to.close()
	if first := d.first[c.New.Inode]; first != "" && c.New.Type == File {
		err = d.link(first, to, base)
	} else {
		d.first[c.New.Inode] = c.Path
		err = copyEntry(from, base, to, base, c.New)
	}
	if err != nil {
		return err
	}
	mode := c.New.Mode // a copied directory is open to its owner
	if c.New, err = to.stat(base); err == nil {
		c.New.Mode = mode
	}
	return err
}

func (d *detacher) link(first string, to directory, base string) error {
	parent, name, err := d.to.parent(first)
	if err != nil {
		return err
	}
	defer parent.close()
	if err := unix.Linkat(int(parent), name, int(to), base, 0); err != nil {
		return &os.LinkError{Op: "link", Old: first, New: base, Err: err}
	}
	return nil
}

// makeParents creates the directories above a path that are no changes themselves.
func (d *detacher) makeParents(path string) error {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		parent, base, err := d.to.parent(path[:i])
		if err != nil {
			return err
		}
		err = makeDir(parent, base, 0o700)
		parent.close()
		if err != nil {
			return err
		}
	}
	return nil
}
