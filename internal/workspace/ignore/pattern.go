// Package ignore matches paths against ignore files: .gitignore, as gitignore(5)
// describes it, and .ignore.
package ignore

import (
	"bytes"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	kind    kind
	text    string   // the pattern without its leading ! and / and its trailing /
	parts   []string // text split at slashes, for a pathGlob
	include bool     // the pattern starts with !: entries that match are not ignored
	folders bool     // the pattern ends with /: it matches directories only
}

// kind is the way to match a pattern. Most patterns need no wildcard matching.
type kind int

const (
	name       kind = iota // the entry's name equals text
	nameSuffix             // the entry's name ends with text
	nameGlob               // the entry's name matches text
	path                   // the entry's path equals text
	pathGlob               // the entry's path matches parts
)

// parse parses an ignore file. Later patterns take precedence over earlier ones.
func parse(file []byte) []pattern {
	var patterns []pattern
	file = bytes.TrimPrefix(file, []byte("\xEF\xBB\xBF"))
	for line := range strings.SplitSeq(string(file), "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

func parseLine(line string) (pattern, bool) {
	if strings.HasPrefix(line, "#") {
		return pattern{}, false
	}
	var p pattern
	text := trimSpaces(line)
	text, p.include = strings.CutPrefix(text, "!")
	text, p.folders = strings.CutSuffix(text, "/")
	if text == "" {
		return pattern{}, false
	}
	anchored := strings.Contains(text, "/")
	text = strings.TrimPrefix(strings.ReplaceAll(text, `\/`, "/"), "/")
	wild := strings.ContainsAny(text, `*?[\`)
	switch suffix := strings.TrimPrefix(text, "*"); {
	case anchored && wild:
		p.kind, p.parts = pathGlob, strings.Split(text, "/")
		if p.parts[len(p.parts)-1] == "**" {
			p.parts = append(p.parts, "*") // everything inside, but not the directory itself
		}
	case anchored:
		p.kind = path
	case len(suffix) == len(text)-1 && !strings.ContainsAny(suffix, `*?[\`):
		p.kind, text = nameSuffix, suffix
	case wild:
		p.kind = nameGlob
	}
	p.text = text
	return p, true
}

// trimSpaces removes trailing spaces that are not escaped by a backslash.
func trimSpaces(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if slashes := len(line[:end]) - len(strings.TrimRight(line[:end], `\`)); slashes%2 == 1 && end < len(line) {
		end++
	}
	return line[:end]
}

// matches reports whether the pattern matches an entry, given its name and its path
// relative to the directory of the ignore file.
func (p pattern) matches(entryPath, entryName string, folder bool) bool {
	if p.folders && !folder {
		return false
	}
	switch p.kind {
	case name:
		return entryName == p.text
	case nameSuffix:
		return strings.HasSuffix(entryName, p.text)
	case nameGlob:
		return matchName(p.text, entryName)
	case path:
		return entryPath == p.text
	default:
		return matchPath(p.parts, entryPath)
	}
}
