package redact

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// Store masks pawl's own keys in everything that is written to the underlying store.
// Writers get the masked events back and continue with those.
//
// It masks added values only, because a person may have to give a credential to the
// model; credentials of known formats are masked in tool results.
type Store struct {
	store.Store
	r *Redactor
}

var _ store.Store = (*Store)(nil)

// NewStore returns a Store that writes to st.
func NewStore(st store.Store, r *Redactor) *Store { return &Store{st, r} }

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	masked, err := s.mask(events)
	if err != nil {
		return nil, fmt.Errorf("append to %s: %w", id, err)
	}
	return s.Store.Append(ctx, id, after, masked...)
}

// Begin implements [store.Store].
func (s *Store) Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error) {
	masked, err := s.mask(events)
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", id, err)
	}
	return s.Store.Begin(ctx, id, func(yield func(io.Reader, error) bool) {
		for in, err := range blobs {
			if err == nil {
				in = s.r.knownReader(in)
			}
			if !yield(in, err) {
				return
			}
		}
	}, masked...)
}

// mask masks the added values in events.
func (s *Store) mask(events []pawl.Event) ([]pawl.Event, error) {
	if s.r.table().known.empty() {
		return events, nil
	}
	masked, all := make([]pawl.Event, len(events)), &masker{mask: s.r.Known}
	for i, e := range events {
		var err error
		if masked[i], err = all.event(e); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "%w", err)
		}
	}
	return masked, nil
}

// SaveDraft implements [store.Store]. A draft may end within a key: its beginning is
// masked as well.
func (s *Store) SaveDraft(ctx context.Context, id pawl.SessionID, d pawl.Draft) error {
	d.Text, d.Reasoning = s.r.knownSoFar(d.Text), s.r.knownSoFar(d.Reasoning)
	return s.Store.SaveDraft(ctx, id, d)
}

// knownSoFar is Known for a text that may continue.
func (r *Redactor) knownSoFar(s string) string {
	hits, decided := r.table().known.find(text{s, false}, 0)
	if len(s)-decided >= leastKnown {
		hits = append(hits, hit{span{decided, len(s)}, mask("")})
	}
	if len(hits) == 0 {
		return s
	}
	return string(apply(nil, s, 0, len(s), hits))
}

// PutBlob implements [store.Blobs].
func (s *Store) PutBlob(ctx context.Context, id pawl.SessionID, in io.Reader) (pawl.Blob, error) {
	return s.Store.PutBlob(ctx, id, s.r.knownReader(in))
}

// Blobs returns a store that masks blobs as Redact does, for large tool results.
func (r *Redactor) Blobs(b store.Blobs) store.Blobs { return &blobs{b, r} }

type blobs struct {
	store.Blobs
	r *Redactor
}

func (b *blobs) PutBlob(ctx context.Context, id pawl.SessionID, in io.Reader) (pawl.Blob, error) {
	return b.Blobs.PutBlob(ctx, id, b.r.Reader(in))
}
