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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// contents holds blobs in an unlinked temporary file: they are read from the
// repository once, and then copied to each worktree.
type contents struct {
	temp *os.File
	at   map[string]part // by id
	size int64
}

// part is the position of a blob in the temporary file.
type part struct{ from, size int64 }

// fetch reads the blobs of entries from git. It fails if they have more than limit
// bytes in total.
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
	if err := os.Remove(c.temp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // Sweep may have removed it
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

// batch runs git cat-file --batch for ids and calls read with its output.
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
		cancel() // nothing reads the rest of git's output
	}
	r.CloseWithError(either(err, io.EOF))
	ran := <-done
	if err != nil {
		return err
	}
	return ran
}

// either returns err, or otherwise if err is nil.
func either(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// one copies one blob from the output of git cat-file --batch.
func (c *contents) one(r *bufio.Reader, w io.Writer, id string, limit int64) error {
	size, err := readHead(r, id)
	if err != nil {
		return err
	}
	if c.size+size > limit {
		return fault.New(pawl.ErrInvalid, "the files of the commit have more than %d bytes: use a smaller repository", limit)
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

// readHead reads the header line that git cat-file --batch prints before a blob.
func readHead(r *bufio.Reader, id string) (size int64, err error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	head = strings.TrimSuffix(head, "\n")
	if head == id+" missing" {
		return 0, fault.New(pawl.ErrNotFound, "git object %s is missing in the repository", id).Hint("If it is a partial clone, run `git fetch --refetch --no-filter`.")
	}
	text, ok := strings.CutPrefix(head, id+" blob ")
	if size, err = strconv.ParseInt(text, 10, 64); !ok || err != nil {
		return 0, fault.New(pawl.ErrInvalid, "unexpected output of git: %.100q for content %s", head, id)
	}
	return size, nil
}

// read returns a blob, in buffer if it fits.
func (c *contents) read(id string, buffer []byte) ([]byte, error) {
	p, ok := c.at[id]
	if !ok {
		return nil, fmt.Errorf("content %s was not fetched", id)
	}
	if int64(len(buffer)) < p.size {
		buffer = make([]byte, p.size)
	}
	_, err := c.temp.ReadAt(buffer[:p.size], p.from)
	return buffer[:p.size], err
}

func (c *contents) close() { _ = c.temp.Close() } // it is unlinked: closing deletes it
