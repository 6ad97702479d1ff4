package tree

import (
	"errors"
	"os"
	"path/filepath"
)

// View is an overlayfs mount with the options userxattr, volatile, index=off and xino=off, after its command ended.
type View struct {
	Upper string
	Lower string

	// Mask is a layer above Lower that hides entries from the command. It contains only directories and whiteouts.
	// "" hides nothing.
	Mask string

	// Dirs has the inodes of directories of Lower when the command began, as far as they are known. By them Scan
	// notices that somebody put another directory there.
	Dirs map[string]uint64

	// Began has the types of the entries of Lower when the command began, if they are known. By them Scan notices that
	// somebody deleted an entry that the command changed.
	Began map[string]Type

	Limits Limits
}

// Transaction applies the changes of one command to a directory.
type Transaction struct {
	// Dir holds the manifest, the replaced and deleted entries (trash) and the contents that conflicts kept from being
	// applied (conflicts). It belongs to this transaction alone.
	Dir  string
	Root string
	View View

	// Since is Now at the begin of the command. What changed later was changed by somebody else, except for Own.
	Since int64
	Own   []Identity // of the previous transaction

	// Copy copies contents to new files instead of moving them. It is needed when a process that outlives the command
	// may hold a descriptor of a file in the upper directory.
	Copy bool

	// For tests:
	hook     func(point string) error
	noLeases bool // as on file systems that have none
}

// Identity is the state of an entry after a transaction changed it.
type Identity struct {
	Inode      uint64
	Size       int64
	ChangeTime int64
}

// Conflict is a change that was not applied.
type Conflict struct {
	Change
	Reason string
	Kept   string // the file with the new content, or ""; it also has what others wrote to it while it was in place
}

// Result says what a transaction did.
type Result struct {
	Applied   []Change
	Conflicts []Conflict
	Own       []Identity // for the next transaction
}

// TrashName is the directory in Transaction.Dir that has the replaced and deleted entries.
const TrashName = "trash"

// ErrRootLost means that a transaction cannot be finished, because its root was removed or replaced.
var ErrRootLost = errors.New("the directory was removed or replaced")

// ErrNotStarted means that a transaction was interrupted before it changed anything.
var ErrNotStarted = errors.New("transaction has not started")

const manifestName = "manifest.json"

// Started reports whether a transaction in a directory has started to apply changes. Resume finishes it.
func Started(dir string) (bool, error) {
	_, err := os.Lstat(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
