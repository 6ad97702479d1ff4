package loops

import "strings"

// Bounds of what is looked at in a reply.
const (
	babbleLeast  = 600  // bytes: a shorter text may well repeat itself
	babbleTail   = 4096 // bytes: a reply that has lost its way does not find it again
	babblePeriod = 512  // bytes of what repeats
	babbleTimes  = 8    // how often it does
	babbleShare  = 60   // percent of the text that is one line
	babbleEqual  = 90   // percent of the bytes that equal those one period before
)

// babbles reports whether the end of a text is the same again and again: mostly
// one line, or a piece of up to 512 bytes over and over. Its work is bounded,
// whatever the text.
func babbles(text string) bool {
	text = strings.TrimSpace(text)
	text = text[max(len(text)-babbleTail, 0):]
	return len(text) >= babbleLeast && (sameLine(text) || periodic(text))
}

func sameLine(text string) bool {
	counts := map[string]int{}
	all := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		counts[line]++
		all += len(line)
	}
	for line, n := range counts {
		if n >= babbleTimes && n*len(line)*100 >= all*babbleShare {
			return true
		}
	}
	return false
}

func periodic(text string) bool {
	for p := 1; p <= min(babblePeriod, len(text)/babbleTimes); p++ {
		others := (len(text) - p) * (100 - babbleEqual) / 100 // may differ
		i := p
		for ; i < len(text) && others >= 0; i++ {
			if text[i] != text[i-p] {
				others--
			}
		}
		if others >= 0 {
			return true
		}
	}
	return false
}
