package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
)

// maxWindow bounds the memory for decompressing a pack.
const maxWindow = 64 << 20

// fill writes the contents of the files, pack by pack.
func (r *restorer) fill(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(r.wanted)) {
		if err := r.unpack(ctx, id, r.wanted[id]); err != nil {
			return err
		}
	}
	return nil
}

// unpack reads a pack sequentially, up to the last content that is needed.
func (r *restorer) unpack(ctx context.Context, id string, wanted map[content][]raw) error {
	blob, err := r.Blobs.Get(ctx, packKey(r.key, id))
	if errors.Is(err, pawl.ErrNotFound) {
		return damaged(r.state.ID, "a pack is missing")
	}
	if err != nil {
		return err
	}
	defer blob.Close()
	source := &errReader{r: blob}
	in, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	defer in.Close()
	list := slices.SortedFunc(maps.Keys(wanted), func(a, b content) int { return cmp.Compare(a.offset, b.offset) })
	at := int64(0)
	for _, c := range list {
		if c.offset < at {
			return damaged(r.state.ID, "contents overlap")
		}
		if _, err := io.CopyN(io.Discard, in, c.offset-at); err != nil {
			return r.packError(source, err)
		}
		part := &errReader{r: io.LimitReader(in, c.size)}
		if err := r.writeAll(ctx, wanted[c], part); err != nil {
			if part.err != nil {
				return r.packError(source, part.err)
			}
			return err
		}
		at = c.offset + c.size
	}
	return nil
}

// packError distinguishes a pack that cannot be read from a damaged one.
func (r *restorer) packError(source *errReader, err error) error {
	if source.err != nil {
		return fmt.Errorf("read pack: %w", source.err)
	}
	return damaged(r.state.ID, "a pack is truncated or corrupt: "+err.Error())
}

// errReader records the error of its reader.
type errReader struct {
	r   io.Reader
	err error
}

func (c *errReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// writeAll writes all files with the same content: the first from the pack, the others as copies of it.
func (r *restorer) writeAll(ctx context.Context, paths []raw, from io.Reader) error {
	slices.Sort(paths)
	if err := r.make(ctx, paths[0], from); err != nil {
		return err
	}
	for _, path := range paths[1:] {
		if err := r.copy(ctx, path, paths[0]); err != nil {
			return err
		}
	}
	return nil
}

// make creates a file with the content of a reader.
func (r *restorer) make(ctx context.Context, path raw, from io.Reader) error {
	above, name, _ := cutLast(path)
	dir, err := r.dirOf(above)
	if err != nil {
		return err
	}
	return r.writeFile(ctx, dir, r.state.Entries[path], name, from)
}

// copy creates a file as a copy of another restored one. It detects if that was changed in the meantime,
// because make verifies the hash.
func (r *restorer) copy(ctx context.Context, path, other raw) error {
	above, name, _ := cutLast(other)
	dir, err := r.dirOf(above)
	if err != nil {
		return err
	}
	f, err := openAt(dir, name, 0, 0)
	if err != nil {
		return err
	}
	return errors.Join(r.make(ctx, path, f), f.Close())
}

// dirOf returns an open directory. It stays open until the next call with another path.
func (r *restorer) dirOf(path raw) (*os.File, error) {
	if r.dir != nil && r.above == path {
		return r.dir, nil
	}
	if r.look != nil {
		r.look(string(path))
	}
	dir, err := openPath(r.roots, path)
	if err != nil {
		return nil, err
	}
	if r.dir != nil {
		err = r.dir.Close()
	}
	r.above, r.dir = path, dir
	return dir, err
}

// openPath opens a directory of a checkpoint, name by name.
func openPath(roots []Root, path raw) (*os.File, error) {
	first, rest, below := strings.Cut(string(path), "/")
	i := slices.IndexFunc(roots, func(root Root) bool { return root.Name == first })
	if i < 0 {
		return nil, &os.PathError{Op: "open", Path: string(path), Err: unix.ENOENT}
	}
	dir, err := openRoot(roots[i].Path)
	if err != nil || !below {
		return dir, err
	}
	for name := range strings.SplitSeq(rest, "/") {
		inner, err := openAt(dir, name, unix.O_DIRECTORY, 0)
		if err := errors.Join(err, dir.Close()); err != nil {
			return nil, err
		}
		dir = inner
	}
	return dir, nil
}
