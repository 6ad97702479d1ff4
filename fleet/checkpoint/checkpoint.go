// Package checkpoint saves whole workspaces in a blob store, so that another host can continue with them. A
// checkpoint includes what git would not keep, such as .git itself and ignored files.
//
// A checkpoint consists of a manifest, which lists the entries, and packs, which hold the contents. A manifest
// may be an increment to another one. See docs/adr/0024-checkpoints.md.
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
	"github.com/pawl-dev/pawl/internal/fault"
)

// Store saves and restores workspaces. It is safe for concurrent use, but only by one goroutine at a time for
// each key.
type Store struct {
	Blobs  blob.Store
	Dir    string // for the index of this host's files; never shared
	Limits Limits
	Grace  time.Duration // age up to which Prune keeps everything; 0 means an hour

	// IgnoreEmptyDir reports whether an empty directory with this mode is not part of the workspace, such as the
	// placeholders of the sandbox. nil means that all directories are.
	IgnoreEmptyDir func(mode fs.FileMode) bool

	look func(path string) // for tests: called before something is opened
	now  func() time.Time  // for tests
}

// Limits bound the content of a checkpoint.
type Limits struct {
	MaxBytes int64 // of all files; 0 means 16 GiB
	MaxFiles int   // including directories and links; 0 means 500,000
}

// Default limits.
const (
	defaultBytes = 16 << 30
	defaultFiles = 500_000
	defaultGrace = time.Hour

	maxDepth = 200 // nesting of directories: each stays open while its content is read
)

// LimitError reports a workspace that is too large for a checkpoint.
type LimitError struct {
	What string // what exceeds the limit
	Max  int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the workspace has more than %d %s, too many for a checkpoint: delete build output, caches and downloads, or raise the checkpoint limit", e.Max, e.What)
}

// Is makes errors.Is(err, pawl.ErrInvalid) hold.
func (e *LimitError) Is(target error) bool { return target == pawl.ErrInvalid }

// Root is a directory to save, under a name that is the same on every host. The first root must exist when it
// is saved; others may be missing, which is saved too.
type Root struct{ Name, Path string }

// Stats describe a checkpoint and the work of saving it.
type Stats struct {
	Files   int   // including directories and links
	Bytes   int64 // total size of all files
	LeftOut int   // devices, sockets, pipes and mounted file systems
	Read    int   // files that were read because they may have changed
	Sent    int64 // bytes written to the store
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
	reserved = regexp.MustCompile(`/(manifests|packs)(/|$)`) // reserved within a key
	goodKey  = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){0,3}$`)
)

// check validates the key and the roots.
func (k *Store) check(key string, roots []Root) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(roots) == 0 {
		return fault.New(pawl.ErrInvalid, "checkpoint: no directory named")
	}
	paths := []string{k.Dir}
	seen := map[string]bool{}
	for _, r := range roots {
		if !goodName.MatchString(r.Name) || seen[r.Name] || !filepath.IsAbs(r.Path) || filepath.Clean(r.Path) != r.Path || r.Path == "/" {
			return fault.New(pawl.ErrInvalid, "checkpoint: invalid directory %q at %q: each needs a unique name (lowercase letters, digits, hyphens) and an absolute path", r.Name, r.Path)
		}
		for _, other := range paths {
			if within(r.Path, other) || within(other, r.Path) {
				return fault.New(pawl.ErrInvalid, "checkpoint: %s and %s overlap", r.Path, other)
			}
		}
		seen[r.Name], paths = true, append(paths, r.Path)
	}
	return nil
}

func checkKey(key string) error {
	if !goodKey.MatchString(key) || reserved.MatchString(key) {
		return fault.New(pawl.ErrInvalid, "checkpoint: invalid key %q: use at most four parts of letters, digits, hyphens, underscores and dots, separated by slashes", key)
	}
	return nil
}

// within reports whether path is parent or inside of it.
func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, strings.TrimSuffix(parent, "/")+"/")
}
