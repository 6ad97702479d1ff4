package worktree

import (
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// checkPath returns an error for a path that is not local to a repository, or that
// git would treat as .git on any operating system.
func checkPath(p string) error {
	if !filepath.IsLocal(p) || p != path.Clean(p) || strings.ContainsRune(p, 0) {
		return fault.New(pawl.ErrInvalid, "%q is not a valid path in a repository", p)
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(p, `\`, "/"), "/") {
		if isGit(part) {
			return fault.New(pawl.ErrInvalid, "%q is reserved for git on some systems: rename it", p)
		}
	}
	return nil
}

// isGit reports whether some file system treats name as .git: those of macOS ignore
// invisible characters, those of Windows ignore trailing dots and spaces and
// everything after a colon, and both ignore case.
func isGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.TrimRight(name, ". "))
	return name == ".git" || name == "git~1"
}

// checkCase returns an error if two paths differ only in case, unless the base
// commit has both: on a case-insensitive file system one would replace the other,
// for example a symbolic link a directory.
func checkCase(before, after map[string]bool) error {
	known := sync.OnceValue(func() map[string]bool { return withFolders(before) })
	spelled := map[string]string{} // original path by lower-case path
	for p := range withFolders(after) {
		folded := strings.ToLower(p)
		other, ok := spelled[folded]
		if !ok {
			spelled[folded] = p
			continue
		}
		if !known()[p] || !known()[other] {
			a, b := min(p, other), max(p, other)
			return fault.New(pawl.ErrInvalid, "%q and %q differ only in case, which some systems do not support: rename one", a, b)
		}
	}
	return nil
}

// withFolders returns paths and all their parent directories.
func withFolders(paths map[string]bool) map[string]bool {
	all := make(map[string]bool, len(paths))
	for p := range paths {
		for ; p != "." && !all[p]; p = path.Dir(p) {
			all[p] = true
		}
	}
	return all
}
