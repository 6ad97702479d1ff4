package prompt

// scale is the weight of a token. Weights are integers, so that sums are the same on every
// platform.
const scale = 100

// The weight of a byte, in hundredths of a token. Vocabularies consist of words of the languages
// that they were trained on, with the space before them, of short runs of digits and of pairs of
// signs. So a token has, on average:
//
//	English prose      4.3 bytes
//	source code        3.2 bytes
//	JSON               3 bytes
//	hex, base64        1.8 bytes: a change of case, or between letters and
//	                   digits, within a word ends a token
//	Cyrillic, Greek …  2 characters
//	Chinese, Thai …    1.5 characters
//	emoji              half a character
//
// The second of two equal signs or spaces costs almost nothing: a line of dashes or a deep indent
// is a few tokens.
const (
	weighsLower   = 22
	weighsUpper   = 35
	weighsDigit   = 45
	weighsSign    = 50
	weighsSpace   = 22
	weighsLine    = 25  // tab, newline, carriage return
	weighsControl = 100 // any other control character
	weighsSame    = 5   // a sign or a space after an equal one
	weighsChange  = 50  // added for lower to upper case, and between letter and digit

	// The bytes of a non-ASCII character. Characters of 2, 3 and 4 bytes weigh 50, 65 and 200.
	weighsMiddle = 25 // each after the first
	weighsFirst2 = 25
	weighsFirst3 = 15
	weighsFirst4 = 125
)

// class is the kind of a byte, as far as its neighbors matter.
type class uint8

const (
	other class = iota
	lower
	upper
	digit
	classes
)

var (
	classOf [256]class
	// weights[c][b] is the weight of byte b after a byte of class c.
	weights [classes][256]uint8
	// repeated[b] is the weight of b after another b.
	repeated [256]uint8
)

func init() {
	for i := range 256 {
		b := byte(i)
		classOf[b] = classify(b)
		for c := range classes {
			weights[c][b] = weigh(b) + change(c, classOf[b])
		}
		repeated[b] = weigh(b)
		if b < 0x80 && classOf[b] == other && weigh(b) != weighsControl {
			repeated[b] = weighsSame
		}
	}
}

func classify(b byte) class {
	switch {
	case 'a' <= b && b <= 'z':
		return lower
	case 'A' <= b && b <= 'Z':
		return upper
	case '0' <= b && b <= '9':
		return digit
	}
	return other
}

func weigh(b byte) uint8 {
	switch c := classify(b); {
	case c == lower:
		return weighsLower
	case c == upper:
		return weighsUpper
	case c == digit:
		return weighsDigit
	case b == ' ':
		return weighsSpace
	case b == '\t', b == '\n', b == '\r':
		return weighsLine
	case b < ' ', b == 0x7f:
		return weighsControl
	case b < 0x80:
		return weighsSign
	case b < 0xc0:
		return weighsMiddle
	case b < 0xe0:
		return weighsFirst2
	case b < 0xf0:
		return weighsFirst3
	}
	return weighsFirst4
}

func change(from, to class) uint8 {
	word := from != other && to != other
	if word && (from == lower && to == upper || (from == digit) != (to == digit)) {
		return weighsChange
	}
	return 0
}

// EstimateText estimates the tokens of a text; see [Estimate]. The estimate of two joined texts
// differs by at most two tokens from the sum of theirs.
func EstimateText[T ~string | ~[]byte](text T) int {
	sum, last, before := 0, byte(0), other
	for i := range len(text) {
		b := text[i]
		if b == last {
			sum += int(repeated[b])
		} else {
			sum += int(weights[before][b])
		}
		last, before = b, classOf[b]
	}
	return (sum + scale - 1) / scale
}
