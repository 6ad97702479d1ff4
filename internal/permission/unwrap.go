package permission

import (
	"slices"
	"strings"
)

const (
	maxUnwrap    = 6       // texts within texts that are read
	maxRuns      = 2048    // commands that are looked at beside those of the line itself
	maxUnwrapped = 1 << 20 // bytes of such texts, all together
)

// run is a command that a segment may come to run.
type run struct {
	words []word
	dirs  []string // where it may run
}

// runs are the commands that a script may run, as far as they can be found in
// wrappers, in texts for shells and in git's settings. It errs on the side of
// too many, so it is for refusing only.
type runs struct {
	of    [][]run // by segment
	vague []bool  // by segment: it runs a text that is not known
	count int
	read  int // bytes of texts within texts
}

func (s script) runs() *runs {
	r := &runs{of: make([][]run, len(s.segments)), vague: make([]bool, len(s.segments))}
	for i, seg := range s.segments {
		r.of[i] = []run{{seg.words, s.dirs}}
		r.unwrap(seg, i, s.dirs, 0)
	}
	return r
}

// unwrap adds what a segment runs beside itself.
func (r *runs) unwrap(seg Segment, at int, dirs []string, depth int) {
	if len(seg.words) == 0 || !seg.words[0].known {
		return
	}
	name := strings.TrimSuffix(program(seg.words[0].text), ".exe")
	args := seg.words[1:]
	switch {
	case name == "git":
		for i, w := range args {
			if value, ok := gitSetting(args, i, w); ok {
				r.text(value, at, dirs, depth, true)
			}
		}
		return
	case !carriers[name]:
		return
	}
	strict := slices.ContainsFunc(seg.words, func(w word) bool { return w.known && readers[program(w.text)] })
	operands := 0
	for i, w := range args {
		if !r.append(args[i:], at, dirs) {
			return
		}
		if !isOption(w) {
			operands++
		}
		if w.known {
			r.inWord(w.text, at, dirs, depth, strict)
		}
	}
	if joiners[name] {
		r.text(joined(args), at, dirs, depth, true)
	}
	if shells[name] {
		for _, text := range seg.stdin {
			r.text(text, at, dirs, depth, true)
		}
		if operands == 0 && len(seg.stdin) == 0 {
			r.vague[at] = true // it reads from a pipe
		}
	}
}

// append notes a run, unless there are too many.
func (r *runs) append(words []word, at int, dirs []string) bool {
	if r.count++; r.count > maxRuns {
		r.vague[at] = true
		return false
	}
	r.of[at] = append(r.of[at], run{words, dirs})
	return true
}

// inWord reads a word as the text of a command, if it can be one: "rm x",
// -crm, --command='rm x'.
func (r *runs) inWord(text string, at int, dirs []string, depth int, strict bool) {
	switch {
	case strings.HasPrefix(text, "--"):
		if _, value, ok := strings.Cut(text, "="); ok {
			r.text(value, at, dirs, depth, strict)
		}
	case strings.HasPrefix(text, "-") && len(text) > 2:
		r.text(text[2:], at, dirs, depth, strict)
	case strings.ContainsAny(text, " \t\n;|&()<>$`"):
		r.text(text, at, dirs, depth, strict)
	}
}

// text adds the commands of a text. If it is strict, one that cannot be read
// may run anything; else it is no command.
func (r *runs) text(text string, at int, dirs []string, depth int, strict bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if r.read += len(text); depth >= maxUnwrap || r.read > maxUnwrapped {
		r.vague[at] = true
		return
	}
	if isSimple(text) { // as most are; to parse is costly
		r.append([]word{{raw: text, text: text, known: true}}, at, dirs)
		return
	}
	s, err := parse(text)
	if err != nil {
		r.vague[at] = r.vague[at] || strict
		return
	}
	inner := slices.Concat(dirs, s.dirs)
	for _, seg := range s.segments {
		if !r.append(seg.words, at, inner) {
			return
		}
		r.unwrap(seg, at, inner, depth+1)
	}
}

// isSimple reports whether a text is one word that means itself.
func isSimple(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./", c)
	})
}

// joined is the text that a program makes of its words, but for its own options.
func joined(words []word) string {
	var texts []string
	for _, w := range words {
		if w.known && (len(texts) > 0 || !isOption(w)) {
			texts = append(texts, w.text)
		}
	}
	return strings.Join(texts, " ")
}

// gitSetting returns the value of a -c key=value, which may name a command: an
// alias, a pager, an editor.
func gitSetting(args []word, i int, w word) (string, bool) {
	text := w.text
	switch {
	case !w.known:
		return "", false
	case i > 0 && args[i-1].known && args[i-1].text == "-c":
	case strings.HasPrefix(text, "-c") && len(text) > 2:
	default:
		return "", false
	}
	_, value, ok := strings.Cut(text, "=")
	return strings.TrimPrefix(value, "!"), ok
}
