package sqlite

import (
	"context"
	"errors"
	"slices"
)

// job is a unit of work that waits for a transaction.
type job struct {
	work    func(context.Context) error
	durable bool // it must be synced to disk before it is done
	err     error
	done    chan struct{} // closed when err is final
}

// maxJobs is the maximum number of jobs per commit.
const maxJobs = 128

// transaction runs work while no one else writes to the file, and commits if it
// returns nil. Jobs that wait at the same time share a commit and thus an fsync
// (group commit), so throughput does not depend on the latency of the disk.
//
// Canceling ctx has an effect only until the work begins, so that the caller always
// knows whether its write took place. The rest is short, and waiting for another
// process ends with busy_timeout.
func (w *writer) transaction(ctx context.Context, work func(context.Context) error) error {
	return w.wait(ctx, &job{work: work, durable: true, done: make(chan struct{})})
}

// passing is a transaction without fsync: a power failure may undo it.
func (w *writer) passing(ctx context.Context, work func(context.Context) error) error {
	return w.wait(ctx, &job{work: work, done: make(chan struct{})})
}

func (w *writer) wait(ctx context.Context, j *job) error {
	if err := errors.Join(ctx.Err(), single(ctx)); err != nil {
		return err
	}
	w.mu.Lock()
	w.waiting = append(w.waiting, j)
	w.mu.Unlock()
	for {
		select {
		case <-j.done:
			return j.err
		case w.turn <- struct{}{}: // the goroutine that gets the turn works for all that wait
			w.runWaiting(context.WithoutCancel(ctx))
			<-w.turn
		case <-ctx.Done():
			if w.withdraw(j) {
				return ctx.Err()
			}
			<-j.done
			return j.err
		}
	}
}

// withdraw removes a waiting job. It returns false if the job has begun.
func (w *writer) withdraw(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, j)
	if i < 0 {
		return false
	}
	w.waiting = slices.Delete(w.waiting, i, i+1)
	return true
}

// runWaiting runs the waiting jobs in one transaction, oldest first.
func (w *writer) runWaiting(ctx context.Context) {
	w.mu.Lock()
	n := min(len(w.waiting), maxJobs)
	jobs := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	w.mu.Unlock()
	if n == 0 {
		return // another goroutine ran them
	}
	if err := w.commitAll(ctx, jobs); err != nil {
		for _, j := range jobs {
			if j.err == nil {
				j.err = err
			}
		}
	}
	for _, j := range jobs {
		close(j.done)
	}
}

// commitAll runs the jobs and commits. A job that fails is rolled back alone; an
// error that commitAll returns applies to all of them.
func (w *writer) commitAll(ctx context.Context, jobs []*job) error {
	if err := w.setSynchronous(ctx, slices.ContainsFunc(jobs, func(j *job) bool { return j.durable })); err != nil {
		return err
	}
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	kept := 0
	err := func() error {
		for _, j := range jobs {
			if err := w.attempt(ctx, j, len(jobs) > 1); err != nil {
				return err
			}
			if j.err == nil {
				kept++
			}
		}
		if kept == 0 {
			return nil
		}
		_, err := w.commit.ExecContext(ctx)
		return err
	}()
	if err != nil || kept == 0 {
		_, undo := w.rollback.ExecContext(ctx)
		return errors.Join(err, undo)
	}
	return nil
}

// setSynchronous sets whether the next commits wait for fsync.
func (w *writer) setSynchronous(ctx context.Context, durable bool) error {
	if w.durable == durable {
		return nil
	}
	pragma := "PRAGMA synchronous = NORMAL"
	if durable {
		pragma = "PRAGMA synchronous = FULL"
	}
	if _, err := w.conn.ExecContext(ctx, pragma); err != nil { // not prepared: some pragmas take effect when they are compiled
		return err
	}
	w.durable = durable
	return nil
}

// attempt runs one job, with a savepoint if there are other jobs in the transaction,
// so that a failed job can be rolled back alone.
func (w *writer) attempt(ctx context.Context, j *job, among bool) error {
	if !among {
		j.err = j.work(ctx)
		return nil
	}
	if _, err := w.save.ExecContext(ctx); err != nil {
		return err
	}
	if j.err = j.work(ctx); j.err != nil {
		if _, err := w.undo.ExecContext(ctx); err != nil {
			return err
		}
	}
	_, err := w.keep.ExecContext(ctx)
	return err
}
