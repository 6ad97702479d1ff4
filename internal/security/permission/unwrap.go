package permission

import (
	"regexp"
	"slices"
	"strings"
)

const (
	maxUnwrap    = 6       // texts within texts that are read
	maxRuns      = 2048    // commands that are looked at beside those of the line itself
	maxUnwrapped = 1 << 20 // bytes of such texts, all together
)

// run is a command that a segment may run.
type run struct {
	words []word
	dirs  []string // where it may run
}

// runs are the commands that a script may run, including those in the arguments of
// wrappers, in texts for shells and in git's settings. It finds too many rather
// than too few, so use it to deny only.
type runs struct {
	of    [][]run // by segment
	vague []bool  // by segment: it runs a text that is not known
	count int
	read  int // bytes of texts within texts
}

// evaluated matches text in which bash evaluates commands even if it is quoted: a
// subscript, and a variable that is expanded as a prompt.
var evaluated = regexp.MustCompile("@P}|[A-Za-z0-9_]\\[[^]]*(\\$\\(|`)")

// isIndirect reports whether a command runs, or defines a name for, a command that
// its words do not show.
func (s Segment) isIndirect() bool {
	if len(s.words) > 1 && s.words[0].known && namers[s.words[0].text] {
		return true
	}
	return evaluated.MatchString(s.Text)
}

func (s script) runs() *runs {
	r := &runs{of: make([][]run, len(s.segments)), vague: make([]bool, len(s.segments))}
	for i, seg := range s.segments {
		r.of[i] = []run{{seg.words, s.dirs}}
		r.vague[i] = seg.isIndirect()
		r.unwrap(seg, i, s.dirs, 0)
	}
	return r
}

// unwrap adds the commands that a segment runs in addition to its own program.
func (r *runs) unwrap(seg Segment, at int, dirs []string, depth int) {
	if len(seg.words) == 0 || !seg.words[0].known {
		return
	}
	name := strings.TrimSuffix(program(seg.words[0].text), ".exe")
	args := seg.words[1:]
	switch {
	case name == "git":
		r.git(args, at, dirs, depth)
		return
	case !carriers[name]:
		return
	}
	strict := slices.ContainsFunc(seg.words, func(w word) bool { return w.known && readers[program(w.text)] })
	if feeders[name] {
		args = fed(args)
	}
	operands := 0
	for i, w := range args {
		if (!feeders[name] || !isGiven(w) || beginsCommand(args, i)) && !r.append(args[i:], at, dirs) {
			return
		}
		if !isOption(w) {
			operands++
		}
		if w.known {
			r.inWord(w.text, at, dirs, depth, strict)
		} else if text, ok := strings.CutPrefix(w.raw, `"`); ok { // its known words still tell something
			r.text(strings.TrimSuffix(text, `"`), at, dirs, depth, false)
		}
	}
	if joiners[name] {
		r.text(joined(args), at, dirs, depth, true)
	}
	if shells[name] || laters[name] {
		for _, text := range seg.stdin {
			r.text(text, at, dirs, depth, true)
		}
		if (operands == 0 || laters[name]) && len(seg.stdin) == 0 {
			r.vague[at] = true // it reads from a pipe
		}
	}
}

// given is the doubt about words that a program such as xargs or find adds to a
// command.
const given = "what it is given"

func isGiven(w word) bool { return w.doubt == given }

// fed returns the words of such a command, with unknown words at the end or in
// place of a placeholder such as {}.
func fed(args []word) []word {
	mark := "{}"
	for i, w := range args {
		if rest, ok := strings.CutPrefix(w.text, "-I"); ok && rest != "" {
			mark = rest
		} else if ok && i+1 < len(args) && args[i+1].text != "" {
			mark = args[i+1].text
		}
	}
	var words []word
	for _, w := range args {
		if !isOption(w) && (strings.Contains(w.text, "{}") || strings.Contains(w.text, mark) || strings.HasPrefix(w.text, ":::")) {
			w = word{raw: w.raw, doubt: given}
		}
		words = append(words, w)
	}
	return append(words, word{raw: "…", doubt: given})
}

// beginsCommand reports whether the command that such a program runs may begin at
// word i: it follows an option that is not -I, or the placeholder of -I.
func beginsCommand(args []word, i int) bool {
	switch {
	case i+1 == len(args): // the unknown word that fed appended, which is no command
		return false
	case i > 1 && args[i-2].text == "-I":
		return true
	default:
		return i == 0 || isOption(args[i-1]) && args[i-1].text != "-I"
	}
}

// append adds a run, unless there are too many.
func (r *runs) append(words []word, at int, dirs []string) bool {
	if r.count++; r.count > maxRuns {
		r.vague[at] = true
		return false
	}
	r.of[at] = append(r.of[at], run{words, dirs})
	return true
}

// inWord adds the commands of a word that may be the text of a command: "rm x",
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

// text adds the commands of a text. If strict, a text that cannot be parsed may
// run anything; otherwise it is taken for no command.
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

// isSimple reports whether a text is one word without shell syntax.
func isSimple(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_./", c)
	})
}

// joined returns the text that a program makes of its arguments, without its own
// options.
func joined(words []word) string {
	var texts []string
	for _, w := range words {
		if w.known && (len(texts) > 0 || !isOption(w)) {
			texts = append(texts, w.text)
		}
	}
	return strings.Join(texts, " ")
}

// git adds the commands that git runs because of a setting, an option, or a
// subcommand that runs them for each commit or submodule.
func (r *runs) git(args []word, at int, dirs []string, depth int) {
	for i, w := range args {
		if value, ok := gitSetting(args, i, w); ok {
			r.text(value, at, dirs, depth, true)
		}
		option, value, inline := strings.Cut(w.text, "=")
		switch {
		case !w.known:
		case inline && gitRunners[option]:
			r.text(value, at, dirs, depth, true)
		case gitRunners[w.text] && i+1 < len(args):
			r.append(args[i+1:], at, dirs)
			r.text(joined(args[i+1:]), at, dirs, depth, false)
			r.inWord(args[i+1].text, at, dirs, depth, false)
		}
	}
}

// gitRunners are words of git that a command follows.
var gitRunners = set("run foreach -x --exec --extcmd --upload-pack --receive-pack --tree-filter --index-filter --msg-filter --env-filter")

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
