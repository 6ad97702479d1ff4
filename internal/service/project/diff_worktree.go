package project

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// treeDiff collects how a working directory differs from the last commit.
type treeDiff struct {
	session sessionFiles
	repo    *git.Repo
	files   *workspace.Workspace
	prefix  string // of the working directory in the repository
	limits  snapshot.DiffConfig
	diff    *pawl.Diff
}

// maxArgs bounds the bytes of paths on a command line of git.
const maxArgs = 100_000

// maxPatches bounds what is read of the patches of one command.
const maxPatches = 16 << 20

// add adds changed and untracked files, as paths of the repository.
func (t *treeDiff) add(ctx context.Context, changed, untracked []string) error {
	if t.diff.Truncated = len(changed)+len(untracked) > t.limits.Files; t.diff.Truncated {
		changed = changed[:min(len(changed), t.limits.Files)]
		untracked = untracked[:min(len(untracked), t.limits.Files-len(changed))]
	}
	var batch []string
	size := 0
	for i, path := range changed {
		if name := t.name(path); !t.session.readAllowed(name) {
			t.diff.Files = append(t.diff.Files, pawl.FileDiff{Path: name, Kind: "modify", Hidden: notReadable})
		} else {
			batch = append(batch, path)
			size += len(path) + 1
		}
		if len(batch) > 0 && (size > maxArgs || i == len(changed)-1) {
			if err := t.compare(ctx, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
	}
	for _, path := range untracked {
		if err := t.untracked(path); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// name returns the path of a file relative to the working directory.
func (t *treeDiff) name(path string) string {
	if t.prefix == "." {
		return path
	}
	return strings.TrimPrefix(path, t.prefix+"/")
}

// compare adds files that git knows.
func (t *treeDiff) compare(ctx context.Context, paths []string) error {
	files, err := t.repo.DiffHead(ctx, paths, maxPatches)
	if err != nil {
		return err
	}
	for _, f := range files {
		t.addFile(snapshot.FileDiff{FileDiff: f, Kind: snapshot.KindOf(f)})
	}
	return nil
}

func (t *treeDiff) addFile(f snapshot.FileDiff) {
	f.Trim(min(t.limits.FileBytes, t.limits.Bytes))
	t.limits.Bytes -= len(f.Patch)
	t.diff.Files = append(t.diff.Files, fileDiff(f, t.name))
}

// untracked adds a file that git does not know. It leaves out repositories in the working directory.
func (t *treeDiff) untracked(path string) error {
	if strings.HasSuffix(path, "/") {
		return nil
	}
	name := t.name(path)
	if !t.session.readAllowed(name) {
		t.diff.Files = append(t.diff.Files, pawl.FileDiff{Path: name, Kind: "create", Hidden: notReadable})
		return nil
	}
	f, err := t.files.OpenReal(name)
	if err != nil { // it is a link, or was deleted
		t.diff.Files = append(t.diff.Files, pawl.FileDiff{Path: name, Kind: "create", Hidden: "it cannot be read as a file"})
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(t.limits.FileBytes)+1))
	if err != nil {
		return err
	}
	t.addFile(snapshot.FileDiff{FileDiff: newFileDiff(path, text, len(text) > t.limits.FileBytes), Kind: snapshot.Added})
	return nil
}

// newFileDiff returns the diff of a new file. With cut the text is only its beginning.
func newFileDiff(path string, text []byte, cut bool) git.FileDiff {
	f := git.FileDiff{Path: path, Status: 'A', Cut: cut}
	header := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file\n", filepath.ToSlash(path))
	if bytes.IndexByte(text, 0) >= 0 {
		f.Binary, f.Cut = true, false
		f.Patch = header + fmt.Sprintf("Binary files /dev/null and b/%s differ\n", path)
		return f
	}
	f.Added = bytes.Count(text, []byte("\n"))
	ended := len(text) == 0 || text[len(text)-1] == '\n'
	if !ended {
		f.Added++
	}
	var b strings.Builder
	b.WriteString(header)
	if len(text) > 0 {
		fmt.Fprintf(&b, "--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", path, f.Added)
	}
	for line := range bytes.Lines(text) {
		b.WriteByte('+')
		b.Write(line)
	}
	if !ended {
		b.WriteString("\n\\ No newline at end of file\n")
	}
	f.Patch = b.String()
	return f
}
