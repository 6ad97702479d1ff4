package skill

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	maxSource = 2 << 10 // bytes
	maxPath   = 255     // bytes of a path in a repository
	hostedAt  = "https://github.com/"
)

// Source is where skills are installed from: a repository, a revision, and a
// path in it.
type Source struct {
	Address string // https://…, or file:///…
	Ref     string // a branch, a tag or a full commit id; "" means the default branch
	Path    string // the directory to search; "" means everything
	Local   bool   // the address is on this machine
}

var (
	shorthand = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
	commitID  = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	partOfID  = regexp.MustCompile(`^[0-9a-f]{4,39}$`)
)

// ParseSource parses owner/repo, an https URL or, if local is set, a file URL,
// each optionally followed by @ref and #path.
func ParseSource(text string, local bool) (Source, error) {
	var s Source
	if len(text) > maxSource || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return s, fault.New(pawl.ErrInvalid, "invalid skill source %.100q: too long, or contains spaces", text)
	}
	rest, inside, named := strings.Cut(text, "#")
	if named {
		if s.Path = strings.TrimSuffix(inside, "/"); checkPath(s.Path) != nil {
			return s, fault.New(pawl.ErrInvalid, "%.100q is not a directory of a repository", inside)
		}
	}
	rest, ref, named := strings.Cut(rest, "@")
	if s.Ref = ref; named && ref == "" {
		return s, fault.New(pawl.ErrInvalid, "%.100q has no ref after @", text)
	}
	switch {
	case shorthand.MatchString(rest) && !strings.Contains(rest, ".."):
		s.Address = hostedAt + rest
	case strings.HasPrefix(rest, "https://"):
		s.Address = rest
	case strings.HasPrefix(rest, "file://") && local:
		s.Address, s.Local = rest, true
	case strings.HasPrefix(rest, "file://"):
		return s, fault.New(pawl.ErrDenied, "%.100q is a local path, which is not allowed here", text).Hint("Pass --local to install from this machine.")
	default:
		return s, fault.New(pawl.ErrInvalid, "invalid skill source %.100q: use owner/repo or https://host/path, optionally followed by @ref and #path", text)
	}
	return s, nil
}

// String returns the canonical form of a source.
func (s Source) String() string {
	text := s.Address
	if short, ok := strings.CutPrefix(text, hostedAt); ok && shorthand.MatchString(short) {
		text = short
	}
	if s.Ref != "" {
		text += "@" + s.Ref
	}
	if s.Path != "" {
		text += "#" + s.Path
	}
	return text
}

// pinned reports whether the source is a fixed commit.
func (s Source) pinned() bool { return commitID.MatchString(s.Ref) }

// checkPath returns an error for a path that is unsafe or ambiguous on some
// system.
func checkPath(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`\:*?"<>|`, r) }
	bad := name == "" || len(name) > maxPath || !utf8.ValidString(name) || path.IsAbs(name) || path.Clean(name) != name || strings.ContainsFunc(name, odd)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == ".." || part == "." || strings.EqualFold(part, ".git") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " ")
	}
	if bad {
		return fault.New(pawl.ErrDenied, "the path %.100q cannot be stored safely", name)
	}
	return nil
}

// names are the paths of one skill on a file system that ignores case and
// Unicode composition.
type names map[string]string

// add returns an error for a path, accepted by checkPath, that such a file
// system would confuse with another one.
func (n names) add(file string) error {
	for at := file; at != "."; at = path.Dir(at) {
		kind := "directory "
		if at == file {
			kind = "file "
		}
		key := norm.NFC.String(strings.ToLower(norm.NFC.String(at)))
		if other, taken := n[key]; taken && (other != kind+at || kind == "file ") {
			return fault.New(pawl.ErrDenied, "%.100q and %.100q are the same name on some systems", at, strings.TrimPrefix(strings.TrimPrefix(other, "file "), "directory "))
		}
		n[key] = kind + at
	}
	return nil
}
