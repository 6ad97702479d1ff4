package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	overlayPrefix = "user.overlay."
	setIDs        = unix.S_ISUID | unix.S_ISGID
)

// Scan compares the upper directory of a view with its lower directory and returns the changes by path, and what is
// never applied.
//
// A file is unchanged if its type, mode, content and modification time are. A mere touch is a change, because make
// and other tools go by it. Modification times of directories and links, the mode of the root, owners and attributes
// are not compared.
//
// Scan must not run while the view is mounted.
func Scan(ctx context.Context, v View) ([]Change, []Dropped, error) {
	s := scanner{upper: -1, lower: -1, mask: -1, limits: v.Limits.withDefaults(), dirs: v.Dirs, began: v.Began, copies: map[string]bool{}}
	defer func() { s.upper.close(); s.lower.close(); s.mask.close() }()
	var err error
	if s.upper, err = openDirectory(v.Upper); err != nil {
		return nil, nil, err
	}
	if s.lower, err = openDirectory(v.Lower); err != nil {
		return nil, nil, err
	}
	if v.Mask != "" {
		if s.mask, err = openDirectory(v.Mask); err != nil {
			return nil, nil, err
		}
	}
	err = s.walk(ctx, level{lower: true})
	if restoreErr := s.restoreModes(); err == nil {
		err = restoreErr
	}
	if err != nil {
		return nil, nil, err
	}
	s.findDeleted()
	slices.SortFunc(s.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return s.changes, s.dropped, nil
}

type scanner struct {
	upper, lower, mask directory
	limits             Limits
	entries            int
	bytes              int64
	changes            []Change
	dropped            []Dropped
	dirs               map[string]uint64
	began              map[string]Type
	copies             map[string]bool // files that were copied from the lower, where they are missing
	renamed            bool            // the command may have renamed files of the lower
	opened             []Change        // directories of the upper that were made readable, with their modes
}

// level is a directory of the upper.
type level struct {
	path   string
	depth  int
	lower  bool   // the command saw a directory of the lower here
	opaque bool   // the directory replaces the one of the lower
	top    string // the directory that was replaced as a whole
	setgid bool   // directories inherit the setgid bit
}

// walk compares a directory of the upper. It closes its descriptors before it goes deeper.
func (s *scanner) walk(ctx context.Context, l level) error {
	deeper, err := s.compareLevel(ctx, l)
	if err != nil {
		return err
	}
	for _, sub := range deeper {
		if err := s.walk(ctx, sub); err != nil {
			return err
		}
	}
	return nil
}

// pair is an entry of the upper with its counterpart in the lower.
type pair struct {
	level
	path         string
	base         string
	upper, lower directory // the parents; lower may be -1
	up           unix.Stat_t
	new, old     Stat
	mask         Stat
}

func (s *scanner) compareLevel(ctx context.Context, l level) ([]level, error) {
	if l.depth > s.limits.Depth {
		return nil, &LimitError{Limit: "levels of directories", Max: int64(s.limits.Depth)}
	}
	names, err := s.upper.names(l.path)
	if err != nil {
		return nil, err
	}
	upper, err := s.upper.directory(l.path)
	if err != nil {
		return nil, err
	}
	defer upper.close()
	var below lowerDir
	if l.lower {
		if below, err = s.openLower(l.path); err != nil {
			return nil, err
		}
		defer below.close()
	}
	var deeper []level
	for _, base := range names {
		p := pair{level: l, path: join(l.path, base), base: base, upper: upper, lower: below.dir}
		if err := s.count(ctx, p.path); err != nil {
			return nil, err
		}
		if p.up, err = upper.lstat(base); err != nil {
			return nil, err
		}
		p.new = toStat(&p.up)
		if l.lower {
			if p.old, p.mask, err = below.stat(base); err != nil {
				return nil, err
			}
		}
		sub, err := s.compare(ctx, &p)
		if err != nil {
			return nil, err
		}
		if sub != nil {
			deeper = append(deeper, *sub)
		}
	}
	if l.opaque && l.lower {
		return deeper, s.removeOthers(ctx, l, names)
	}
	return deeper, nil
}

// removeOthers records the deletion of what a replaced directory does not contain any more.
func (s *scanner) removeOthers(ctx context.Context, l level, names []string) error {
	visible, _, err := s.visible(l.path)
	if err != nil {
		return err
	}
	for _, e := range visible {
		if _, found := slices.BinarySearch(names, e.base); found {
			continue
		}
		if _, err := s.remove(ctx, join(l.path, e.base), e.stat, l.top, l.depth); err != nil {
			return err
		}
	}
	return nil
}

// compare records how an entry changed. It returns the level below a directory.
func (s *scanner) compare(ctx context.Context, p *pair) (*level, error) {
	white, err := isWhiteout(p.upper, p.base, &p.up)
	if err != nil {
		return nil, err
	}
	if white {
		_, err := s.remove(ctx, p.path, p.old, p.path, p.depth)
		return nil, err
	}
	if p.new.Type == Dir {
		return s.compareDir(p)
	}
	if p.old.Type == Dir {
		if err := s.removeChildren(ctx, p.path, p.path, p.depth); err != nil {
			return nil, err
		}
	}
	switch p.new.Type {
	case File:
		return nil, s.compareFile(p)
	case Link:
		return nil, s.compareLink(p)
	default:
		s.drop(p.path, specialName(p.up.Mode))
		if p.old.Type != Missing && p.old.Type != Other {
			s.add(Change{Path: p.path, Old: p.old})
		}
		return nil, nil
	}
}

func (s *scanner) compareDir(p *pair) (*level, error) {
	if err := s.openUpper(p); err != nil {
		return nil, err
	}
	own, err := s.checkAttributes(p)
	if err != nil {
		return nil, err
	}
	sub := level{path: p.path, depth: p.depth + 1, setgid: p.setgid}
	seen := p.old
	if p.mask.Type == Dir {
		seen = p.mask // the command saw its mode
	}
	allowed := seen.Mode & setIDs
	if p.setgid {
		allowed |= unix.S_ISGID
	}
	s.dropIDs(p, allowed)
	if p.old.Type != Dir {
		if !slices.Contains(own, originAttribute) && s.began[p.path] != Dir {
			s.add(Change{Path: p.path, Old: p.old, New: p.new})
		} // Else the directory was in the lower at first. Changes in it will find that it was deleted.
		return &sub, nil
	}
	before, known := s.dirs[p.path]
	replaced := known && before != p.old.Inode
	sub.lower = !replaced
	sub.opaque = p.opaque || slices.Contains(own, overlayPrefix+"opaque")
	sub.setgid = seen.Mode&unix.S_ISGID != 0
	if sub.opaque {
		sub.top = p.top
		if sub.top == "" {
			sub.top = p.path
		}
	}
	if p.new.Mode != seen.Mode && !replaced {
		s.add(Change{Path: p.path, Old: p.old, New: p.new})
	}
	return &sub, nil
}

func (s *scanner) compareFile(p *pair) error {
	if s.bytes += p.new.Size; s.bytes > s.limits.Bytes {
		return &LimitError{Limit: "bytes", Max: s.limits.Bytes}
	}
	own, err := s.checkAttributes(p)
	if err != nil {
		return err
	}
	s.noteOrigin(p, own)
	same := false
	if p.old.Type == File && p.old.Size == p.new.Size {
		var err error
		if same, err = s.sameContent(p); err != nil {
			return err
		}
	}
	if same {
		s.dropIDs(p, p.old.Mode&setIDs)
		if p.new.Mode == p.old.Mode && p.new.ModTime == p.old.ModTime {
			return nil
		}
	} else {
		s.dropIDs(p, 0)
	}
	s.add(Change{Path: p.path, Old: p.old, New: p.new, SameContent: same})
	return nil
}

func (s *scanner) compareLink(p *pair) error {
	if p.old.Type == Link {
		to, err := p.upper.readlink(p.base)
		if err != nil {
			return err
		}
		before, err := p.lower.readlink(p.base)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if to == before {
			return nil
		}
	}
	s.add(Change{Path: p.path, Old: p.old, New: p.new})
	return nil
}

// sameContent compares two files of the same size. A file of the lower that cannot be read differs.
func (s *scanner) sameContent(p *pair) (bool, error) {
	upper, err := openUpperFile(p)
	if err != nil {
		return false, err
	}
	defer func() { _ = upper.Close() }()
	fd, err := p.lower.open(p.base, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return false, nil
	}
	lower := os.NewFile(uintptr(fd), p.path)
	defer func() { _ = lower.Close() }()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(upper, a)
		m, lowerErr := io.ReadFull(lower, b)
		if n != m || !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err != nil || lowerErr != nil {
			return false, errors.Join(err, lowerErr)
		}
	}
}

