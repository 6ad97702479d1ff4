package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	raw   string // as written
	text  string // what the program is given; of a pattern, the pattern; of what is not known, the known beginning
	known bool   // it is the same whenever and wherever it runs, but for the home directory in a leading ~
	glob  bool   // it is a pattern for file names, and known apart from that
	doubt string // why it is not known
}

// wordReader evaluates the words of one source text.
type wordReader struct {
	src        string
	backquotes int // how deep in `…`, where a backslash means more than one thing
}

func (r *wordReader) raw(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from > to || to > uint(len(r.src)) {
		return ""
	}
	return r.src[from:to]
}

// word evaluates a word. One that expands is not known: it may become several
// words, or options.
func (r *wordReader) word(w *syntax.Word) word {
	out := word{raw: r.raw(w), known: true}
	var text strings.Builder
	var special strings.Builder
	for _, part := range w.Parts {
		doubt := ""
		switch p := part.(type) {
		case *syntax.Lit:
			plain, expands := unescape(p.Value)
			special.WriteString(expands)
			if doubt = r.litDoubt(p.Value, expands); doubt == "" {
				text.WriteString(plain)
			}
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				doubt = "text with escapes ($'…')"
			} else {
				text.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			doubt = r.quoted(p, &text)
		default:
			doubt = partDoubt(part)
		}
		if doubt != "" {
			out.known, out.doubt = false, doubt
			break
		}
	}
	out.text = text.String()
	switch all := special.String(); {
	case !out.known:
	case strings.Contains(all, "{") && strings.ContainsAny(all, ",.") && strings.Contains(all, "}"):
		out.known, out.doubt, out.text = false, "brace expansion", ""
	case strings.ContainsAny(all, "*?") || strings.Contains(all, "[") && strings.Contains(all, "]"):
		out.known, out.doubt, out.glob = false, "a file name pattern", true
	}
	return out
}

// quoted evaluates a text in double quotes.
func (r *wordReader) quoted(q *syntax.DblQuoted, text *strings.Builder) (doubt string) {
	if q.Dollar {
		return `translated text ($"…")`
	}
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return partDoubt(part)
		}
		if r.backquotes > 0 && strings.Contains(lit.Value, `\`) {
			return "a backslash in backquotes"
		}
		text.WriteString(unescapeQuoted(lit.Value))
	}
	return ""
}

// litDoubt returns what makes an unquoted text uncertain, or "".
func (r *wordReader) litDoubt(value, special string) string {
	switch {
	case r.backquotes > 0 && strings.Contains(value, `\`):
		return "a backslash in backquotes"
	case strings.Contains(special, `\`):
		return "a backslash at the end"
	}
	return ""
}

func partDoubt(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.ParamExp:
		if p.Short && p.Index == nil {
			return "a variable"
		}
		return "an expansion (${…})"
	case *syntax.CmdSubst:
		return "a command substitution ($(…))"
	case *syntax.ProcSubst:
		return "a process substitution (<(…))"
	case *syntax.ArithmExp:
		return "arithmetic"
	case *syntax.ExtGlob:
		return "a file name pattern"
	default:
		return "an unknown construct"
	}
}

// unescape removes the backslashes from an unquoted text. special has the
// unescaped characters that make a shell expand the word, and a backslash if the
// text ends with one that escapes nothing.
func unescape(s string) (text, special string) {
	var b, sp strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '\\':
			b.WriteByte(c)
			sp.WriteByte(c)
		default:
			if strings.IndexByte("*?[]{},.", c) >= 0 {
				sp.WriteByte(c)
			}
			b.WriteByte(c)
		}
	}
	return b.String(), sp.String()
}

// unescapeQuoted is unescape for a text in double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
