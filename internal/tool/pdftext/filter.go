package pdftext

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"io"
)

// maxStream is the maximum decoded size of a stream in bytes.
const maxStream = 16 << 20

var errFilter = errors.New("unknown filter")

// decode returns the decoded content of a stream: nothing if the filter is not
// supported, and what precedes the error if it is damaged.
func (f *file) decode(s stream) []byte {
	filters := f.list(s.dict["Filter"])
	params := f.list(s.dict["DecodeParms"])
	data := s.raw
	for i, filter := range filters {
		var param dict
		if i < len(params) {
			param = f.dict(params[i])
		}
		var err error
		if data, err = f.apply(f.name(filter), param, data); err != nil {
			return nil
		}
		if !f.spend(len(data)) {
			return nil
		}
	}
	return data
}

// list returns a value that may be one item or an array as an array.
func (f *file) list(v any) array {
	switch v := f.get(v).(type) {
	case nil:
		return nil
	case array:
		return v[:min(len(v), 8)]
	default:
		return array{v}
	}
}

func (f *file) apply(filter name, param dict, data []byte) ([]byte, error) {
	switch filter {
	case "FlateDecode", "Fl":
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return unpredict(f.readAll(r), int(f.number(param["Predictor"])), int(f.number(param["Columns"]))), nil
	case "ASCII85Decode", "A85":
		data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
		data, _, _ = bytes.Cut(data, []byte("~"))
		return f.readAll(ascii85.NewDecoder(bytes.NewReader(data))), nil
	case "ASCIIHexDecode", "AHx":
		out, _ := (&lexer{data: data}).hex().(text)
		return []byte(out), nil
	default: // images, and LZW, which has not been written for decades
		return nil, errFilter
	}
}

// readAll reads as much as possible within the limits.
func (f *file) readAll(r io.Reader) []byte {
	var out bytes.Buffer
	for out.Len() < maxStream && f.spend(1) {
		if _, err := io.CopyN(&out, r, 64<<10); err != nil {
			break
		}
	}
	return out.Bytes()
}

// unpredict undoes the PNG predictors, which make tables compress better.
func unpredict(data []byte, predictor, columns int) []byte {
	if predictor < 10 || columns < 1 || columns > 1<<16 {
		return data
	}
	out := make([]byte, 0, len(data))
	above := make([]byte, columns)
	for len(data) > columns {
		kind, row := data[0], bytes.Clone(data[1:columns+1])
		data = data[columns+1:]
		for i := range row {
			var left, corner byte
			if i > 0 {
				left, corner = row[i-1], above[i-1]
			}
			switch kind {
			case 1:
				row[i] += left
			case 2:
				row[i] += above[i]
			case 3:
				row[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				row[i] += paeth(left, above[i], corner)
			}
		}
		out = append(out, row...)
		above = row
	}
	return out
}

// paeth returns the neighbor that is closest to left+above-corner.
func paeth(left, above, corner byte) byte {
	p := int(left) + int(above) - int(corner)
	a, b, c := distance(p, left), distance(p, above), distance(p, corner)
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return above
	default:
		return corner
	}
}

func distance(p int, x byte) int { return max(p-int(x), int(x)-p) }
