package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
)

// oid is the id of a git object.
type oid [20]byte

func (o oid) String() string { return hex.EncodeToString(o[:]) }

// Git modes of tree entries.
const (
	modeFile  = 0o100644
	modeExec  = 0o100755
	modeLink  = 0o120000
	modeTree  = 0o040000
	modeOut   = 0o160000 // left out: git treats the entry as a submodule, which it does not look into
	modeTypes = 0o170000
)

// entry is a directory entry and the metadata it had when it was read. Directories
// and entries that are left out have no look.
type entry struct {
	name string
	mode uint32
	id   oid
	look look
}

// look is the metadata that shows whether a file has changed.
type look struct {
	size, mtime, ctime int64
	ino                uint64
	racy               bool // the file was so new that a later change may not show in the metadata
}

// tree is the git tree of a directory. Its entries are sorted by name, bytewise.
type tree struct {
	id      oid
	entries []entry
}

// table caches the trees of a snapshot by directory path; the path of the top
// directory is "".
type table struct {
	id    ID
	trees map[string]*tree
}

// tableMagic is the header of an encoded table. Change it whenever the format
// changes.
const tableMagic = "pawl snapshot table 1\n"

func (t *table) encode() []byte {
	b := []byte(tableMagic)
	b = appendText(b, string(t.id))
	b = binary.AppendUvarint(b, uint64(len(t.trees)))
	for path, tr := range t.trees {
		b = appendText(b, path)
		b = append(b, tr.id[:]...)
		b = binary.AppendUvarint(b, uint64(len(tr.entries)))
		for i := range tr.entries {
			b = tr.entries[i].append(b)
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

func (e *entry) append(b []byte) []byte {
	b = appendText(b, e.name)
	b = binary.AppendUvarint(b, uint64(e.mode))
	b = append(b, e.id[:]...)
	b = binary.AppendVarint(b, e.look.size)
	b = binary.AppendVarint(b, e.look.mtime)
	b = binary.AppendVarint(b, e.look.ctime)
	b = binary.AppendUvarint(b, e.look.ino)
	if e.look.racy {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// maxTables bounds the tables that are cached in memory.
const maxTables = 8

// readTable is a cached table and the file that it was read from. It is immutable.
type readTable struct {
	*table

	file fs.FileInfo
}

// readTable returns the table, or nil if it does not exist or is not valid for the
// repository. It can be rebuilt from the directory.
func (f *folder) readTable() *table {
	file, err := os.Lstat(f.path(tableName))
	if err != nil {
		return nil
	}
	f.mu.Lock()
	known := f.tables[f.at]
	f.mu.Unlock()
	if known == nil || !os.SameFile(known.file, file) || known.file.Size() != file.Size() || !known.file.ModTime().Equal(file.ModTime()) {
		data, err := os.ReadFile(f.path(tableName))
		if err != nil {
			return nil
		}
		t, err := decodeTable(data)
		if err != nil {
			return nil
		}
		known = &readTable{t, file}
		f.mu.Lock()
		if len(f.tables) >= maxTables {
			clear(f.tables)
		}
		f.tables[f.at] = known
		f.mu.Unlock()
	}
	if f.readRef(refsNow) != known.id {
		return nil // the repository no longer has this snapshot
	}
	return known.table
}

var errTable = errors.New("not a checkpoint table")

func decodeTable(data []byte) (*table, error) {
	if len(data) < len(tableMagic)+sha256.Size || string(data[:len(tableMagic)]) != tableMagic {
		return nil, errTable
	}
	end := len(data) - sha256.Size
	if sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, errTable
	}
	d := decoder{text: string(data[len(tableMagic):end])}
	t := &table{id: ID(d.string())}
	n := d.count()
	t.trees = make(map[string]*tree, n)
	for range n {
		path := d.string()
		tr := &tree{id: d.oid()}
		tr.entries = make([]entry, d.count())
		for i := range tr.entries {
			tr.entries[i] = d.entry()
		}
		t.trees[path] = tr
	}
	if d.bad || d.text != "" || t.id.valid() != nil {
		return nil, errTable
	}
	return t, nil
}

// decoder decodes a table. After an error, bad is true and all values are zero.
type decoder struct {
	text string
	bad  bool
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.text)) {
		d.bad, d.text = true, ""
		return ""
	}
	part := d.text[:n]
	d.text = d.text[n:]
	return part
}

func (d *decoder) uvarint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		part := d.take(1)
		if d.bad {
			return 0
		}
		v |= uint64(part[0]&0x7f) << shift
		if part[0] < 0x80 {
			return v
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// count decodes a number of items, each of which takes at least one byte.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.text)) {
		d.bad, d.text = true, ""
		return 0
	}
	return int(n)
}

func (d *decoder) string() string { return d.take(d.uvarint()) }

func (d *decoder) oid() (id oid) {
	copy(id[:], d.take(uint64(len(id))))
	return id
}

func (d *decoder) entry() entry {
	e := entry{name: d.string(), mode: uint32(d.uvarint()), id: d.oid()}
	e.look = look{size: d.varint(), mtime: d.varint(), ctime: d.varint(), ino: d.uvarint()}
	e.look.racy = d.take(1) == "\x01"
	return e
}
