package pdftext

import "bytes"

// matrix maps (x, y) to (a*x + c*y + e, b*x + d*y + f).
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// times returns the matrix that applies m first, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// state is the graphics state that q saves and Q restores.
type state struct {
	ctm     matrix
	font    *font
	size    float64
	leading float64
	char    float64 // extra space after each character (Tc)
	space   float64 // extra space after each blank (Tw)
	scale   float64
}

const (
	maxForms  = 8   // nesting of forms
	maxStates = 256 // saved states
	maxArgs   = 64  // arguments of an operator; the last ones count
)

// interpreter executes the text operators of a page.
type interpreter struct {
	*file
	out *writer
}

// run is the execution of one content stream.
type run struct {
	*interpreter
	state
	saved      []state
	text, line matrix
	resources  dict
	depth      int
	args       array
}

func (in *interpreter) content(data []byte, resources dict, ctm matrix, depth int) {
	r := &run{interpreter: in, state: state{ctm: ctm, scale: 1}, text: identity, line: identity, resources: resources, depth: depth}
	l := &lexer{data: data}
	for !in.out.full() {
		before := l.pos
		v := l.next()
		if v == any(end) || !in.spend(l.pos-before+1) {
			return
		}
		op, ok := v.(word)
		if !ok {
			if r.args = append(r.args, v); len(r.args) > maxArgs {
				r.args = r.args[len(r.args)-maxArgs/2:]
			}
			continue
		}
		if op == "BI" { // an inline image
			l.pos = afterImage(l.data, l.pos)
		}
		r.operator(op)
		r.args = r.args[:0]
	}
}

// afterImage returns the end of an inline image, which may contain arbitrary
// bytes.
func afterImage(data []byte, pos int) int {
	for {
		i := bytes.Index(data[pos:], []byte("EI"))
		if i < 0 {
			return len(data)
		}
		pos += i + len("EI")
		if isSpace(data[pos-3]) && (pos == len(data) || isSpace(data[pos])) {
			return pos
		}
	}
}

// num returns the i-th argument from the end; the last is 1.
func (r *run) num(i int) float64 {
	if i > len(r.args) {
		return 0
	}
	n, _ := r.args[len(r.args)-i].(float64)
	return n
}

func (r *run) matrix() matrix {
	return matrix{r.num(6), r.num(5), r.num(4), r.num(3), r.num(2), r.num(1)}
}

func (r *run) last() any {
	if len(r.args) == 0 {
		return nil
	}
	return r.args[len(r.args)-1]
}

func (r *run) operator(op word) {
	switch op {
	case "q":
		if len(r.saved) < maxStates {
			r.saved = append(r.saved, r.state)
		}
	case "Q":
		if n := len(r.saved); n > 0 {
			r.state, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	case "cm":
		r.ctm = r.matrix().times(r.ctm)
	case "BT":
		r.text, r.line = identity, identity
	case "Tf":
		r.size = r.num(1)
		if len(r.args) >= 2 {
			key, _ := r.args[len(r.args)-2].(name)
			r.font = r.useFont(key)
		}
	case "Tc":
		r.char = r.num(1)
	case "Tw":
		r.space = r.num(1)
	case "Tz":
		r.scale = r.num(1) / 100
	case "TL":
		r.leading = r.num(1)
	case "Td":
		r.move(r.num(2), r.num(1))
	case "TD":
		r.leading = -r.num(1)
		r.move(r.num(2), r.num(1))
	case "Tm":
		r.text = r.matrix()
		r.line = r.text
	case "T*":
		r.move(0, -r.leading)
	case "'":
		r.move(0, -r.leading)
		r.show(r.last())
	case "\"":
		r.space, r.char = r.num(3), r.num(2)
		r.move(0, -r.leading)
		r.show(r.last())
	case "Tj":
		r.show(r.last())
	case "TJ":
		list, _ := r.last().(array)
		for _, v := range list {
			r.show(v)
		}
	case "Do":
		r.form()
	}
}

// move starts a line at an offset from the start of the previous one.
func (r *run) move(x, y float64) {
	r.line = matrix{a: 1, d: 1, e: x, f: y}.times(r.line)
	r.text = r.line
}

// show writes a string, or moves by a number.
func (r *run) show(v any) {
	if n, ok := v.(float64); ok {
		r.advance(-n / 1000 * r.size)
		return
	}
	s, _ := v.(text)
	if r.font == nil || !r.spend(len(s)) {
		return
	}
	at := r.text.times(r.ctm)
	str, width, chars, blanks := r.font.decode(string(s))
	r.advance(width*r.size + float64(chars)*r.char + float64(blanks)*r.space)
	r.out.write(str, at, r.text.times(r.ctm), r.size)
}

func (r *run) advance(x float64) {
	r.text = matrix{a: 1, d: 1, e: x * r.scale}.times(r.text)
}

// form executes the content of a form XObject.
func (r *run) form() {
	key, _ := r.last().(name)
	s, ok := r.get(r.dict(r.resources["XObject"])[key]).(stream)
	if !ok || r.name(s.dict["Subtype"]) != "Form" || r.depth >= maxForms || !r.spend(costly) {
		return
	}
	ctm := r.ctm
	if m := r.array(s.dict["Matrix"]); len(m) == 6 {
		ctm = (&run{args: m}).matrix().times(ctm)
	}
	resources := r.resources
	if own := r.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	r.content(r.decode(s), resources, ctm, r.depth+1)
}
