package worktree

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's ids
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// Git modes of tree entries.
const (
	modeFile      = "100644"
	modeExec      = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// newHash returns the hash function for object ids of this length in hex: SHA-1 or
// SHA-256.
func newHash(length int) (hash.Hash, error) {
	switch length {
	case 2 * sha1.Size:
		return sha1.New(), nil //nolint:gosec // git's ids
	case 2 * sha256.Size:
		return sha256.New(), nil
	}
	return nil, fault.New(pawl.ErrInvalid, "git uses ids of %d characters, which this version of Pawl does not support", length)
}

// blobHead returns the header that is hashed before a blob's content to get its id.
func blobHead(size int64) []byte {
	return append(strconv.AppendInt([]byte("blob "), size, 10), 0)
}

// number converts fields whose type differs between platforms.
func number[T ~int16 | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64](v T) uint64 { return uint64(v) }

// encodeIndex returns a git index, version 2, of the entries with the metadata of
// their files. Git would write the same, but only after reading each file again.
func encodeIndex(entries []git.Entry, looks []unix.Stat_t) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(entries) * 128)
	b.WriteString("DIRC")
	put := func(v uint64) { b.Write(binary.BigEndian.AppendUint32(nil, uint32(v))) } //nolint:gosec // git truncates them too
	put(2)
	put(uint64(len(entries)))
	idLength := 40
	for i, e := range entries {
		id, err := hex.DecodeString(e.ID)
		if err != nil {
			return nil, fmt.Errorf("invalid id %q: %w", e.ID, err)
		}
		mode, err := strconv.ParseUint(e.Mode, 8, 32)
		if err != nil {
			return nil, fmt.Errorf("invalid mode %q: %w", e.Mode, err)
		}
		idLength = len(e.ID)
		start, look := b.Len(), &looks[i]
		for _, v := range []uint64{
			number(look.Ctim.Sec), number(look.Ctim.Nsec), number(look.Mtim.Sec), number(look.Mtim.Nsec),
			number(look.Dev), number(look.Ino), mode, number(look.Uid), number(look.Gid), number(look.Size),
		} {
			put(v)
		}
		b.Write(id)
		b.Write(binary.BigEndian.AppendUint16(nil, uint16(min(len(e.Path), 0xfff)))) //nolint:gosec // it fits
		b.WriteString(e.Path)
		for end := start + (b.Len()-start+8)/8*8; b.Len() < end; {
			b.WriteByte(0)
		}
	}
	sum, err := newHash(idLength)
	if err != nil {
		return nil, err
	}
	sum.Write(b.Bytes())
	return sum.Sum(b.Bytes()), nil
}
