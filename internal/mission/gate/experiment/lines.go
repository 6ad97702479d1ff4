package experiment

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

// edit is the changed lines of a file: numbers of added lines in the head and of removed lines in the base.
type edit struct {
	added, removed []int
}

// maxPatch bounds the patch from base to head, in bytes.
const maxPatch = 64 << 20

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// readEdits reads the changed lines of all files. A file that was only moved has no changed lines.
func (x *experiments) readEdits(ctx context.Context) error {
	patch, err := x.Repo.Run(ctx, git.Call{
		Args: []string{"diff-tree", "-r", "-p", "-M", "--unified=0", "--no-prefix"}, Refs: []string{x.Base, x.Head}, Limit: maxPatch,
	})
	if err != nil {
		return err
	}
	x.edits = map[string]*edit{}
	path := ""
	for line := range strings.Lines(string(patch)) {
		line = strings.TrimRight(line, "\r\n")
		if name, ok := strings.CutPrefix(line, "--- "); ok && name != "/dev/null" {
			path = unquote(name)
		} else if name, ok := strings.CutPrefix(line, "+++ "); ok && name != "/dev/null" {
			path = unquote(name)
		} else if m := hunkHeader.FindStringSubmatch(line); m != nil && path != "" {
			if x.edits[path] == nil {
				x.edits[path] = &edit{}
			}
			e := x.edits[path]
			e.removed = append(e.removed, span(m[1], m[2])...)
			e.added = append(e.added, span(m[3], m[4])...)
		}
	}
	return nil
}

// unquote returns a path of a patch, which git quotes if it contains unusual characters.
func unquote(name string) string {
	name = strings.TrimSuffix(name, "\t")
	if text, err := strconv.Unquote(name); err == nil {
		return text
	}
	return name
}

// span returns the line numbers of a hunk header.
func span(start, count string) (list []int) {
	from, _ := strconv.Atoi(start) // the expression matches digits
	n := 1
	if count != "" {
		n, _ = strconv.Atoi(count)
	}
	for i := range n {
		list = append(list, from+i)
	}
	return list
}

// changedCode returns the changed lines of the head with code of the product: no comments, and no inline tests.
func (x *experiments) changedCode(p string) (list []int) {
	src, ok := x.source(p)
	e := x.edits[p]
	if !ok || e == nil {
		return nil
	}
	if _, there := x.head.entries[p]; !there {
		return nil
	}
	inline := src.InlineTests()
	for _, line := range e.added {
		in := slices.ContainsFunc(inline, func(r [2]int) bool { return r[0] <= line && line <= r[1] })
		if !in && src.IsCode(line) {
			list = append(list, line)
		}
	}
	return list
}

// behaves reports whether the change of a source file can change what the product does.
func (x *experiments) behaves(p string) bool {
	if x.roles[p] != product {
		return true
	}
	if x.edits[p] == nil {
		_, was := x.base.entries[p]
		_, is := x.head.entries[p]
		return was && is && x.base.entries[p].Mode != x.head.entries[p].Mode
	}
	if x.sameCode(p) {
		return false
	}
	return len(x.changedCode(p)) > 0 || x.removedCode(p)
}

// sameCode reports whether a file differs in comments and white space only.
func (x *experiments) sameCode(p string) bool {
	was, ok := x.base.read(p)
	if !ok {
		return false
	}
	is, ok := x.head.read(p)
	if !ok {
		return false
	}
	a, ok := parse(p, was)
	if !ok {
		return false
	}
	b, ok := parse(p, is)
	return ok && mutate.Same(a, b)
}

// removedCode reports whether lines with code were removed.
func (x *experiments) removedCode(p string) bool {
	body, ok := x.base.read(p)
	if !ok {
		return false
	}
	src, ok := parse(p, body)
	if !ok {
		return true
	}
	inline := src.InlineTests()
	return slices.ContainsFunc(x.edits[p].removed, func(line int) bool {
		in := slices.ContainsFunc(inline, func(r [2]int) bool { return r[0] <= line && line <= r[1] })
		return !in && src.IsCode(line)
	})
}
