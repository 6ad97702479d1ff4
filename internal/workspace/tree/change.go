// Package tree compares and changes directory trees. It never follows a symbolic link, and it treats names, contents
// and types of entries as hostile: a command may have created them.
package tree

// Type is the type of an entry.
type Type uint8

// The types of entries.
const (
	Missing Type = iota
	File
	Dir
	Link
	Other // a socket, FIFO or device
)

// Stat describes an entry. The zero Stat means that it does not exist.
type Stat struct {
	Type       Type
	Mode       uint32 // permission bits, with setuid, setgid and sticky
	Size       int64
	Inode      uint64
	ModTime    int64 // in nanoseconds
	ChangeTime int64 // in nanoseconds
}

// Change is an entry that a command created, modified or deleted. A directory that only contains changes is none.
type Change struct {
	Path string // relative to the root and separated by slashes; it may contain any byte except zero
	Old  Stat   // in the lower directory, as far as the command could see it; without Inode if it was deleted since
	New  Stat   // in the upper directory, without what was dropped

	// SameContent means that only the mode or the modification time of a file differs.
	SameContent bool

	// Top is the directory that the command deleted or replaced as a whole, if the entry was deleted with it.
	Top string

	// Unit groups changes that are applied together or not at all; "" is a unit of its own.
	Unit string
}

// Dropped is an entry that a command created and that is never applied, or a property of one.
type Dropped struct {
	Path   string
	Reason string // e.g. "socket", "setuid bit", "attribute security.capability"
}
