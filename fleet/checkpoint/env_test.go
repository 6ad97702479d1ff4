package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/fleet/blob"
)

const key = "acme/w1"

// tb is the common part of *testing.T and *rapid.T.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// host is a host with a workspace.
type host struct {
	tb

	ctx   context.Context //nolint:containedctx // of the test
	k     *Store
	roots []Root
}

// newHost creates a host in dir that uses a blob store.
func newHost(ctx context.Context, t tb, dir string, blobs blob.Store) *host {
	t.Helper()
	h := &host{t, ctx, &Store{Blobs: blobs, Dir: dir + "/index"}, []Root{{"work", dir + "/work"}, {"undo", dir + "/undo"}}}
	if err := os.MkdirAll(h.path(""), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

func openBlobs(t tb, dir string) blob.Store {
	t.Helper()
	s, err := blob.Open(context.Background(), "file://"+dir+"/blobs")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func twoHosts(t *testing.T) (a, b *host) {
	dir := t.TempDir()
	blobs := openBlobs(t, dir)
	return newHost(t.Context(), t, dir+"/a", blobs), newHost(t.Context(), t, dir+"/b", blobs)
}

func (h *host) path(name string) string { return filepath.Join(h.roots[0].Path, name) }

func (h *host) write(name, text string) {
	h.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(h.path(name)), 0o755), os.WriteFile(h.path(name), []byte(text), 0o644)); err != nil {
		h.Fatal(err)
	}
}

func (h *host) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *host) save(from string) (string, Stats) {
	h.Helper()
	id, stats, err := h.k.Save(h.ctx, key, h.roots, from)
	h.must(err)
	return id, stats
}

func (h *host) restore(id string) {
	h.Helper()
	h.must(h.k.Restore(h.ctx, key, id, h.roots))
}

// tree describes everything of the roots that a checkpoint contains, as text.
func (h *host) tree() map[string]string {
	h.Helper()
	tree := map[string]string{}
	for _, root := range h.roots {
		err := filepath.WalkDir(root.Path, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == root.Path {
				return nil
			}
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := ""
			switch {
			case info.Mode()&fs.ModeSymlink != 0:
				text, err = os.Readlink(path)
				text = "-> " + text
			case info.Mode().IsRegular():
				var data []byte
				data, err = os.ReadFile(path)
				text = fmt.Sprintf("%s %d %x", info.Mode(), info.ModTime().UnixNano(), data)
			case info.IsDir():
				text = info.Mode().String()
			default:
				return nil
			}
			tree[root.Name+path[len(root.Path):]] = text
			return err
		})
		h.must(err)
	}
	return tree
}

func (h *host) equals(want map[string]string) {
	h.Helper()
	if diff := cmp.Diff(want, h.tree()); diff != "" {
		h.Fatalf("restored (-want +got):\n%s", diff)
	}
}

// flaky is a store that fails after puts bytes were written, or after gets blobs were read.
type flaky struct {
	blob.Store

	puts int64
	gets int
}

var errDown = errors.New("the store is down")

func (f *flaky) Put(ctx context.Context, key string, r io.Reader) error {
	return f.Store.Put(ctx, key, &limited{r, &f.puts})
}

func (f *flaky) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if f.gets--; f.gets < 0 {
		return nil, errDown
	}
	return f.Store.Get(ctx, key)
}

type limited struct {
	r    io.Reader
	left *int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if *l.left -= int64(n); *l.left < 0 {
		return 0, errDown
	}
	return n, err
}

func keys(t tb, list iter.Seq2[blob.Info, error]) (keys []string) {
	t.Helper()
	for b, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, b.Key)
	}
	return keys
}

func sumOf(text string) sum { return sha256.Sum256([]byte(text)) }
