package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// The limits of what the user is shown of the changes of a command.
const (
	maxReviewFiles = 200       // files that are listed
	maxReviewBytes = 256 << 10 // of a file whose diff is shown
	maxFileDiff    = 16 << 10  // bytes of the diff of a file
	maxReviewDiff  = 128 << 10 // bytes of all diffs, about
)

// objects is the directory of git objects, which are not listed one by one.
const objects = ".git/objects/"

// describe returns the changes of a command for the user to review.
func (js *Jobs) describe(list []sandbox.Changes) toolapi.Changes {
	r := &reviewer{}
	for _, c := range list {
		r.addAll(c)
	}
	out := toolapi.Changes{Summary: r.summary(), Files: r.lines, Diff: js.Redact.Redact(r.diff.String())}
	if r.objects > 0 {
		out.Files = append(out.Files, fmt.Sprintf("A %s  %s", objects, humanize.Plural(r.objects, "git object")))
	}
	if r.unlisted > 0 {
		out.Files = append(out.Files, fmt.Sprintf("… and %s", humanize.Plural(r.unlisted, "more file")))
	}
	if r.undiffed > 0 {
		out.Diff += fmt.Sprintf("(the diffs of %s are left out)\n", humanize.Plural(r.undiffed, "more file"))
	}
	out.Refused = r.refused[:min(len(r.refused), maxRefused)]
	if more := len(r.refused) - maxRefused; more > 0 {
		out.Refused = append(out.Refused, fmt.Sprintf("… and %s", humanize.Plural(more, "more file")))
	}
	return out
}

// reviewer collects what is shown of changes.
type reviewer struct {
	sandbox.Changes                 // of one directory
	parents         map[string]bool // of them

	files, objects, added, removed int
	unlisted, undiffed             int
	lines, refused                 []string
	diff                           strings.Builder
}

func (r *reviewer) summary() string {
	text := humanize.Plural(r.files, "file") + " changed"
	if r.added+r.removed > 0 {
		text += fmt.Sprintf(": %s added, %s removed", humanize.Plural(r.added, "line"), humanize.Number(r.removed))
	}
	return text
}

// addAll adds the changes of a directory.
func (r *reviewer) addAll(c sandbox.Changes) {
	r.Changes, r.parents = c, map[string]bool{}
	for _, change := range c.List {
		for i := range len(change.Path) {
			if change.Path[i] == '/' {
				r.parents[change.Path[:i]] = true
			}
		}
	}
	for _, change := range c.List {
		r.add(change)
	}
	for _, refused := range c.Refused {
		r.refused = append(r.refused, r.name(refused.Path)+": "+refused.Reason)
	}
}

// name returns a path as it is shown: of the workspace relative, of others absolute.
func (r *reviewer) name(path string) string { return sanitize.Line(filepath.Join(r.Dir, path)) }

// add adds a change.
func (r *reviewer) add(c tree.Change) {
	isDir := c.Old.Type == tree.Dir && c.New.Type == tree.Missing || c.New.Type == tree.Dir
	switch {
	case isDir && r.parents[c.Path]:
		return // what it contains is listed
	case strings.Contains(filepath.Join(r.Dir, c.Path)+"/", objects):
		if !isDir {
			r.files++
			r.objects++
		}
		return
	}
	path := r.name(c.Path)
	if isDir {
		path += "/"
	} else {
		r.files++
	}
	if len(r.lines) == maxReviewFiles {
		r.unlisted++
		return
	}
	letter := "M"
	switch {
	case c.Old.Type == tree.Missing:
		letter = "A"
	case c.New.Type == tree.Missing:
		letter = "D"
	}
	r.lines = append(r.lines, strings.TrimRight(fmt.Sprintf("%s %s  %s", letter, path, strings.Join(r.notes(c), ", ")), " "))
}

// notes returns what is to be known of a change, and adds its diff.
func (r *reviewer) notes(c tree.Change) (notes []string) {
	switch {
	case c.New.Type == tree.Link:
		target, err := os.Readlink(r.New + "/" + c.Path)
		if err != nil {
			return []string{"symbolic link"}
		}
		return []string{"symbolic link to " + sanitize.Line(target)}
	case c.Old.Type == tree.Link:
		notes = append(notes, "was a symbolic link")
	case c.SameContent && c.Old.Mode == c.New.Mode:
		return []string{"modification time"}
	}
	if c.Old.Type == tree.File && c.New.Type == tree.File && c.Old.Mode != c.New.Mode {
		notes = append(notes, fmt.Sprintf("mode %o → %o", c.Old.Mode, c.New.Mode))
	} else if c.Old.Type == tree.Missing && c.New.Type == tree.File && c.New.Mode&0o111 != 0 {
		notes = append(notes, "executable")
	}
	if c.SameContent || c.New.Type != tree.File && c.Old.Type != tree.File || c.New.Type == tree.Dir {
		return notes
	}
	added, removed, why := r.addDiff(c)
	if why != nil {
		return append(notes, why.Error())
	}
	r.added, r.removed = r.added+added, r.removed+removed
	var lines []string
	if added > 0 {
		lines = append(lines, fmt.Sprintf("+%d", added))
	}
	if removed > 0 {
		lines = append(lines, fmt.Sprintf("-%d", removed))
	}
	if len(lines) == 0 {
		return append(notes, "empty")
	}
	return append(notes, strings.Join(lines, " "))
}

// addDiff adds the diff of a file and returns how many lines it adds and removes. The
// error says why it cannot.
func (r *reviewer) addDiff(c tree.Change) (added, removed int, err error) {
	before, err := text(r.Old, c.Path, c.Old)
	if err != nil {
		return 0, 0, err
	}
	after, err := text(r.New, c.Path, c.New)
	if err != nil {
		return 0, 0, err
	}
	path := strings.TrimPrefix(r.name(c.Path), "/")
	from, to := "a/"+path, "b/"+path
	if c.Old.Type != tree.File {
		from = "/dev/null"
	}
	if c.New.Type != tree.File {
		to = "/dev/null"
	}
	diff := udiff.Unified(from, to, before, after)
	header := true
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			header = false
		case header:
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	if r.diff.Len() >= maxReviewDiff {
		r.undiffed++
	} else {
		r.diff.WriteString(headOfDiff(diff, maxFileDiff))
	}
	return added, removed, nil
}

// text returns the content of a text file; "" if there was no file. Below the workspace
// it must be the file that the command saw: another one may be hidden from commands.
func text(dir, path string, want tree.Stat) (string, error) {
	if want.Type != tree.File {
		return "", nil
	}
	if want.Size > maxReviewBytes {
		return "", errors.New(humanize.Bytes(want.Size))
	}
	w, err := workspace.Open(dir)
	if err != nil {
		return "", errors.New("not readable")
	}
	defer w.Close() //nolint:errcheck // it was only read
	f, err := w.OpenReal(path)
	if err != nil {
		return "", errors.New("not readable")
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != want.Size || info.ModTime().UnixNano() != want.ModTime {
		return "", errors.New("changed since the command ran")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxReviewBytes))
	if err != nil {
		return "", errors.New("not readable")
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", errors.New("binary")
	}
	return string(data), nil
}
