package pawl

import (
	"context"
	"time"
)

// Buffers are the files of a session's workspace as a person has them open in an
// editor.
type Buffers interface {
	// Unsaved returns what the editor has of a file, if that is not what is on the
	// disk and nobody has saved it: then ok is true. It takes a few seconds at most.
	// An error means that the editor did not say; then the disk counts.
	Unsaved(ctx context.Context, f OnDisk) (text string, ok bool, err error)
}

// OnDisk is a text file as it is on the disk.
type OnDisk struct {
	Path    string // absolute
	Text    string
	Changed time.Time // when it was last written
}
