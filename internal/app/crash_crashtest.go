//go:build crashtest

package app

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// instrument makes the process kill itself with SIGKILL at the append that PAWL_CRASH selects:
// "before:7" means just before the seventh append, "after:7" just after it. It also writes the
// events listed in PAWL_INJECT, as if other processes had written them.
func instrument(st store.Store) store.Store {
	s := &crashStore{Store: st}
	if at := os.Getenv("PAWL_CRASH"); at != "" {
		var err error
		if s.after, err = parseCrash(at, &s.at); err != nil {
			panic(err)
		}
	}
	if list := os.Getenv("PAWL_INJECT"); list != "" {
		return &injectingStore{Store: s, injections: parseInjections(list), wrote: map[pawl.Seq]bool{}}
	}
	return s
}

func parseCrash(text string, at *int64) (after bool, err error) {
	if _, err = fmt.Sscanf(text, "before:%d", at); err == nil {
		return false, nil
	}
	_, err = fmt.Sscanf(text, "after:%d", at)
	return true, err
}

type crashStore struct {
	store.Store
	at      int64
	after   bool
	appends atomic.Int64
}

func (s *crashStore) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	defer s.crashPoint()()
	return s.Store.Append(ctx, id, after, events...)
}

// Begin counts as an append, and so does each of its blobs.
func (s *crashStore) Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error) {
	defer s.crashPoint()()
	return s.Store.Begin(ctx, id, func(yield func(io.Reader, error) bool) {
		for blob, err := range blobs {
			after := s.crashPoint()
			more := yield(blob, err)
			after()
			if !more {
				return
			}
		}
	}, events...)
}

// crashPoint is called before each append. The function that it returns is called after it.
func (s *crashStore) crashPoint() (after func()) {
	n := s.appends.Add(1)
	if n == s.at && !s.after {
		die()
	}
	return func() {
		if n == s.at && s.after {
			die()
		}
	}
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
