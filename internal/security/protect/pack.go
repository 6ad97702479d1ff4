package protect

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
)

const (
	packHeader = 12
	maxPack    = 16 << 30  // bytes of a pack
	maxDelta   = 512 << 20 // bytes of an object that others are deltas of
	maxHeld    = 2 << 30   // bytes of objects in memory
)

var errPack = errors.New("not a valid pack")

// The types of objects in a pack.
const (
	typeOffsetDelta = 6
	typeIDDelta     = 7
)

var typeNames = []string{"", "commit", "tree", "blob", "tag"}

// typeNumber returns the number of a type of objects, or 0.
func typeNumber(name string) int { return max(0, slices.Index(typeNames, name)) }

// packObject is an object of a pack.
type packObject struct {
	offset int64
	data   int64 // offset of the compressed data
	size   int64 // of the data, which is a delta for deltas
	kind   int
	crc    uint32
	id     []byte // nil until it is known
}

// pack is a verified pack.
type pack struct {
	in       io.ReaderAt
	hash     hash
	objects  []packObject
	checksum []byte
	byOffset map[int64][]int  // deltas, by the offset of their base
	byID     map[string][]int // deltas, by the id of their base
	zlib     io.ReadCloser    // used again and again
}

// readPack reads a whole pack, computes the ids of its objects, and verifies its checksum.
func readPack(ctx context.Context, in io.ReaderAt, size int64, h hash) (*pack, error) {
	if size > maxPack || size < int64(packHeader+h.size) {
		return nil, errPack
	}
	p := &pack{in: in, hash: h, byOffset: map[int64][]int{}, byID: map[string][]int{}}
	if err := p.scan(ctx, size-int64(h.size)); err != nil {
		return nil, err
	}
	p.checksum = make([]byte, h.size)
	if _, err := in.ReadAt(p.checksum, size-int64(h.size)); err != nil {
		return nil, err
	}
	if sum, err := p.sums(size - int64(h.size)); err != nil || !bytes.Equal(sum, p.checksum) {
		return nil, errPack
	}
	for i := range p.objects {
		if p.objects[i].kind < typeOffsetDelta {
			if err := p.resolve(ctx, i); err != nil {
				return nil, err
			}
		}
	}
	for _, o := range p.objects {
		if o.id == nil {
			return nil, errPack // its base is not in the pack
		}
	}
	return p, nil
}

// sums computes the checksums of the compressed objects, and of the whole pack up to end.
func (p *pack) sums(end int64) ([]byte, error) {
	in, sum := io.NewSectionReader(p.in, 0, end), p.hash.new()
	if _, err := io.CopyN(sum, in, packHeader); err != nil {
		return nil, err
	}
	for i := range p.objects {
		next := end
		if i+1 < len(p.objects) {
			next = p.objects[i+1].offset
		}
		crc := crc32.NewIEEE()
		if _, err := io.CopyN(io.MultiWriter(sum, crc), in, next-p.objects[i].offset); err != nil {
			return nil, err
		}
		p.objects[i].crc = crc.Sum32()
	}
	return sum.Sum(nil), nil
}

// counter counts the bytes that are read from it. It has ReadByte, so that zlib reads no byte too many.
type counter struct {
	in *bufio.Reader
	n  int64
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// scan reads all objects once, and computes the ids of those that are not deltas.
func (p *pack) scan(ctx context.Context, end int64) error {
	in := &counter{in: bufio.NewReaderSize(io.NewSectionReader(p.in, 0, end), 1<<16)}
	var header [packHeader]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return err
	}
	version, count := binary.BigEndian.Uint32(header[4:]), binary.BigEndian.Uint32(header[8:])
	if string(header[:4]) != "PACK" || version != 2 && version != 3 || int64(count) > end/9 {
		return errPack
	}
	p.objects = make([]packObject, 0, count)
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.scanObject(in); err != nil {
			return err
		}
	}
	if in.n != end {
		return errPack
	}
	return nil
}

// scanObject reads the next object.
func (p *pack) scanObject(in *counter) error {
	o := packObject{offset: in.n}
	if err := o.readHeader(in); err != nil {
		return err
	}
	index := len(p.objects)
	switch o.kind {
	case typeOffsetDelta:
		base, err := readOffset(in)
		if err != nil || base <= 0 || base > o.offset {
			return errPack
		}
		p.byOffset[o.offset-base] = append(p.byOffset[o.offset-base], index)
	case typeIDDelta:
		base := make([]byte, p.hash.size)
		if _, err := io.ReadFull(in, base); err != nil {
			return err
		}
		p.byID[string(base)] = append(p.byID[string(base)], index)
	case 1, 2, 3, 4:
	default:
		return errPack
	}
	o.data = in.n
	if err := p.startZlib(in); err != nil {
		return err
	}
	out := io.Discard
	sum := p.hash.new()
	if o.kind < typeOffsetDelta {
		sum.Write(objectHeader(o.kind, o.size))
		out = sum
	}
	if n, err := io.Copy(out, io.LimitReader(p.zlib, o.size+1)); err != nil || n != o.size {
		return errPack
	}
	if o.kind < typeOffsetDelta {
		o.id = sum.Sum(nil)
	}
	p.objects = append(p.objects, o)
	return nil
}

