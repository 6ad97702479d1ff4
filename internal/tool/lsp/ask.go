package lsp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// The limits of pull diagnostics.
const (
	asksAtOnce = 4
	askRounds  = 10 // a server may invalidate its answers
	askOthers  = openDocs
)

// Error codes by which a server says that it has not processed a request.
const (
	codeServerCancelled = -32802
	codeContentModified = -32801
)

// ask requests the diagnostics of each document of the question until the
// answers are valid: it repeats requests if the server is working or
// invalidates its answers. able is false if the server does not support such
// requests after all.
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

// settled waits until the server is silent after its answers. It reports
// whether that happened and whether the answers are valid: the server may have
// been working when it gave them, or have invalidated them.
func (s *server) settled(ctx context.Context, q question, revision int) (hold, quiet bool) {
	answered := time.Now()
	quiet = s.until(ctx, func(now time.Time) time.Duration {
		switch {
		case len(s.work) > 0:
			return newsOnly
		case s.revision != revision:
			return 0
		}
		return s.spec.settleTime() - now.Sub(latest(answered, s.newsAt)) // the server may be about to start working
	}, func() { hold = s.revision == revision })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(q) // even if it is working on something else: the answers are for this version
	return hold, quiet
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// askAround requests the diagnostics of other files that the change may have
// broken, as many as a short time allows.
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
	_ = s.askEach(ctx, others[:min(len(others), askOthers)]) // partial results are useful: ignore the error
}

// askEach requests the diagnostics of each file and returns the first error.
func (s *server) askEach(ctx context.Context, paths []string) error {
	var (
		group sync.WaitGroup
		once  sync.Once
		first error
		slots = make(chan struct{}, asksAtOnce)
	)
	for _, path := range paths {
		slots <- struct{}{} // released at the latest when ctx ends
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

// askOne requests the diagnostics of one file and stores the answer.
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
	s.wake()
}
