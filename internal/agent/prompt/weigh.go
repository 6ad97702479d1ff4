package prompt

// scale is what a token weighs: weights are whole numbers, so that sums are the
// same on every machine.
const scale = 100

// What a byte weighs, in hundredths of a token. Vocabularies hold words of the
// languages that they were trained on, with the space before them, short runs of
// digits and pairs of signs; so
//
//	English prose      about 4.3 bytes a token
//	source code        about 3.2
//	JSON               about 3
//	hex, base64        about 1.8: where the case or the kind of a character
//	                   changes within a word, a token ends
//	Cyrillic, Greek …  2 characters
//	Chinese, Thai …    1.5 characters
//	emoji              half a character
//
// The second of two equal signs or spaces is nearly free: a ruler of dashes and
// a deep indent are a few tokens.
const (
	weighsLower   = 22
	weighsUpper   = 35
	weighsDigit   = 45
	weighsSign    = 50
	weighsSpace   = 22
	weighsLine    = 25  // tabs and ends of lines
	weighsControl = 100 // any other control character
	weighsSame    = 5   // a sign or a space after its like
	weighsChange  = 50  // lower case to upper, a letter to a digit and back: on top

	// The bytes of a character beyond ASCII: 50, 65 and 200 in sum.
	weighsMiddle = 25 // each after the first
	weighsFirst2 = 25
	weighsFirst3 = 15
	weighsFirst4 = 125
)

// class says what a byte is, as far as its neighbors matter.
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
	// weights[c][b] is what the byte b weighs after one of class c.
	weights [classes][256]uint8
	// repeated[b] is what b weighs after another b.
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

// EstimateText returns the tokens of a text; see [Estimate]. That of two texts,
// joined, is at most two tokens off from the sum of theirs.
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
