package protect

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// index returns the index that git writes for the pack.
func (p *pack) index() []byte {
	objects := slices.Clone(p.objects)
	slices.SortStableFunc(objects, func(a, b packObject) int { return bytes.Compare(a.id, b.id) })
	out := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	for first, n := 0, 0; first < 256; first++ {
		for n < len(objects) && int(objects[n].id[0]) <= first {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n)) //nolint:gosec // the header has 32 bits
	}
	for _, o := range objects {
		out = append(out, o.id...)
	}
	for _, o := range objects {
		out = binary.BigEndian.AppendUint32(out, o.crc)
	}
	var large []int64
	for _, o := range objects {
		if o.offset < 1<<31 {
			out = binary.BigEndian.AppendUint32(out, uint32(o.offset)) //nolint:gosec // checked
			continue
		}
		out = binary.BigEndian.AppendUint32(out, 1<<31|uint32(len(large))) //nolint:gosec // not more than objects
		large = append(large, o.offset)
	}
	for _, offset := range large {
		out = binary.BigEndian.AppendUint64(out, uint64(offset)) //nolint:gosec // not negative
	}
	out = append(out, p.checksum...)
	sum := p.hash.new()
	sum.Write(out)
	return sum.Sum(out)
}

// idTable has the sorted ids of the objects of a pack.
type idTable struct {
	ids  []byte
	size int
}

// readIDs reads the ids from the index of a pack.
func readIDs(index []byte, h hash) (idTable, error) {
	const header = 8 + 256*4
	if len(index) < header || string(index[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return idTable{}, errPack
	}
	count := uint64(binary.BigEndian.Uint32(index[header-4:]))
	if uint64(len(index)-header) < count*uint64(h.size) {
		return idTable{}, errPack
	}
	return idTable{index[header : header+count*uint64(h.size)], h.size}, nil
}

func (t idTable) contains(id []byte) bool {
	n := len(t.ids) / t.size
	i := sort.Search(n, func(i int) bool { return bytes.Compare(t.ids[i*t.size:(i+1)*t.size], id) >= 0 })
	return i < n && bytes.Equal(t.ids[i*t.size:(i+1)*t.size], id)
}

// all yields each id.
func (t idTable) all(yield func([]byte) bool) {
	for i := 0; i < len(t.ids); i += t.size {
		if !yield(t.ids[i : i+t.size]) {
			return
		}
	}
}
