// Package search finds files by name and lines by pattern in a workspace, and
// shows directories as trees.
//
// There is one walk, one set of ignore rules and one pattern language. Only
// how lines are counted has two engines; see Engine. Nothing is read but
// through the workspace's handle, links are not followed, and no answer or
// buffer grows with the size of the workspace.
package search

import (
	"context"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits are the bounds of one search, as far as it has them. With a zero
// nothing is found.
type Limits struct {
	Results   int           // paths, files, lines or entries in the answer
	LineChars int           // characters of a line in the answer
	Bytes     int           // of a tree's text
	FileBytes int64         // larger files are passed over, unless one is named by itself
	Time      time.Duration // then the answer is what was found
}

// Gaps say what a search did not see.
type Gaps struct {
	Folders int  // could not be read
	Files   int  // could not be read
	Large   int  // files passed over for their size
	TimeUp  bool // the time was over before the end
}

// grace is how long a search that has ended waits for its own goroutines: a
// file system that hangs must not hold up a cancel.
const grace = 500 * time.Millisecond

// bounded runs work, which must heed ctx, and returns when it has ended, or a
// while after the end of ctx. It reports whether work has ended: if not, it
// may still be writing.
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

// ShowPath returns a path as it is, or quoted if it could be mistaken for
// something else: a line break or a broken character is part of it.
func ShowPath(path string) string {
	for _, r := range path {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(path)
		}
	}
	return path
}
