package tree

import "fmt"

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

// LimitError says which limit a tree exceeds.
type LimitError struct {
	Limit string
	Max   int64
}

func (e *LimitError) Error() string {
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
