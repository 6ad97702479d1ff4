package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// contents are the contents of files, in a file without a name: they are read
// from the repository once, and from there for each worktree.
type contents struct {
	temp *os.File
	at   map[string]part // by id
	size int64
}

// part is where a content is in the file.
type part struct{ from, size int64 }

// fetch reads the contents of entries, up to a limit of bytes.
func (t *Trees) fetch(ctx context.Context, entries []git.Entry, limit int64) (_ *contents, err error) {
	c := &contents{at: make(map[string]part, len(entries))}
	var ids []string
	for _, e := range entries {
		if _, known := c.at[e.ID]; !known && !e.Submodule() {
			c.at[e.ID] = part{}
			ids = append(ids, e.ID)
		}
	}
	if c.temp, err = os.CreateTemp(t.Dir, prefixApart+"*"); err != nil {
		return nil, err
	}
	if err := os.Remove(c.temp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // Sweep may have been faster
		return nil, errors.Join(err, c.temp.Close())
	}
	if len(ids) == 0 {
		return c, nil
	}
	err = t.batch(ctx, ids, func(out *bufio.Reader) error {
		w := bufio.NewWriterSize(c.temp, 1<<18)
		for _, id := range ids {
			if err := c.one(out, w, id, limit); err != nil {
				return err
			}
		}
		return w.Flush()
	})
	if err != nil {
		return nil, errors.Join(err, c.temp.Close())
	}
	return c, nil
}

// batch has git print objects, one after the other, and read read them.
func (t *Trees) batch(ctx context.Context, ids []string, read func(*bufio.Reader) error) error {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := t.Repo.Run(ctx, git.Call{Args: []string{"cat-file", "--batch", "--buffer"}, In: strings.NewReader(strings.Join(ids, "\n") + "\n"), Out: w})
		w.CloseWithError(either(err, io.EOF))
		done <- err
	}()
	err := read(bufio.NewReaderSize(r, 1<<18))
	if err != nil {
		cancel() // git has more to say, which nobody reads
	}
	r.CloseWithError(either(err, io.EOF))
	ran := <-done
	if err != nil {
		return err
	}
	return ran
}

// either returns the first that is one.
func either(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// one takes a content over, as git cat-file --batch prints it.
func (c *contents) one(r *bufio.Reader, w io.Writer, id string, limit int64) error {
	size, err := readHead(r, id)
	if err != nil {
		return err
	}
	if c.size+size > limit {
		return fmt.Errorf("the commit's files have more than %d bytes: work in a smaller repository: %w", limit, pawl.ErrInvalid)
	}
	if _, err := io.CopyN(w, r, size); err != nil {
		return err
	}
	if _, err := r.Discard(1); err != nil { // a newline
		return err
	}
	c.at[id] = part{c.size, size}
	c.size += size
	return nil
}

// readHead reads what git says before a content.
func readHead(r *bufio.Reader, id string) (size int64, err error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	head = strings.TrimSuffix(head, "\n")
	if head == id+" missing" {
		return 0, fmt.Errorf("the repository lacks the content %s: if it is a partial clone, fetch all of it ('git fetch --refetch --no-filter'): %w", id, pawl.ErrNotFound)
	}
	text, ok := strings.CutPrefix(head, id+" blob ")
	if size, err = strconv.ParseInt(text, 10, 64); !ok || err != nil {
		return 0, fmt.Errorf("git says %.100q of the content %s: %w", head, id, pawl.ErrInvalid)
	}
	return size, nil
}

// read returns a content, in the buffer if it fits.
func (c *contents) read(id string, buffer []byte) ([]byte, error) {
	p, ok := c.at[id]
	if !ok {
		return nil, fmt.Errorf("the content %s was not fetched", id)
	}
	if int64(len(buffer)) < p.size {
		buffer = make([]byte, p.size)
	}
	_, err := c.temp.ReadAt(buffer[:p.size], p.from)
	return buffer[:p.size], err
}

func (c *contents) close() { _ = c.temp.Close() } // it has no name: that was all of it
