package snapshot

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's ids
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

// Object types of the git pack format.
const (
	kindTree = 2
	kindBlob = 3
)

var kindNames = map[byte]string{kindTree: "tree", kindBlob: "blob"}

// maxLoose is the number of objects up to which git stores them as loose objects.
// More are stored as a pack.
const maxLoose = 100

// pack collects new git objects in an unlinked temporary file and passes them to
// git at once. Pawl reads the files itself, because git would open them by path and
// follow a symbolic link that a command creates at the same time.
type pack struct {
	temp  *os.File
	out   *bufio.Writer
	z     *zlib.Writer
	known map[oid]bool
}

// idOf returns the git object id of data.
func idOf(kind byte, data []byte) oid {
	h := sha1.New() //nolint:gosec // git's ids
	h.Write(strconv.AppendInt([]byte(kindNames[kind]+" "), int64(len(data)), 10))
	h.Write([]byte{0})
	h.Write(data)
	return oid(h.Sum(nil))
}

// add adds an object unless the pack contains it.
func (p *pack) add(dir string, kind byte, id oid, data []byte) error {
	if p.known[id] {
		return nil
	}
	if p.temp == nil {
		if err := p.begin(dir); err != nil {
			return err
		}
	}
	p.known[id] = true
	size := uint64(len(data))
	head := []byte{kind<<4 | byte(size&0xf)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	if _, err := p.out.Write(head); err != nil {
		return err
	}
	p.z.Reset(p.out)
	if _, err := p.z.Write(data); err != nil {
		return err
	}
	return p.z.Close()
}

func (p *pack) begin(dir string) error {
	temp, err := os.CreateTemp(dir, "temp-*")
	if err != nil {
		return err
	}
	if err := os.Remove(temp.Name()); err != nil {
		return errors.Join(err, temp.Close())
	}
	p.temp, p.out, p.known = temp, bufio.NewWriterSize(temp, 1<<16), map[oid]bool{}
	p.z, err = zlib.NewWriterLevel(p.out, zlib.BestSpeed)
	return err
}

// store imports all objects into the repository, or returns an error.
func (p *pack) store(ctx context.Context, repo *git.Own, lock *os.File) error {
	if p.temp == nil {
		return nil
	}
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(p.known)))
	sum := sha1.New() //nolint:gosec // the pack format requires it
	sum.Write(head)
	if err := p.out.Flush(); err != nil {
		return err
	}
	if _, err := p.temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(sum, p.temp); err != nil {
		return err
	}
	if _, err := p.temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	args := []string{"unpack-objects", "-q"}
	if len(p.known) > maxLoose {
		args = []string{"index-pack", "--stdin"}
	}
	in := io.MultiReader(bytes.NewReader(head), p.temp, bytes.NewReader(sum.Sum(nil)))
	return repo.Run(ctx, git.OwnCall{Args: args, In: in, Hold: lock})
}

func (p *pack) close() {
	if p.temp != nil {
		_ = p.temp.Close() // it is unlinked: closing deletes it
	}
}

// encode returns the tree in git's object format, which sorts directories as if
// their names ended with a slash.
func (t *tree) encode() []byte {
	sorted := slices.Clone(t.entries)
	key := func(e entry) string {
		if e.mode == modeTree {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(sorted, func(a, b entry) int { return strings.Compare(key(a), key(b)) })
	var b []byte
	for _, e := range sorted {
		b = fmt.Appendf(b, "%o %s\x00", e.mode, e.name)
		b = append(b, e.id[:]...)
	}
	return b
}
