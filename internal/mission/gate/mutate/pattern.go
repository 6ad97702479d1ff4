package mutate

import (
	"regexp"
	"strings"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used, so that the
// program starts without that cost.
type pattern func() *regexp.Regexp

func lazy(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MatchString reports whether a text contains a match.
func (p pattern) MatchString(text string) bool { return p().MatchString(text) }

// words is a set of words that is built when it is first used.
type words func() map[string]bool

func set(list string) words {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(list) {
			m[w] = true
		}
		return m
	})
}

func (w words) has(text string) bool { return w()[text] }
