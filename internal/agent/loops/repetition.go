package loops

import "strings"

// The limits of the check of a reply.
const (
	repeatLeast  = 600  // bytes: a shorter text may repeat itself legitimately
	repeatTail   = 4096 // bytes at the end that are checked: a reply does not recover from repetition
	repeatPeriod = 512  // bytes of the longest piece
	repeatTimes  = 8    // how often the line or piece must occur
	repeatShare  = 60   // percent of the text that the line must make up
	repeatEqual  = 90   // percent of the bytes that must equal those one period before
)

// repeatsItself reports whether the end of a text repeats itself: it is mostly one line, or a piece of
// up to 512 bytes again and again. Its cost is bounded for any text.
func repeatsItself(text string) bool {
	text = strings.TrimSpace(text)
	text = text[max(len(text)-repeatTail, 0):]
	return len(text) >= repeatLeast && (sameLine(text) || periodic(text))
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
		if n >= repeatTimes && n*len(line)*100 >= all*repeatShare {
			return true
		}
	}
	return false
}

func periodic(text string) bool {
	for p := 1; p <= min(repeatPeriod, len(text)/repeatTimes); p++ {
		differing := (len(text) - p) * (100 - repeatEqual) / 100
		i := p
		for ; i < len(text) && differing >= 0; i++ {
			if text[i] != text[i-p] {
				differing--
			}
		}
		if differing >= 0 {
			return true
		}
	}
	return false
}
