package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// protected are names that configure other programs: writing them can run code outside
// of the sandbox. Those of git are in git.go.
var protected = []string{
	".pawl", ".agents", ".claude", ".codex", ".gemini", ".cursor", ".mcp.json",
	".vscode", ".idea", ".husky", ".envrc", ".npmrc", ".ripgreprc", ".gitmodules", ".gitconfig",
	".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
}

// Protected returns the names that are protected anywhere in every workspace. They are
// compared without case, as some file systems do.
func Protected() []string {
	return append([]string{".git/hooks", ".git/config"}, protected...)
}

// guard matches names to protect or hide.
type guard struct {
	names    map[string]bool // folded
	patterns []string        // folded
}

func newGuard(p Profile) (guard, error) {
	g := guard{names: map[string]bool{}}
	for _, name := range slices.Concat(protected, p.Protected) {
		name = strings.Trim(path.Clean("/"+name), "/")
		if name != "" && !strings.Contains(name, "/") {
			g.names[fold(name)] = true
		}
	}
	for _, pattern := range p.Hidden {
		if !strings.HasPrefix(pattern, "/") {
			if _, err := path.Match(pattern, ""); err != nil {
				return g, fmt.Errorf("hide %q: %w", pattern, err)
			}
			g.patterns = append(g.patterns, fold(pattern))
		}
	}
	return g, nil
}

// top returns the paths, relative to the workspace, that cannot be created, in their
// usual spelling: on a case-sensitive file system, others have no effect.
func top(p Profile) []string {
	list := append([]string{".git"}, protected...)
	for _, name := range p.Protected {
		if name = strings.Trim(path.Clean("/"+name), "/"); name != "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (g guard) protects(name string) bool { return g.names[fold(name)] }

func (g guard) hides(name string) bool {
	return slices.ContainsFunc(g.patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, fold(name)) // newGuard has read it
		return ok
	})
}

// fold normalizes names that some file system treats as equal: case, full-width forms,
// and ignored characters.
func fold(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return strings.ToLower(name)
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1 // ignored by HFS+
		case r == 'ſ':
			return 's'
		case r == 'K': // the sign for Kelvin
			return 'k'
		}
		return r
	}, norm.NFKC.String(name)))
}
