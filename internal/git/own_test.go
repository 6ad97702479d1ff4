package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// newOwn returns an empty repository of pawl.
func newOwn(t *testing.T) *Own {
	t.Helper()
	g, err := Find(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := g.Own(filepath.Join(t.TempDir(), "own"))
	if err := errors.Join(o.Init(t.Context()), o.Init(t.Context())); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOwn(t *testing.T) {
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_OBJECT_DIRECTORY", t.TempDir())
	o := newOwn(t)
	var text []byte
	read := func(r io.Reader) (err error) {
		text, err = io.ReadAll(r)
		return err
	}
	err := o.Run(t.Context(), OwnCall{Args: []string{"cat-file", "--batch-check"}, In: strings.NewReader(emptyTreeID + "\n"), Out: read})
	if want := emptyTreeID + " tree 0\n"; string(text) != want || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for _, args := range [][]string{nil, {"status"}, {"config", "--list"}, {"-c", "x=y", "cat-file"}, {"fetch"}} {
		if err := o.Run(t.Context(), OwnCall{Args: args}); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %v", args, err)
		}
	}
	var failed *Failed
	if err := o.Run(t.Context(), OwnCall{Args: []string{"cat-file", "-p", strings.Repeat("a", 40)}, Out: read}); !errors.As(err, &failed) {
		t.Errorf("an object that is not there: %v", err)
	}
	own := errors.New("of the reader")
	if err := o.Run(t.Context(), OwnCall{Args: []string{"cat-file", "--batch-check"}, In: strings.NewReader("x\n"), Out: func(io.Reader) error { return own }}); !errors.Is(err, own) {
		t.Errorf("a reader that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Run(ctx, OwnCall{Args: []string{"cat-file", "--batch-check"}, Out: read}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestOwnEnough: if Out stops reading, git is killed and that is no error.
func TestOwnEnough(t *testing.T) {
	t.Parallel()
	o := newOwn(t)
	first := ""
	err := o.Run(t.Context(), OwnCall{
		Args: []string{"cat-file", "--batch-check"}, In: strings.NewReader(strings.Repeat(emptyTreeID+"\n", 100_000)),
		Out: func(r io.Reader) (err error) {
			first, err = bufio.NewReader(r).ReadString('\n')
			return err
		},
	})
	if err != nil || first != emptyTreeID+" tree 0\n" {
		t.Errorf("%q, %v", first, err)
	}
}
