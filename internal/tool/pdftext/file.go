package pdftext

import (
	"bytes"
	"strconv"
)

// file is an index of the objects of a PDF. It scans the whole file once and
// ignores the cross-reference table: broken and hostile files have wrong ones,
// and the objects are found without it. If an object occurs twice, the later
// one counts, as the format says.
type file struct {
	*meter
	data    []byte
	objects map[int]place
	root    any
	locked  bool // the file is encrypted
	fonts   map[ref]*font
	mapped  int // entries of all character maps so far
}

// place is where the value of an object begins.
type place struct {
	data []byte // the file, or an object stream
	pos  int
}

// maxObjects is the maximum number of objects of a file.
const maxObjects = 500_000

func open(data []byte, m *meter) *file {
	f := &file{meter: m, data: data, objects: map[int]place{}, fonts: map[ref]*font{}}
	for pos := 0; m.spend(1) && len(f.objects) < maxObjects; {
		i := bytes.Index(data[pos:], []byte("obj"))
		if i < 0 {
			break
		}
		pos = f.object(pos+i, pos)
	}
	for pos := 0; m.spend(1); {
		i := bytes.Index(data[pos:], []byte("trailer"))
		if i < 0 {
			break
		}
		pos += i + len("trailer")
		f.trailer(data[pos:])
	}
	return f
}

// object handles the keyword obj that ends at pos and returns where to
// continue. It does not read anything before from.
func (f *file) object(pos, from int) int {
	after := pos + len("obj")
	num, ok := numberBefore(f.data[from:pos])
	if !ok {
		return after
	}
	f.objects[num] = place{f.data, after}
	l := &lexer{data: f.data, pos: after}
	v := l.next()
	if !f.spend(l.pos - after) {
		return l.pos
	}
	d, ok := v.(dict)
	if !ok {
		return max(after, min(l.pos, len(f.data)))
	}
	s, ok := f.streamAt(l, d)
	if !ok {
		return l.pos
	}
	switch d["Type"] {
	case name("XRef"):
		f.useTrailer(d)
	case name("ObjStm"):
		f.objectStream(s)
	}
	return l.pos
}

// numberBefore parses the number of an object: "12 0 " at the end of data.
func numberBefore(data []byte) (int, bool) {
	fields := bytes.Fields(data[max(0, len(data)-24):])
	if len(fields) < 2 {
		return 0, false
	}
	if _, err := strconv.ParseUint(string(fields[len(fields)-1]), 10, 16); err != nil {
		return 0, false
	}
	digits := fields[len(fields)-2]
	for i := len(digits) - 1; i >= 0; i-- { // it may follow other text directly: endobj12
		if digits[i] < '0' || digits[i] > '9' {
			digits = digits[i+1:]
			break
		}
	}
	num, err := strconv.ParseUint(string(digits), 10, 30)
	return int(num), err == nil
}

// streamAt returns the stream that follows its dictionary, if there is one.
func (f *file) streamAt(l *lexer, d dict) (stream, bool) {
	l.skipSpace()
	rest := l.data[l.pos:]
	if !bytes.HasPrefix(rest, []byte("stream")) {
		return stream{}, false
	}
	start := l.pos + len("stream")
	if start < len(l.data) && l.data[start] == '\r' {
		start++
	}
	if start < len(l.data) && l.data[start] == '\n' {
		start++
	}
	stop := -1
	if n, ok := d["Length"].(float64); ok && n >= 0 && n <= float64(len(l.data)-start) {
		after := bytes.TrimLeft(l.data[start+int(n):min(len(l.data), start+int(n)+20)], "\r\n ")
		if bytes.HasPrefix(after, []byte("endstream")) {
			stop = start + int(n)
		}
	}
	if stop < 0 { // the length is wrong, or a reference
		i := bytes.Index(l.data[start:], []byte("endstream"))
		if i < 0 {
			i = len(l.data) - start
		}
		f.spend(i)
		stop = start + i
	}
	l.pos = stop
	return stream{d, l.data[start:stop]}, true
}

func (f *file) trailer(data []byte) {
	l := &lexer{data: data}
	if d, ok := l.next().(dict); ok {
		f.useTrailer(d)
	}
	f.spend(l.pos)
}

func (f *file) useTrailer(d dict) {
	if root, ok := d["Root"].(ref); ok {
		f.root = root
	}
	if d["Encrypt"] != nil {
		f.locked = true
	}
}

// objectStream records the objects in an object stream.
func (f *file) objectStream(s stream) {
	data := f.decode(s)
	n, _ := s.dict["N"].(float64)
	first, _ := s.dict["First"].(float64)
	l := &lexer{data: data}
	for i := 0; i < int(n) && len(f.objects) < maxObjects && f.spend(1); i++ {
		num, ok1 := l.next().(float64)
		offset, ok2 := l.next().(float64)
		pos := first + offset
		if !ok1 || !ok2 {
			return
		}
		if num >= 0 && num < 1<<30 && pos >= 0 && pos < float64(len(data)) {
			f.objects[int(num)] = place{data, int(pos)}
		}
	}
}

// get returns a value, with references resolved.
func (f *file) get(v any) any {
	for range 10 { // references to references are unusual but accepted
		r, ok := v.(ref)
		if !ok {
			return v
		}
		p, ok := f.objects[int(r)]
		if !ok {
			return nil
		}
		l := &lexer{data: p.data, pos: p.pos}
		v = l.next()
		if !f.spend(l.pos - p.pos + 1) {
			return nil
		}
		if d, ok := v.(dict); ok {
			if s, ok := f.streamAt(l, d); ok {
				return s
			}
		}
	}
	return nil
}

func (f *file) dict(v any) dict {
	switch v := f.get(v).(type) {
	case dict:
		return v
	case stream:
		return v.dict
	}
	return nil
}

func (f *file) array(v any) array { a, _ := f.get(v).(array); return a }

func (f *file) number(v any) float64 { n, _ := f.get(v).(float64); return n }

func (f *file) name(v any) name { n, _ := f.get(v).(name); return n }
