// Package checkpoint keeps all that a workspace holds in a blob store, so that
// another host can go on with it: also what git would not keep, as .git itself and
// what is ignored.
//
// A checkpoint is a manifest, which says what there is, and packs, which hold the
// contents. A manifest may build on another and tell only what differs. See
// docs/adr/0024-checkpoints.md.
package checkpoint

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
)

// Store saves and restores workspaces. It may be used by many goroutines, but only
// one at a time for a key.
type Store struct {
	Blobs  blob.Store
	Dir    string // of this host, for what is known of its files; never shared
	Limits Limits
	Grace  time.Duration // how long Prune leaves alone what is new; 0 means an hour

	// Spare reports by its mode whether an empty directory is no part of the workspace, as
	// the sandbox's are; nil means that all are.
	Spare func(mode fs.FileMode) bool

	look func(path string) // for tests: is called before something is opened
	now  func() time.Time  // for tests
}

// Limits bound what a checkpoint holds.
type Limits struct {
	MaxBytes int64 // of all files; 0 means 16 GiB
	MaxFiles int   // with directories and links; 0 means 500,000
}

// The limits unless others are given.
const (
	defaultBytes = 16 << 30
	defaultFiles = 500_000
	defaultGrace = time.Hour

	maxDepth = 200 // of directories: each is open while those in it are looked at
)

// LimitError is a workspace that is too large to be kept.
type LimitError struct {
	What string // what there is too much of
	Max  int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the workspace has more than %d %s and cannot be kept: delete what is not needed (build output, caches, downloads), or have the limit of checkpoints raised", e.Max, e.What)
}

// Is makes errors.Is(err, pawl.ErrInvalid) hold.
func (e *LimitError) Is(target error) bool { return target == pawl.ErrInvalid }

// Root is a directory that is kept, under a name that is the same on every host. Of
// several the first must be there when it is saved; that another is missing is kept.
type Root struct{ Name, Path string }

// Stats tell what a checkpoint holds and what it took to save it.
type Stats struct {
	Files   int   // with directories and links
	Bytes   int64 // of all files
	LeftOut int   // devices, sockets, pipes, and what is mounted in a root
	Read    int   // files that were read, as they may have changed
	Sent    int64 // bytes that went to the store
}

func (k *Store) maxBytes() int64 {
	if k.Limits.MaxBytes > 0 {
		return k.Limits.MaxBytes
	}
	return defaultBytes
}

func (k *Store) maxFiles() int {
	if k.Limits.MaxFiles > 0 {
		return k.Limits.MaxFiles
	}
	return defaultFiles
}

func (k *Store) clock() time.Time {
	if k.now != nil {
		return k.now()
	}
	return time.Now()
}

var (
	goodName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,49}$`)
	ours     = regexp.MustCompile(`/(manifests|packs)(/|$)`) // what is kept under a key
	goodKey  = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){0,3}$`)
)

// check refuses keys and roots that nothing can be kept under.
func (k *Store) check(key string, roots []Root) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(roots) == 0 {
		return fmt.Errorf("checkpoint: no folder is named: %w", pawl.ErrInvalid)
	}
	paths := []string{k.Dir}
	seen := map[string]bool{}
	for _, r := range roots {
		if !goodName.MatchString(r.Name) || seen[r.Name] || !filepath.IsAbs(r.Path) || filepath.Clean(r.Path) != r.Path || r.Path == "/" {
			return fmt.Errorf("checkpoint: folder %q at %q: each needs a name of its own (small letters, digits, -) and an absolute path: %w", r.Name, r.Path, pawl.ErrInvalid)
		}
		for _, other := range paths {
			if within(r.Path, other) || within(other, r.Path) {
				return fmt.Errorf("checkpoint: %s and %s are within each other: %w", r.Path, other, pawl.ErrInvalid)
			}
		}
		seen[r.Name], paths = true, append(paths, r.Path)
	}
	return nil
}

func checkKey(key string) error {
	if !goodKey.MatchString(key) || ours.MatchString(key) {
		return fmt.Errorf("checkpoint: key %q: up to four parts of letters, digits, -, _ and dots, with slashes between: %w", key, pawl.ErrInvalid)
	}
	return nil
}

// within reports whether a path is parent or below it.
func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, strings.TrimSuffix(parent, "/")+"/")
}
