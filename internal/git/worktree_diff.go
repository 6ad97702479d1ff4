package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

// emptyTreeID is the ID of a tree without files, which git knows in every repository
// with SHA-1.
const emptyTreeID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// maxListed bounds a list of paths, in bytes.
const maxListed = 16 << 20

// Changed returns the paths below dir that differ between HEAD and the worktree, and the
// untracked ones that are not ignored. Paths are relative to the top; dir is too, "." is
// the whole worktree.
func (r *Repo) Changed(ctx context.Context, dir string) (changed, untracked []string, err error) {
	out, err := r.Run(ctx, Call{Args: []string{"diff", "--name-only", "-z", "--no-renames"}, Refs: []string{r.head(ctx)}, Paths: []string{dir}, Limit: maxListed})
	if err != nil {
		return nil, nil, err
	}
	changed = listed(out)
	out, err = r.Run(ctx, Call{Args: []string{"ls-files", "--others", "--exclude-standard", "-z"}, Paths: []string{dir}, Limit: maxListed})
	return changed, listed(out), err
}

// head returns the commit to compare the worktree with. A repository without a commit
// is compared with no files at all.
func (r *Repo) head(ctx context.Context) string {
	if _, err := r.Commit(ctx, "HEAD"); err != nil {
		return emptyTreeID
	}
	return "HEAD"
}

func listed(out []byte) (paths []string) {
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// DiffHead returns how files of the worktree differ from HEAD, with patches of at most
// limit bytes in all.
func (r *Repo) DiffHead(ctx context.Context, paths []string, limit int64) ([]FileDiff, error) {
	var out bytes.Buffer
	full := &limitedWriter{w: &out, left: limit + 1}
	_, err := r.Run(ctx, Call{Args: append([]string{"diff"}, FileDiffArgs()...), Refs: []string{r.head(ctx)}, Paths: paths, Out: full})
	if err != nil && full.left > 0 {
		return nil, err
	}
	return ReadFileDiffs(&out, limit)
}

// errFull ends a copy when a limitedWriter has enough.
var errFull = errors.New("the output is larger than the limit")

// limitedWriter passes on the first bytes, and then fails, so that git ends.
type limitedWriter struct {
	w    io.Writer
	left int64
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(int64(len(p)), w.left)
	w.left -= n
	written, err := w.w.Write(p[:n])
	if err == nil && n < int64(len(p)) {
		err = errFull
	}
	return written, err
}
