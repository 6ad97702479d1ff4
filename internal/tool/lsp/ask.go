package lsp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// The bounds of asking.
const (
	asksAtOnce = 4
	askRounds  = 10 // a server may take its answers back
	askOthers  = openDocs
)

// Codes by which a server says that it did not get to answer.
const (
	codeServerCancelled = -32802
	codeContentModified = -32801
)

// ask asks for the faults of each document of the question, until the answers
// hold: a server that is at work, or takes them back, is asked again. able is
// false if it does not answer such questions after all.
func (s *server) ask(ctx context.Context, q question) (whole, able bool) {
	for range askRounds {
		s.mu.Lock()
		revision := s.revision
		s.mu.Unlock()
		err := s.askEach(ctx, slices.Sorted(maps.Keys(q.docs)))
		var refusal *rpcError
		switch {
		case errors.As(err, &refusal) && (refusal.Code == codeServerCancelled || refusal.Code == codeContentModified):
			continue
		case errors.As(err, &refusal):
			return false, s.spec.TSServer
		case err != nil:
			return false, true
		}
		hold, quiet := s.settled(ctx, q, revision)
		if !quiet {
			return false, true
		}
		if hold {
			s.askAround(ctx, q)
			return true, true
		}
	}
	return false, true
}

// settled waits until the server is quiet after its answers, and reports whether
// it came to that and whether they hold: it may have been at work when it gave
// them, or have taken them back.
func (s *server) settled(ctx context.Context, q question, revision int) (hold, quiet bool) {
	answered := time.Now()
	quiet = s.until(ctx, func(now time.Time) time.Duration {
		switch {
		case len(s.work) > 0:
			return newsOnly
		case s.revision != revision:
			return 0
		}
		return settleTime - now.Sub(later(answered, s.newsAt)) // work may be about to begin
	}, func() { hold = s.revision == revision })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(q) // even if it is at work on more: what it said is said of this version
	return hold, quiet
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// askAround asks about other files that the change may have broken, as far as
// that goes in a short time.
func (s *server) askAround(ctx context.Context, q question) {
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	s.mu.Lock()
	all := s.spec.TSServer || s.pull != nil && s.pull.InterFile
	others := slices.Collect(maps.Keys(s.docs))
	for path, v := range s.verdicts {
		if len(v.pulled.list) > 0 {
			others = append(others, path)
		}
	}
	s.mu.Unlock()
	if !all {
		return
	}
	if s.spec.TSServer {
		others = append(others, s.importers(ctx, q)...)
	}
	others = slices.DeleteFunc(others, func(path string) bool {
		_, done := q.docs[path]
		return done
	})
	slices.Sort(others)
	others = slices.Compact(others)
	_ = s.askEach(ctx, others[:min(len(others), askOthers)]) // what is known now is known
}

// askEach asks about each of the files and returns the first error.
func (s *server) askEach(ctx context.Context, paths []string) error {
	var (
		group sync.WaitGroup
		once  sync.Once
		first error
		slots = make(chan struct{}, asksAtOnce)
	)
	for _, path := range paths {
		slots <- struct{}{} // given back at the latest when ctx ends
		group.Go(func() {
			defer func() { <-slots }()
			if err := s.askOne(ctx, path); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	group.Wait()
	return first
}

// askOne asks about one file and keeps the answer.
func (s *server) askOne(ctx context.Context, path string) error {
	if s.spec.TSServer {
		found, err := s.askTSServer(ctx, path)
		if err != nil {
			return err
		}
		s.pulled(map[string][]diagnostic{path: found})
		return nil
	}
	var report pullReport
	params := map[string]any{"textDocument": textDocument{URI: toURI(path)}}
	if err := s.conn.call(ctx, "textDocument/diagnostic", params, &report); err != nil {
		return err
	}
	found := map[string][]diagnostic{}
	for uri, r := range report.Related {
		if other := fromURI(uri); r.Kind != pullUnchanged && within(s.dir, other) && len(other) <= pathBytes {
			found[other] = r.Items
		}
	}
	if report.Kind != pullUnchanged {
		found[path] = report.Items
	}
	s.pulled(found)
	return nil
}

func (s *server) pulled(found map[string][]diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard()
	for path, list := range found {
		if v := s.verdict(path); v != nil {
			v.pulled = newFaults(list)
			s.forget(path)
		}
	}
	s.tell()
}
