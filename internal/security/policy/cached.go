package policy

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// cached is the parsed content of a file. It is read again when the file changes.
type cached[T any] struct {
	mu    sync.Mutex
	known bool
	path  string
	stamp stamp
	value T
}

// stamp identifies a version of a file.
type stamp struct {
	info fs.FileInfo // nil if there is no file
	at   time.Time
	size int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info, info.ModTime(), info.Size()}
}

func (s stamp) same(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil
	}
	return os.SameFile(s.info, other.info) && s.at.Equal(other.at) && s.size == other.size
}

// young is how long after its last change a file is read every time: another
// change within the resolution of the clock would have the same stamp.
const young = 2 * time.Second

// get returns the result of load, cached until the file at path changes. Errors are
// not cached.
func (c *cached[T]) get(path string, load func() (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := stampOf(path)
	if c.known && c.path == path && c.stamp.same(now) && (now.info == nil || time.Since(now.at) > young) {
		return c.value, nil
	}
	value, err := load()
	c.known, c.path, c.stamp, c.value = err == nil, path, now, value
	return value, err
}
