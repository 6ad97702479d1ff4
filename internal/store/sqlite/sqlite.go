// Package sqlite keeps the logs in one SQLite file, with blobs as files beside
// it. Any number of processes may use the file at once.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"

	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/migrate"
)

var _ store.Store = (*Store)(nil)

// Store is a [store.Store] on one file.
type Store struct {
	write   *writer
	read    *reader
	blobDir string
}

// busyTimeout is how long a process waits that finds the file locked.
const busyTimeout = 10 * time.Second

// The settings of every connection. On synchronous see [writer]. fullfsync
// matters on macOS, where fsync alone leaves data in the drive's cache.
var pragmas = []string{
	fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
	"foreign_keys(1)",
	"fullfsync(1)",
	"journal_mode(wal)",
	"journal_size_limit(67108864)",
	"synchronous(full)",
}

// readConnections bounds how many reads go on at once.
const readConnections = 4

// Open opens the store at path and creates it, with its directory, if it does not exist.
// Both are for the user's eyes only.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, classify(err))
	}
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := lockByDescription(); err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	w, err := openWriter(ctx, dsn(path))
	if err != nil {
		return nil, err
	}
	if err := migrate.Up(ctx, w, migrations); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	r, err := openReader(ctx, dsn(path, "query_only(1)"))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return &Store{write: w, read: r, blobDir: filepath.Join(filepath.Dir(path), "blobs")}, nil
}

// Close ends the store. The writer goes last: the last connection to a file
// folds the write-ahead log into it, which a reader may not.
func (s *Store) Close() error {
	if err := errors.Join(s.read.close(), s.write.close()); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// lockByDescription makes SQLite's file locks survive that other code of this
// process opens and closes the database file, as a tool that greps a directory
// does. POSIX locks would be lost, and another process could then take the file
// for unused and drop its write-ahead log.
var lockByDescription = sync.OnceValue(func() error {
	_, err := sqlite.OFDLocking(true)
	if errors.Is(err, sqlite.ErrOFDLockingUnavailable) {
		return nil // only Linux has them
	}
	return err
})

var creating sync.Mutex

// create makes an empty file with the permissions that SQLite then gives to the
// files beside it too. An existing file is left alone: where locks are POSIX
// locks, closing it would drop those of its users in this process. That is also
// why only one caller may be here at a time.
func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return f.Close()
}

// dsn names the file to the driver, with the settings of its connections.
func dsn(path string, more ...string) string {
	params := url.Values{"_pragma": append(more, pragmas...)}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params.Encode()}
	return file.String()
}

// openDB opens a pool of at most n connections, which stay open.
func openDB(dsn string, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}
