package checkpoint

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	maxPacks = 64 // number of packs from which on small ones are merged
	large    = 8  // a pack is large if it has more than 1/large of all bytes
)

// location is the location of a content.
type location struct {
	pack   string
	offset int64
}

// packer writes contents one after another to a new pack, which it creates with the first one. They are stored
// once finish has returned.
type packer struct {
	store *Store
	key   string

	id   string
	size int64
	sent int64
	out  *zstd.Encoder
	pipe *io.PipeWriter
	done chan error
}

// Write appends to the pack.
func (p *packer) Write(data []byte) (int, error) {
	n, err := p.out.Write(data)
	p.size += int64(n)
	return n, err
}

// begin returns the location of the next content.
func (p *packer) begin(ctx context.Context) (location, error) {
	if p.out != nil {
		return location{p.id, p.size}, nil
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	p.id = hex.EncodeToString(id[:])
	r, w := io.Pipe()
	out, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return location{}, err
	}
	p.out, p.pipe, p.done = out, w, make(chan error, 1)
	go func() {
		err := p.store.Blobs.Put(ctx, packKey(p.key, p.id), &counter{r, &p.sent})
		if err == nil {
			err = io.ErrClosedPipe // for late writes
			_ = r.CloseWithError(err)
			p.done <- nil
			return
		}
		_ = r.CloseWithError(err)
		p.done <- err
	}()
	return location{p.id, 0}, nil
}

// finish waits until the pack is stored.
func (p *packer) finish() error {
	if p.out == nil {
		return nil
	}
	err := p.out.Close()
	_ = p.pipe.CloseWithError(err) // nil means EOF
	if put := <-p.done; put != nil {
		err = put
	}
	p.out = nil
	return err
}

// abort discards the pack.
func (p *packer) abort() {
	if p.out == nil {
		return
	}
	_ = p.pipe.CloseWithError(errors.New("the checkpoint was canceled"))
	<-p.done
	_ = p.out.Close() // its output is closed
	p.out = nil
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n *int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// repack returns the packs whose contents should be repacked: those that are mostly unused and, if there are many
// packs, the small ones.
func (s *state) repack() map[string]bool {
	used, total := map[string]int64{}, int64(0)
	counted := map[location]bool{}
	for _, e := range s.Entries {
		if at := (location{e.Pack, e.Offset}); e.Pack != "" && !counted[at] {
			counted[at] = true
			used[e.Pack] += e.Size
			total += e.Size
		}
	}
	repack := map[string]bool{}
	for id, size := range s.Packs {
		if used[id] < size/2 || len(s.Packs) >= maxPacks && size <= total/large {
			repack[id] = true
		}
	}
	return repack
}
