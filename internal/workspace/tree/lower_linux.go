package tree

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// lowerDir is a directory of the lower with the mask above it.
type lowerDir struct {
	dir, mask directory // mask may be -1
	hidden    bool      // the mask hides all entries
}

func (d lowerDir) close() { d.dir.close(); d.mask.close() }

func (s *scanner) openLower(path string) (lowerDir, error) {
	dir, err := s.lower.directory(path)
	if isMissing(err) {
		return lowerDir{dir: -1, mask: -1, hidden: true}, nil
	}
	if err != nil {
		return lowerDir{}, err
	}
	d := lowerDir{dir: dir, mask: -1}
	if s.mask < 0 {
		return d, nil
	}
	d.mask, err = s.mask.directory(path)
	if errors.Is(err, os.ErrNotExist) {
		d.mask = -1
		return d, nil
	}
	if err == nil {
		d.hidden, err = isOpaque(d.mask)
	}
	if err != nil {
		d.close()
	}
	return d, err
}

// stat returns an entry of the lower as the command could see it, and the mask's directory above it.
func (d lowerDir) stat(base string) (entry, mask Stat, err error) {
	if d.hidden {
		return Stat{}, Stat{}, nil
	}
	if d.mask >= 0 {
		st, err := d.mask.lstat(base)
		if err != nil {
			return Stat{}, Stat{}, err
		}
		mask = toStat(&st)
		white, err := isWhiteout(d.mask, base, &st)
		if white || err != nil {
			return Stat{}, Stat{}, err
		}
	}
	entry, err = d.dir.stat(base)
	if errors.Is(err, os.ErrPermission) {
		return Stat{}, mask, nil // the command could not see it either
	}
	return entry, mask, err
}

type lowerEntry struct {
	base string
	stat Stat
}

// visible returns the entries of a directory of the lower that the command could see, and whether there are others.
func (s *scanner) visible(path string) (entries []lowerEntry, hidden bool, err error) {
	names, err := s.lower.names(path)
	if isMissing(err) {
		return nil, false, nil
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	d, err := s.openLower(path)
	if err != nil {
		return nil, false, err
	}
	defer d.close()
	for _, base := range names {
		st, _, err := d.stat(base)
		if err != nil {
			return nil, false, err
		}
		if st.Type == Missing {
			hidden = true
			continue
		}
		entries = append(entries, lowerEntry{base, st})
	}
	return entries, hidden, nil
}

// remove records the deletion of an entry of the lower and of everything in it that the command could see. It reports
// whether something remains: then the directory remains as well.
func (s *scanner) remove(ctx context.Context, path string, old Stat, top string, depth int) (remains bool, err error) {
	if old.Type == Missing {
		return false, nil
	}
	if err := s.count(ctx, path); err != nil {
		return false, err
	}
	c := Change{Path: path, Old: old}
	if top != path {
		c.Top = top
	}
	if old.Type != Dir {
		s.add(c)
		return false, nil
	}
	if remains, err = s.removeEntries(ctx, path, top, depth+1); err != nil || remains {
		return remains, err
	}
	s.add(c)
	return false, nil
}

// removeChildren records the deletion of what a directory contained that became something else.
func (s *scanner) removeChildren(ctx context.Context, path, top string, depth int) error {
	_, err := s.removeEntries(ctx, path, top, depth+1)
	return err
}

func (s *scanner) removeEntries(ctx context.Context, path, top string, depth int) (remains bool, err error) {
	if depth > s.limits.Depth {
		return false, &LimitError{Limit: "levels of directories", Max: int64(s.limits.Depth)}
	}
	entries, remains, err := s.visible(path)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		kept, err := s.remove(ctx, join(path, e.base), e.stat, top, depth)
		if err != nil {
			return false, err
		}
		remains = remains || kept
	}
	return remains, nil
}

// isWhiteout reports whether an entry of a layer hides the entry with its name in the layers below.
func isWhiteout(dir directory, base string, st *unix.Stat_t) (bool, error) {
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFCHR:
		return st.Rdev == 0, nil
	case st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size == 0:
		names, err := dir.attributes(base)
		return slices.Contains(names, overlayPrefix+"whiteout"), err
	}
	return false, nil
}

// isOpaque reports whether a directory of a layer hides the directories below it.
func isOpaque(dir directory) (bool, error) {
	value, err := dir.attribute(".", overlayPrefix+"opaque")
	return string(value) == "y", err
}

// checkAttributes drops the attributes that are never applied, and returns the ones that overlayfs set itself.
//
// A command cannot set those: overlayfs stores user.overlay.x of its mount as user.overlay.overlay.x.
func (s *scanner) checkAttributes(p *pair) (own []string, err error) {
	names, err := p.upper.attributes(p.base)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var before []string
	if p.old.Type == p.new.Type {
		if before, err = p.lower.attributes(p.base); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	for _, name := range names {
		rest, overlay := strings.CutPrefix(name, overlayPrefix)
		if overlay && !strings.HasPrefix(rest, "overlay.") {
			own = append(own, name)
			continue
		}
		shown := overlayPrefix + strings.TrimPrefix(rest, "overlay.")
		switch {
		case overlay && !slices.Contains(before, shown):
			s.drop(p.path, "attribute "+shown)
		case isSecurity(name) && !slices.Contains(before, name):
			s.drop(p.path, "attribute "+name)
		}
	}
	if i := slices.Index(own, overlayPrefix+"opaque"); i >= 0 {
		value, err := p.upper.attribute(p.base, overlayPrefix+"opaque")
		if err != nil {
			return nil, err
		}
		if string(value) != "y" { // "x" only says that the directory contains whiteouts
			own = slices.Delete(own, i, i+1)
		}
	}
	return own, nil
}

// isSecurity reports whether an attribute gives rights to a program. Labels that the system sets on every file do not count.
func isSecurity(name string) bool {
	return strings.HasPrefix(name, "security.") && name != "security.selinux" && !strings.HasPrefix(name, "security.SMACK64")
}
