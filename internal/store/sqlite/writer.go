package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// writer is the only connection of this process that writes. Writers of other
// processes wait at BEGIN IMMEDIATE.
//
// A commit with [store.NeedsSync] events is fsynced before Append returns
// (synchronous = FULL): the start of a call must survive even a power failure, or the
// call could run twice. That costs an fsync per commit, 0.1 to 0.7 ms on a cloud
// disk. Other commits (NORMAL) survive a crash of Pawl and reach the disk with the
// next fsync, which covers the whole write-ahead log.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	turn chan struct{} // a lock: held while conn is in use

	mu      sync.Mutex
	waiting []*job

	durable bool // whether synchronous is FULL

	begin, commit, rollback *sql.Stmt
	save, keep, undo        *sql.Stmt
	create, change, advance *sql.Stmt
	insert, use             *sql.Stmt
	text, words             *sql.Stmt
	open                    []*sql.Stmt // all of them, for close
}

func openWriter(ctx context.Context, dsn string) (*writer, error) {
	db, err := openDB(dsn, 1)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	w := &writer{db: db, conn: conn, turn: make(chan struct{}, 1), durable: true}
	err = w.prepareAll(ctx, map[**sql.Stmt]string{
		&w.begin:    "BEGIN IMMEDIATE",
		&w.commit:   "COMMIT",
		&w.rollback: "ROLLBACK",
		&w.save:     "SAVEPOINT job",
		&w.keep:     "RELEASE job",
		&w.undo:     "ROLLBACK TO job",
	})
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// connect opens a connection. When several processes open a new file at once, all set
// journal_mode, and SQLite returns SQLITE_BUSY to the losers without waiting for
// busy_timeout, so connect retries.
func connect(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		conn, err := db.Conn(ctx)
		if !isBusy(err) {
			return conn, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// prepare compiles the statements of [Store.Append], which need the schema.
func (w *writer) prepare(ctx context.Context) error {
	return w.prepareAll(ctx, map[**sql.Stmt]string{
		&w.create:  createSession,
		&w.change:  changeSession,
		&w.advance: advanceSession,
		&w.insert:  insertEvent,
		&w.use:     addUsage,
		&w.text:    insertText,
		&w.words:   insertWords,
	})
}

func (w *writer) prepareAll(ctx context.Context, texts map[**sql.Stmt]string) (err error) {
	for stmt, text := range texts {
		if *stmt, err = w.conn.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // closed by close
			return err
		}
		w.open = append(w.open, *stmt)
	}
	return nil
}

// close waits for the current transaction. It closes the statements first: SQLite
// checkpoints the write-ahead log only when the last connection closes without open
// statements.
func (w *writer) close() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	var errs []error
	for _, stmt := range w.open {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}
