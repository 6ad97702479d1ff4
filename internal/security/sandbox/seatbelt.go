package sandbox

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/security/protect"
)

// seatbeltBase allows what every program needs. Everything else is denied unless a later
// rule allows it; the last matching rule wins.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center"))
(allow file-read*)
(allow file-write* file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx")
  (regex #"^/dev/ttys[0-9]+$"))
`

// seatbeltProfile returns the policy for a plan in the language of sandbox-exec. Names
// are protected anywhere, whether they exist or not, without case.
func seatbeltProfile(pl *plan) string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	rule := func(action string, filters ...string) {
		if len(filters) > 0 {
			fmt.Fprintf(&b, "(%s\n  %s)\n", action, strings.Join(filters, "\n  "))
		}
	}
	var write, hidden, held, pinned []string
	for _, path := range append(pl.writableRoots(), pl.temp) {
		write = append(write, subpath(path))
	}
	rule("allow file-write*", write...)
	pl.openApart(rule, write)
	if !pl.readOnly {
		for _, path := range slices.Concat(pl.readonly, pl.missing, pl.absent, pl.links) {
			held = append(held, subpath(path))
		}
		for _, name := range slices.Sorted(slices.Values(pl.guard.list())) {
			held = append(held, nameFilter(pl.dir, name))
		}
		held = append(held, nameFilter(pl.dir, ".git/hooks"), nameFilter(pl.dir, ".git/config"))
		for _, path := range pl.pinned {
			pinned = append(pinned, "(literal "+quote(path)+")")
		}
	}
	rule("deny file-write*", held...)
	rule("deny file-write-unlink", append(pinned, "(literal "+quote(pl.dir)+")")...)
	for _, m := range pl.masks {
		hidden = append(hidden, subpath(m.path))
	}
	for _, pattern := range pl.guard.patterns {
		hidden = append(hidden, nameFilter(pl.dir, pattern))
	}
	rule("deny file-read* file-write*", hidden...)
	b.WriteString("(deny network*)\n")
	return b.String()
}

// openApart denies the directories that are set apart, except for the roots in them,
// which can be read, and written if they are among write. The directories above the roots
// stay visible, because programs look at each part of a path.
func (pl *plan) openApart(rule func(action string, filters ...string), write []string) {
	for _, m := range pl.visibleApart() { // the outer ones first
		var above, read, through []string
		for _, path := range pl.roots() {
			if !within(path, m.path) {
				continue
			}
			for dir := filepath.Dir(path); within(dir, m.path); dir = filepath.Dir(dir) {
				above = append(above, "(literal "+quote(dir)+")")
			}
			filter := subpath(path)
			if read = append(read, filter); slices.Contains(write, filter) {
				through = append(through, filter)
			}
		}
		for _, l := range pl.home.links {
			if within(l.at, m.path) {
				above = append(above, "(literal "+quote(l.at)+")")
			}
		}
		slices.Sort(above)
		rule("deny file-read* file-write*", subpath(m.path))
		rule("allow file-read-metadata", slices.Compact(above)...)
		rule("allow file-read*", read...)
		rule("allow file-write*", through...)
	}
}

// subpath matches a path and all below it.
func subpath(path string) string { return "(subpath " + quote(path) + ")" }

// list returns the guarded names. Of .git, only parts are guarded.
func (g guard) list() []string {
	names := slices.DeleteFunc(protect.Names(), func(name string) bool { return name == ".git" })
	for name := range g.names {
		names = append(names, name)
	}
	return names
}

// quote quotes a path for the policy.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.Clean(path)) + `"`
}

// nameFilter returns a filter for a name, or a pattern with stars, anywhere in a
// directory, without case.
func nameFilter(dir, name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '*':
			b.WriteString("[^/]*")
		case r == '?':
			b.WriteString("[^/]")
		case unicode.IsLetter(r):
			fmt.Fprintf(&b, "[%c%c]", unicode.ToLower(r), unicode.ToUpper(r))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	text := "^" + regexp.QuoteMeta(dir) + "/(.*/)?" + b.String() + "(/|$)"
	return `(regex #"` + strings.ReplaceAll(text, `"`, `\"`) + `")`
}
