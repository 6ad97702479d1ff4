package protect

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

const badIndex = "the index is damaged, or has an extension that Pawl does not know"

// checkIndex refuses an index with paths into a git directory or out of the worktree: git writes them to disk without
// checking them again.
func checkIndex(data []byte, h hash) string {
	if len(data) < 12+h.size || string(data[:4]) != "DIRC" {
		return badIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return badIndex
	}
	rest, name := data[12:len(data)-h.size], []byte(nil)
	for range count {
		var mode uint32
		var ok bool
		if mode, name, rest, ok = indexEntry(rest, name, version, h); !ok {
			return badIndex
		}
		if !validIndexPath(string(name), mode) {
			return "the index has a path that leads into .git or out of the worktree"
		}
	}
	for len(rest) > 0 {
		if len(rest) < 8 {
			return badIndex
		}
		size := uint64(binary.BigEndian.Uint32(rest[4:]))
		known := rest[0] >= 'A' && rest[0] <= 'Z' || slices.Contains([]string{"link", "sdir"}, string(rest[:4]))
		if uint64(len(rest)-8) < size || !known {
			return badIndex
		}
		rest = rest[8+size:]
	}
	return ""
}

// indexEntry reads an entry, whose name can depend on the one before, and returns what follows it.
func indexEntry(data, before []byte, version uint32, h hash) (mode uint32, name, rest []byte, ok bool) {
	fixed := 40 + h.size + 2
	if len(data) < fixed {
		return 0, nil, nil, false
	}
	mode = binary.BigEndian.Uint32(data[24:])
	if flags := binary.BigEndian.Uint16(data[fixed-2:]); flags&0x4000 != 0 {
		if fixed += 2; version < 3 || len(data) < fixed {
			return 0, nil, nil, false
		}
	}
	rest = data[fixed:]
	if version == 4 {
		strip, n := offsetVarint(rest)
		if n == 0 || strip > uint64(len(before)) {
			return 0, nil, nil, false
		}
		before, rest = before[:uint64(len(before))-strip], rest[n:]
	} else {
		before = nil
	}
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		return 0, nil, nil, false
	}
	name = slices.Concat(before, rest[:end])
	if version == 4 {
		return mode, name, rest[end+1:], true
	}
	padded := (fixed + end + 8) &^ 7 // at least one zero
	if padded > len(data) {
		return 0, nil, nil, false
	}
	return mode, name, data[padded:], true
}

// offsetVarint reads a number as git encodes offsets, and returns its length, or 0 if it is not valid.
func offsetVarint(data []byte) (value uint64, n int) {
	for i, b := range data {
		if i > 0 {
			value++
		}
		if value > 1<<56 {
			return 0, 0
		}
		if value = value<<7 | uint64(b&0x7f); b&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

func validIndexPath(name string, mode uint32) bool {
	if mode == 0o040000 { // a directory of a sparse index
		name = strings.TrimSuffix(name, "/")
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || element == "." || element == ".." {
			return false
		}
	}
	return !slices.Contains(strings.Split(Fold(name), "/"), ".git")
}
