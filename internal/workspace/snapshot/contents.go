package snapshot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

// contents holds the blobs to restore, in an unlinked temporary file.
type contents struct {
	temp *os.File
	at   map[oid]part
	size int64
}

// part is the position of a blob in the temporary file.
type part struct{ from, size int64 }

// fetch reads all blobs that the files need from git, and verifies each against its
// id.
func (c *contents) fetch(ctx context.Context, f *folder, todo []*Restore) (err error) {
	var in strings.Builder
	var ids []oid
	c.at = map[oid]part{}
	for _, r := range todo {
		if _, known := c.at[r.want.id]; !known && r.want.covered() {
			c.at[r.want.id] = part{}
			ids = append(ids, r.want.id)
			in.WriteString(r.want.id.String() + "\n")
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if c.temp, err = os.CreateTemp(f.at, "temp-*"); err != nil {
		return err
	}
	if err := os.Remove(c.temp.Name()); err != nil {
		return err
	}
	err = f.repo.Run(ctx, git.OwnCall{Args: []string{"cat-file", "--batch"}, In: strings.NewReader(in.String()), Hold: f.file, Out: func(out io.Reader) error {
		r := bufio.NewReaderSize(out, 1<<16)
		for _, id := range ids {
			if err := c.one(r, id); err != nil {
				return f.broken(err)
			}
		}
		return nil
	}})
	var broken *Broken
	if errors.As(err, &broken) && ctx.Err() == nil {
		return f.missing(broken, todo)
	}
	return err
}

// missing returns a *LostError if content is missing because its snapshot was
// deleted, else broken.
func (f *folder) missing(broken *Broken, todo []*Restore) error {
	for _, r := range todo {
		if !f.held(r.origin) {
			return &LostError{ID: r.origin, Dir: f.dir}
		}
	}
	return broken
}

// one reads one blob in the output format of git cat-file --batch.
func (c *contents) one(r *bufio.Reader, id oid) error {
	head, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	text, ok := strings.CutPrefix(strings.TrimSuffix(head, "\n"), id.String()+" blob ")
	size, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("unexpected output of git: %.100q", head)
	}
	data, err := readSized(io.LimitReader(r, size), size, size)
	if err != nil {
		return err
	}
	if idOf(kindBlob, data) != id {
		return fmt.Errorf("content %s does not match its id", id)
	}
	if _, err := r.Discard(1); err != nil { // a newline
		return err
	}
	if _, err := c.temp.Write(data); err != nil {
		return err
	}
	c.at[id] = part{c.size, size}
	c.size += size
	return nil
}

// open returns a reader of a fetched blob.
func (c *contents) open(id oid) (io.Reader, error) {
	p, ok := c.at[id]
	if !ok || c.temp == nil {
		return nil, fmt.Errorf("content %s was not fetched", id)
	}
	return io.NewSectionReader(c.temp, p.from, p.size), nil
}

func (c *contents) close() {
	if c.temp != nil {
		_ = c.temp.Close() // it is unlinked: closing deletes it
	}
}
