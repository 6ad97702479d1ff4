package edit

import (
	"errors"
	"strings"
)

// unescaped matches Old with its escapes replaced by the characters that they
// stand for: the model has escaped the whole edit once too often, so New is
// unescaped too. That is certain only for the kinds of escapes that occur in
// Old.
func (j *job) unescaped() (Done, bool, error) {
	old, kinds := unescape(j.Old)
	if kinds == "" || j.All {
		return Done{}, false, nil
	}
	wanted, wantedKinds := unescape(j.New)
	sure := strings.Trim(wantedKinds, kinds) == "" && (!strings.Contains(wantedKinds, "n") || !strings.Contains(j.New, "\n"))
	if old == wanted {
		return Done{}, false, nil
	}
	done, found, err := exact(j.text, Edit{Old: old, New: wanted, Limit: j.Limit})
	if err != nil || !found {
		return Done{}, false, err
	}
	if !sure {
		return Done{}, false, errors.New(`old fits only when \n, \t or \" in it are read as the characters that they stand for, and new has others: write both plainly, without escapes`)
	}
	done.Pass = Unescaped
	return done, true, nil
}

// unescape replaces the escapes that are common to JSON and most languages,
// and returns which kinds there were. It leaves others as they are.
func unescape(text string) (plain, kinds string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		next := text[i+1]
		switch next {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '"', '\'', '`', '\\', '$':
			b.WriteByte(next)
		default:
			b.WriteByte('\\')
			continue
		}
		i++
		if strings.IndexByte(kinds, next) < 0 {
			kinds += string(next)
		}
	}
	return b.String(), kinds
}
