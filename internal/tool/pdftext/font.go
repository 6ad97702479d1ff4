package pdftext

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// font converts the bytes of a string to characters and their width.
type font struct {
	bytes  int            // bytes per code
	table  map[int]string // characters by code; nil without a character map
	base   func(code int) rune
	widths map[int]float64
	width  float64 // default width
}

const maxFonts = 500

// useFont returns the font that the resources call key.
func (r *run) useFont(key name) *font {
	v := r.dict(r.resources["Font"])[key]
	id, shared := v.(ref)
	if shared {
		if known, ok := r.fonts[id]; ok {
			return known
		}
	}
	f := r.readFont(r.dict(v))
	if shared && len(r.fonts) < maxFonts {
		r.fonts[id] = f
	}
	return f
}

func (f *file) readFont(d dict) *font {
	if d == nil || !f.spend(costly) {
		return nil
	}
	out := &font{bytes: 1, base: windows, widths: map[int]float64{}, width: 0.5}
	if f.name(d["Subtype"]) == "Type0" {
		f.composite(d, out)
	} else {
		f.simple(d, out)
	}
	if s, ok := f.get(d["ToUnicode"]).(stream); ok {
		f.readTable(f.decode(s), out)
	}
	return out
}

// simple reads a font with codes of one byte.
func (f *file) simple(d dict, out *font) {
	first := int(f.number(d["FirstChar"]))
	unit := 0.001
	if m := f.array(d["FontMatrix"]); f.name(d["Subtype"]) == "Type3" && len(m) == 6 {
		unit = f.number(m[0])
	}
	for i, w := range f.array(d["Widths"]) {
		f.setWidth(out, first+i, f.number(w)*unit)
	}
	encoding := f.get(d["Encoding"])
	named, _ := encoding.(name)
	if e, ok := encoding.(dict); ok {
		named = f.name(e["BaseEncoding"])
		f.differences(f.array(e["Differences"]), out)
	}
	if named == "MacRomanEncoding" {
		out.base = macintosh
	}
}

// differences reads a Differences array: codes, each followed by glyph names
// for the codes from there on.
func (f *file) differences(list array, out *font) {
	out.table = map[int]string{}
	code := 0
	for _, v := range list {
		f.spend(cheap)
		switch v := f.get(v).(type) {
		case float64:
			code = int(v)
		case name:
			if s := glyph(string(v)); s != "" && code >= 0 && code < 256 {
				out.table[code] = s
			}
			code++
		}
	}
}

// composite reads a font with codes of two bytes.
func (f *file) composite(d dict, out *font) {
	out.bytes, out.base, out.width = 2, nil, 1
	if encoding := string(f.name(d["Encoding"])); strings.Contains(encoding, "UCS2") || strings.Contains(encoding, "UTF16") {
		out.base = func(code int) rune { return rune(code) }
	}
	descendants := f.array(d["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	inner := f.dict(descendants[0])
	if w, ok := f.get(inner["DW"]).(float64); ok {
		out.width = w / 1000
	}
	f.compositeWidths(f.array(inner["W"]), out)
}

// compositeWidths reads a W array: "first [w w w]" and "first last w".
func (f *file) compositeWidths(list array, out *font) {
	for i := 0; i+1 < len(list) && f.spend(1); {
		first := int(f.number(list[i]))
		if each := f.array(list[i+1]); each != nil {
			for k, w := range each {
				f.setWidth(out, first+k, f.number(w)/1000)
			}
			i += 2
			continue
		}
		if i+2 < len(list) {
			w := f.number(list[i+2])
			for code := first; code <= int(f.number(list[i+1])) && code < 1<<16 && f.spend(1); code++ {
				f.setWidth(out, code, w/1000)
			}
		}
		i += 3
	}
}

func (f *file) setWidth(out *font, code int, w float64) {
	if code >= 0 && code < 1<<16 && f.mapped < maxMapped {
		f.mapped++
		out.widths[code] = w
	}
}

// decode returns the characters of a string, their width, and how many codes
// and single-byte blanks it has.
func (t *font) decode(s string) (out string, width float64, chars, blanks int) {
	var b strings.Builder
	for ; len(s) >= t.bytes; chars++ {
		code := int(s[0])
		if t.bytes == 2 {
			code = code<<8 | int(s[1])
		} else if code == ' ' {
			blanks++
		}
		s = s[t.bytes:]
		w, ok := t.widths[code]
		if !ok {
			w = t.width
		}
		width += w
		if known, ok := t.table[code]; ok {
			b.WriteString(known)
		} else if t.base != nil {
			b.WriteRune(t.base(code))
		}
	}
	return b.String(), width, chars, blanks
}

func windows(code int) rune { return charmap.Windows1252.DecodeByte(byte(code)) }

func macintosh(code int) rune { return charmap.Macintosh.DecodeByte(byte(code)) }

// utf16Text decodes big-endian UTF-16.
func utf16Text(s text) string {
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}
