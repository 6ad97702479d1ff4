// Package search implements the grep, glob and list tools: it finds files by
// name and lines by pattern in a workspace, and lists directories as trees.
//
// There is one walk, one set of ignore rules and one pattern syntax. Only
// counting of matching lines has two engines; see Engine. All files are read
// through the workspace's handle, links are not followed, and no result or
// buffer grows with the size of the workspace.
package search

import (
	"context"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits are the limits of one search. Zero fields that apply to the search
// allow nothing.
type Limits struct {
	Results   int           // paths, files, lines or entries in the result
	LineChars int           // characters of a line in the result
	Bytes     int           // bytes of the text of a tree
	FileBytes int64         // larger files are skipped, unless named explicitly
	Time      time.Duration // after it, the search returns what it has found
}

// Gaps is what a search could not examine.
type Gaps struct {
	Folders int  // directories that could not be read
	Files   int  // files that could not be read
	Large   int  // files that were too large
	TimeUp  bool // the time limit was reached
}

// grace is how long a canceled search waits for its goroutines: a file system
// that hangs must not delay a cancel.
const grace = 500 * time.Millisecond

// bounded runs work, which must respect ctx, and returns when it has ended or
// shortly after ctx has. It reports whether work has ended; if not, work may
// still write to its variables.
func bounded(ctx context.Context, work func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// ShowPath returns a path, quoted if it contains line breaks, invalid UTF-8 or
// unprintable characters.
func ShowPath(path string) string {
	for _, r := range path {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(path)
		}
	}
	return path
}
