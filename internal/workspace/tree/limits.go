package tree

import (
	"cmp"
	"fmt"
)

// Limits bound the work of a scan. A tree that exceeds one fails as a whole: nothing of it is applied. The zero value
// of a field means its default.
type Limits struct {
	Entries int   // entries of the upper and deleted entries of the lower directory
	Depth   int   // directories on a path
	Path    int   // bytes of a path
	Bytes   int64 // bytes of all files in the upper directory
}

var defaultLimits = Limits{
	Entries: 1_000_000,
	Depth:   512,
	Path:    4000, // below PATH_MAX, as paths are opened in one call
	Bytes:   64 << 30,
}

// copyLimits bound a directory that is copied for each command. Clones do not count as bytes.
var copyLimits = Limits{Entries: 50_000, Bytes: 512 << 20}

// LimitError says which limit a tree exceeds.
type LimitError struct {
	Limit string
	Max   int64
	Copy  bool // it was to be copied; else it is what a command changed
}

func (e *LimitError) Error() string {
	if e.Copy {
		return fmt.Sprintf("the directory is too large to copy it for each command: more than %d %s", e.Max, e.Limit)
	}
	return fmt.Sprintf("the command changed too much: more than %d %s", e.Max, e.Limit)
}

func (l Limits) withDefaults() Limits {
	if l.Entries == 0 {
		l.Entries = defaultLimits.Entries
	}
	if l.Depth == 0 {
		l.Depth = defaultLimits.Depth
	}
	if l.Path == 0 {
		l.Path = defaultLimits.Path
	}
	if l.Bytes == 0 {
		l.Bytes = defaultLimits.Bytes
	}
	return l
}

// forCopy returns the limits for a directory that is copied.
func (l Limits) forCopy() Limits {
	l.Entries, l.Bytes = cmp.Or(l.Entries, copyLimits.Entries), cmp.Or(l.Bytes, copyLimits.Bytes)
	return l.withDefaults()
}
