package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// manifest is all that is needed to finish a transaction. It is on the disk before the first operation.
type manifest struct {
	Root      quoted
	RootInode uint64
	Upper     quoted
	Slots     quoted // a directory in Root, if Dir is on another file system; else the trash has the slots
	Staged    bool   // copies and new directories are in their slots
	Done      bool
	Ops       []op
	Dirs      []dirMode
	Own       []Identity // when done
}

// kind is what an operation does with its target.
type kind string

const (
	create  kind = "create"  // move the new entry to the target, which does not exist
	replace kind = "replace" // exchange the new and the old entry
	remove  kind = "remove"  // move the old entry away
	rmdir   kind = "rmdir"   // remove a directory if it is empty
	swap    kind = "swap"    // rmdir, then create
	touch   kind = "touch"   // set mode and modification time
)

// op is one operation. Each can be repeated: it finds out from the inodes at its target and its slot what is left to do.
// The slot holds the new entry before the operation and the old one after it.
type op struct {
	Kind        kind
	Path        quoted
	Unit        quoted `json:",omitempty"`
	Top         quoted `json:",omitempty"`
	Old, New    Stat
	SameContent bool   `json:",omitempty"`
	Copy        bool   `json:",omitempty"` // the slot gets a copy
	Links       int    `json:",omitempty"` // the number of an operation, plus 1, that has the same inode
	Staged      Stat   // the new entry in the slot
	Conflict    string `json:",omitempty"`
}

func (o *op) change() Change {
	return Change{
		Path: string(o.Path), Old: o.Old, New: o.New, SameContent: o.SameContent, Top: string(o.Top), Unit: string(o.Unit),
	}
}

// dirMode is a directory that is made writable for the operations in it, and its mode at the end.
type dirMode struct {
	Path  quoted
	Inode uint64
	From  uint32
	To    uint32
	Op    int // the number of the operation, plus 1, that sets the mode
}

// quoted is a string of any bytes. JSON allows only UTF-8.
type quoted string

func (q quoted) MarshalText() ([]byte, error) { return strconv.AppendQuoteToASCII(nil, string(q)), nil }

func (q *quoted) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(string(text))
	*q = quoted(s)
	return err
}

func readManifest(dir string) (manifest, error) {
	var m manifest
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return m, ErrNotStarted
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read the manifest in %s: %w", dir, err)
	}
	return m, nil
}

// write replaces the manifest in dir and returns when it is on the disk.
func (m *manifest) write(dir string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, manifestName)
	if err := writeSynced(name+".new", data); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