// openUpperFile opens a file for reading, even if its mode forbids it.
func openUpperFile(p *pair) (*os.File, error) {
	fd, err := p.upper.open(p.base, unix.O_RDONLY|unix.O_NONBLOCK)
	if errors.Is(err, os.ErrPermission) {
		mode := p.up.Mode & 0o7777
		if err := p.upper.chmod(p.base, p.new.Inode, mode|0o400); err != nil {
			return nil, err
		}
		fd, err = p.upper.open(p.base, unix.O_RDONLY|unix.O_NONBLOCK)
		if err := p.upper.chmod(p.base, p.new.Inode, mode); err != nil {
			return nil, err
		}
	}
	return os.NewFile(uintptr(fd), p.path), err
}

// openUpper makes a directory readable until the scan ends.
func (s *scanner) openUpper(p *pair) error {
	if p.new.Mode&0o500 == 0o500 {
		return nil
	}
	s.opened = append(s.opened, Change{Path: p.path, New: p.new})
	return p.upper.chmod(p.base, p.new.Inode, p.new.Mode|0o700)
}

func (s *scanner) restoreModes() error {
	for _, c := range slices.Backward(s.opened) {
		parent, base, err := s.upper.parent(c.Path)
		if err != nil {
			return err
		}
		err = parent.chmod(base, c.New.Inode, c.New.Mode)
		parent.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) add(c Change) { s.changes = append(s.changes, c) }

func (s *scanner) drop(path, reason string) {
	s.dropped = append(s.dropped, Dropped{Path: path, Reason: reason})
}

// dropIDs removes the setuid and setgid bits that are not allowed.
func (s *scanner) dropIDs(p *pair, allowed uint32) {
	if p.new.Mode&unix.S_ISUID&^allowed != 0 {
		s.drop(p.path, "setuid bit")
	}
	if p.new.Mode&unix.S_ISGID&^allowed != 0 {
		s.drop(p.path, "setgid bit")
	}
	p.new.Mode &^= setIDs &^ allowed
}

// count fails if another entry exceeds a limit.
func (s *scanner) count(ctx context.Context, path string) error {
	s.entries++
	if s.entries > s.limits.Entries {
		return &LimitError{Limit: "entries", Max: int64(s.limits.Entries)}
	}
	if len(path) > s.limits.Path {
		return &LimitError{Limit: "bytes in a path", Max: int64(s.limits.Path)}
	}
	return ctx.Err()
}

func specialName(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFIFO:
		return "FIFO"
	default:
		return "device"
	}
}