// readHeader reads the type and the size of an object.
func (o *packObject) readHeader(in *counter) error {
	b, err := in.ReadByte()
	if err != nil {
		return err
	}
	o.kind, o.size = int(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = in.ReadByte(); err != nil || shift > 50 {
			return errPack
		}
		o.size |= int64(b&0x7f) << shift
	}
	return nil
}

// readOffset reads the distance to the base of a delta.
func readOffset(in *counter) (int64, error) {
	var encoded []byte
	for {
		b, err := in.ReadByte()
		if err != nil || len(encoded) > 9 {
			return 0, errPack
		}
		if encoded = append(encoded, b); b&0x80 == 0 {
			value, n := offsetVarint(encoded)
			if n == 0 || value > maxPack {
				return 0, errPack
			}
			return int64(value), nil
		}
	}
}

func objectHeader(kind int, size int64) []byte {
	return []byte(typeNames[kind] + " " + strconv.FormatInt(size, 10) + "\x00")
}

// inflate returns the data of an object or delta.
func (p *pack) inflate(o packObject) ([]byte, error) {
	if o.size > maxDelta {
		return nil, errPack
	}
	if err := p.startZlib(bufio.NewReader(io.NewSectionReader(p.in, o.data, maxPack))); err != nil {
		return nil, err
	}
	data := make([]byte, o.size)
	_, err := io.ReadFull(p.zlib, data)
	return data, err
}

// startZlib begins to decompress another stream.
func (p *pack) startZlib(in io.Reader) (err error) {
	if z, ok := p.zlib.(zlib.Resetter); ok {
		return z.Reset(in, nil)
	}
	p.zlib, err = zlib.NewReader(in)
	return err
}

// based is an object with the deltas that are still to be applied to it.
type based struct {
	data   []byte
	deltas []int
}

// resolve computes the ids of all deltas that are based on an object. It keeps an object in memory only while deltas of
// it remain.
func (p *pack) resolve(ctx context.Context, root int) error {
	deltas := p.deltasOf(root)
	if len(deltas) == 0 {
		return nil
	}
	kind := p.objects[root].kind
	data, err := p.inflate(p.objects[root])
	if err != nil {
		return err
	}
	stack := []based{{data, deltas}}
	held := int64(len(data))
	for len(stack) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		top := &stack[len(stack)-1]
		base, i := top.data, top.deltas[0]
		if top.deltas = top.deltas[1:]; len(top.deltas) == 0 {
			stack, held = stack[:len(stack)-1], held-int64(len(base))
		}
		delta, err := p.inflate(p.objects[i])
		if err != nil {
			return err
		}
		if data, err = applyDelta(base, delta); err != nil {
			return err
		}
		sum := p.hash.new()
		sum.Write(objectHeader(kind, int64(len(data))))
		sum.Write(data)
		p.objects[i].id = sum.Sum(nil)
		if deltas := p.deltasOf(i); len(deltas) > 0 {
			stack, held = append(stack, based{data, deltas}), held+int64(len(data))
		}
		if held > maxHeld {
			return errPack
		}
	}
	return nil
}

// deltasOf returns the deltas whose base is an object with a known id, each only once.
func (p *pack) deltasOf(i int) []int {
	o := p.objects[i]
	list := slices.Concat(p.byOffset[o.offset], p.byID[string(o.id)])
	delete(p.byOffset, o.offset)
	delete(p.byID, string(o.id))
	return list
}

// applyDelta returns the object that a delta makes of its base.
func applyDelta(base, delta []byte) ([]byte, error) {
	before, delta, okBefore := deltaSize(delta)
	after, delta, okAfter := deltaSize(delta)
	if !okBefore || !okAfter || before != uint64(len(base)) || after > maxDelta {
		return nil, errPack
	}
	out := make([]byte, 0, after)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var part []byte
		if op&0x80 == 0 {
			if n := int(op); n == 0 || n > len(delta) {
				return nil, errPack
			}
			part, delta = delta[:op], delta[op:]
		} else {
			var offset, size uint64
			for bit := range 7 {
				if op&(1<<bit) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errPack
				}
				if bit < 4 {
					offset |= uint64(delta[0]) << (8 * bit)
				} else {
					size |= uint64(delta[0]) << (8 * (bit - 4))
				}
				delta = delta[1:]
			}
			if size == 0 {
				size = 0x10000
			}
			if offset+size > uint64(len(base)) {
				return nil, errPack
			}
			part = base[offset : offset+size]
		}
		if uint64(len(out)+len(part)) > after {
			return nil, errPack
		}
		out = append(out, part...)
	}
	if uint64(len(out)) != after {
		return nil, errPack
	}
	return out, nil
}

// deltaSize reads a size at the start of a delta.
func deltaSize(delta []byte) (size uint64, rest []byte, ok bool) {
	size, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0, nil, false
	}
	return size, delta[n:], true
}
