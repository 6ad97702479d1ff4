package tree

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// Collected is what Collect found.
type Collected struct{ found map[string]versions }

// Empty reports whether nothing has changed.
func (c Collected) Empty() bool { return len(c.found) == 0 }

// Collect copies what the job has changed since the last time to an empty directory, in the form of an upper directory
// that can be scanned. It leaves out entries for which skip returns true, and files that change while they are copied.
//
// Call Settle after the attempt to apply them.
func (m *Mirror) Collect(ctx context.Context, to string, skip func(path string) bool) (Collected, error) {
	dir, err := openDirectory(to)
	if err != nil {
		return Collected{}, err
	}
	defer dir.close()
	c := collector{Mirror: m, to: dir, skip: skip, limits: defaultLimits, found: map[string]versions{}, links: map[uint64]string{}}
	err = c.walk(ctx, "", false, 0)
	return Collected{c.found}, err
}

// Settle notes that the entries need not be collected again until they change. The result is that of applying them.
func (m *Mirror) Settle(c Collected, result Result) error {
	own := map[uint64]Identity{}
	for _, id := range result.Own {
		own[id.Inode] = id
	}
	maps.Copy(m.same, c.found)
	for _, change := range result.Applied {
		v, found := c.found[change.Path]
		if !found {
			continue // deleted with its directory
		}
		lower, err := at(m.lower, change.Path)
		if err != nil {
			return err
		}
		if lower.Type != change.New.Type || lower.Type != Missing && own[lower.Inode] != identity(lower) {
			lower = Stat{Type: Other} // somebody else has changed it: Update shows that to the job
		}
		m.same[change.Path] = versions{v.upper, lower}
	}
	return nil
}

type collector struct {
	*Mirror
	to      directory
	skip    func(string) bool
	limits  Limits
	entries int
	found   map[string]versions
	links   map[uint64]string // collected files by inode
}

// walk collects a directory of the upper directory. In an opaque one, entries of the lower directory are deleted.
func (c *collector) walk(ctx context.Context, dir string, opaque bool, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > c.limits.Depth {
		return &LimitError{Limit: "levels of directories", Max: int64(c.limits.Depth)}
	}
	names, err := c.upper.names(dir)
	if isMissing(err) {
		return nil // the job deleted it
	}
	if err != nil {
		return err
	}
	if c.entries += len(names); c.entries > c.limits.Entries {
		return &LimitError{Limit: "entries", Max: int64(c.limits.Entries)}
	}
	for _, base := range names {
		path := join(dir, base)
		if c.skip(path) {
			continue
		}
		if err := c.entry(ctx, path, opaque, depth); err != nil && !isMissing(err) {
			return err
		}
	}
	if opaque {
		return c.deleteOthers(dir, names)
	}
	return nil
}

func (c *collector) entry(ctx context.Context, path string, opaque bool, depth int) error {
	parent, base, err := c.upper.parent(path)
	if err != nil {
		return err
	}
	defer parent.close()
	st, err := parent.lstat(base)
	if err != nil {
		return err
	}
	white, err := isWhiteout(parent, base, &st)
	if err != nil {
		return err
	}
	upper := toStat(&st)
	switch {
	case white:
		return c.delete(path)
	case upper.Type == Dir:
		if !opaque {
			value, err := parent.attribute(base, overlayPrefix+"opaque")
			if err != nil {
				return err
			}
			opaque = string(value) == "y"
		}
		if err := c.directory(path, upper); err != nil {
			return err
		}
		return c.walk(ctx, path, opaque, depth+1)
	case upper.Type == File || upper.Type == Link:
		return c.file(parent, base, path, upper)
	}
	return nil
}

// directory collects a directory that is not in the lower directory.
func (c *collector) directory(path string, upper Stat) error {
	lower, err := at(c.lower, path)
	if err != nil || lower.Type == Dir {
		return err
	}
	if v, seen := c.same[path]; seen && v.lower == lower && v.upper.Inode == upper.Inode {
		return nil // refused, or somebody deleted it again
	}
	to, err := c.place(join(path, "."))
	if err != nil {
		return err
	}
	to.close()
	c.found[path] = versions{upper, lower}
	return nil
}

func (c *collector) file(from directory, base, path string, upper Stat) error {
	if v, seen := c.same[path]; seen && sameVersion(v.upper, upper) {
		return nil
	}
	lower, err := at(c.lower, path)
	if err != nil {
		return err
	}
	to, err := c.place(path)
	if err != nil {
		return err
	}
	defer to.close()
	if first, linked := c.links[upper.Inode]; linked {
		err = unix.Linkat(int(c.to), first, int(to), base, 0)
	} else {
		err = copyEntry(from, base, to, base, upper)
	}
	if errors.Is(err, errUpper) {
		return removeSlot(to, base) // it is collected the next time
	}
	if err == nil {
		c.links[upper.Inode] = path
		c.found[path] = versions{upper, lower}
	}
	return err
}

// place opens the directory for a collected entry. The directories of the upper directory exist there with their modes.
func (c *collector) place(path string) (directory, error) {
	dir, _ := split(path)
	if dir == "" {
		return c.to.directory("")
	}
	to, err := c.to.directory(dir)
	if !isMissing(err) {
		return to, err
	}
	above, err := c.place(dir)
	if err != nil {
		return -1, err
	}
	defer above.close()
	st, err := at(c.upper, dir)
	if err != nil {
		return -1, err
	}
	_, base := split(dir)
	if err := makeDir(above, base, st.Mode|0o700); err != nil {
		return -1, err
	}
	return c.to.directory(dir)
}

// delete collects the deletion of an entry of the lower directory, unless somebody else has changed it.
func (c *collector) delete(path string) error {
	lower, err := at(c.lower, path)
	if err != nil || lower.Type == Missing {
		return err
	}
	v, seen := c.same[path]
	known := seen && v.lower == lower
	if known && v.upper.Type == Missing {
		return nil // refused before
	}
	if lower.Type != Dir && lower.ChangeTime >= c.since && !known {
		return nil // not the job's to delete
	}
	to, err := c.place(path)
	if err != nil {
		return err
	}
	defer to.close()
	_, base := split(path)
	if err := unix.Mknodat(int(to), base, unix.S_IFCHR, 0); err != nil {
		return err
	}
	c.found[path] = versions{lower: lower}
	return nil
}

// deleteOthers collects the deletion of what a directory does not contain any more.
func (c *collector) deleteOthers(dir string, names []string) error {
	lower, err := c.lower.names(dir)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, base := range lower {
		path := join(dir, base)
		if _, found := slices.BinarySearch(names, base); found || c.skip(path) {
			continue
		}
		if err := c.delete(path); err != nil {
			return err
		}
	}
	return nil
}
