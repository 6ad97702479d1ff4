package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// writer is the one connection of this process that writes. Writers of other
// processes wait at BEGIN IMMEDIATE.
//
// A commit with [pawl.NeedsSync] events is on the disk before Append returns
// (synchronous = FULL): the start of a call must outlive even a power cut, or
// the call could run twice. Each costs an fsync, 0.1 to 0.7 ms on a cloud disk.
// Other commits (NORMAL) outlive a crash of pawl, and reach the disk with the
// next lasting one, whose fsync is of the whole write-ahead log.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	turn chan struct{} // held by whoever uses conn

	mu      sync.Mutex
	waiting []*job

	durable bool // what synchronous is set to

	begin, commit, rollback *sql.Stmt
	save, keep, undo        *sql.Stmt
	create, change, advance *sql.Stmt
	insert, use             *sql.Stmt
	open                    []*sql.Stmt // all of these
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

// connect opens a connection. When several processes open a new file at once,
// all want to set journal_mode, and SQLite turns the losers away without the
// wait that busy_timeout asks for: so we wait.
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

// close waits for the transaction that is under way. Its statements go first:
// SQLite folds the write-ahead log into the file only when the last connection
// closes with none open.
func (w *writer) close() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	var errs []error
	for _, stmt := range w.open {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}
