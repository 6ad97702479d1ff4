package pdftext

// maxMapped is the maximum number of entries of all character maps of a file.
const maxMapped = 1 << 19

// readTable reads a ToUnicode character map: a PostScript program of which
// only the lists between begin… and end… matter.
func (f *file) readTable(data []byte, out *font) {
	if out.table == nil {
		out.table = map[int]string{}
	}
	l := &lexer{data: data}
	var args array
	for {
		before := l.pos
		v := l.next()
		if v == any(end) || !f.spend(l.pos-before+1) {
			return
		}
		op, ok := v.(word)
		if !ok {
			if args = append(args, v); len(args) > maxItems {
				return
			}
			continue
		}
		switch op {
		case "endcodespacerange":
			if low, ok := firstText(args); ok && len(low) <= 2 && len(low) > 0 {
				out.bytes = len(low)
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.mapRange(out, args[i], args[i], args[i+1])
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				f.mapRange(out, args[i], args[i+1], args[i+2])
			}
		}
		args = args[:0]
	}
}

func firstText(args array) (text, bool) {
	if len(args) == 0 {
		return "", false
	}
	s, ok := args[0].(text)
	return s, ok
}

// mapRange maps the codes from low to high to consecutive characters, or to
// those of an array.
func (f *file) mapRange(out *font, low, high, to any) {
	first, ok1 := code(low)
	last, ok2 := code(high)
	if !ok1 || !ok2 {
		return
	}
	list, _ := to.(array)
	single, _ := to.(text)
	for c := first; c <= last && f.mapped < maxMapped && f.spend(1); c++ {
		var s text
		switch i := c - first; {
		case i < len(list):
			s, _ = list[i].(text)
		case len(single) >= 2:
			s = count(single, i)
		case len(single) == 1:
			s = "\x00" + single
		}
		if len(s) > 0 && len(s) <= 64 {
			out.table[c] = utf16Text(s)
			f.mapped++
		}
	}
}

// count adds i to the last code unit of s.
func count(s text, i int) text {
	b := []byte(s)
	n := int(b[len(b)-2])<<8 | int(b[len(b)-1])
	n += i
	b[len(b)-2], b[len(b)-1] = byte(n>>8), byte(n)
	return text(b)
}

// code returns the value of a code of one or two bytes.
func code(v any) (int, bool) {
	s, ok := v.(text)
	switch {
	case !ok || len(s) == 0 || len(s) > 2:
		return 0, false
	case len(s) == 1:
		return int(s[0]), true
	default:
		return int(s[0])<<8 | int(s[1]), true
	}
}
