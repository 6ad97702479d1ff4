package skill

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// LockFile is the file beside installed skills that records what they are.
const LockFile = "skills.lock"

const (
	lockVersion = 1
	maxLock     = 4 << 20
	maxLocked   = 1000
)

// Entry is an installed skill.
type Entry struct {
	Source    string    `json:"source"` // as ParseSource accepts it
	Path      string    `json:"path"`   // its directory in the repository; "" is the top
	Commit    string    `json:"commit"`
	SHA256    string    `json:"sha256"` // of its paths, modes and contents
	Installed time.Time `json:"installed"`
}

// Lock is the content of the lock file. Its encoding is deterministic.
type Lock struct {
	Version int              `json:"version"`
	Skills  map[string]Entry `json:"skills"`
}

// readLock reads the lock file of a directory. A missing file is an empty
// lock.
func readLock(t frontmatter.Tree, at string) (Lock, error) {
	lock := Lock{Version: lockVersion, Skills: map[string]Entry{}}
	text, err := frontmatter.Read(t, filepath.Join(at, LockFile), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return lock, nil
	}
	if err != nil {
		return Lock{}, err
	}
	var read Lock
	if err := strictjson.Decode(text, &read); err != nil {
		return Lock{}, fault.New(pawl.ErrInvalid, "%w", err)
	}
	if read.Version != lockVersion || len(read.Skills) > maxLocked {
		return Lock{}, fault.New(pawl.ErrInvalid, "unsupported version %d, or too many skills (%d): this version of Pawl supports version %d, with at most %d skills", read.Version, len(read.Skills), lockVersion, maxLocked)
	}
	for name, e := range read.Skills {
		if err := CheckName(name); err != nil || len(e.SHA256) != 64 {
			return Lock{}, fault.New(pawl.ErrInvalid, "entry %.80q has an invalid name or no hash", name)
		}
		lock.Skills[name] = e
	}
	return lock, nil
}
