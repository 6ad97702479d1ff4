// Package sqlite stores session logs in one SQLite file, with blobs as files next to
// it. Any number of processes can use the file at the same time.
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

// Store implements [store.Store] with one SQLite file.
type Store struct {
	write   *writer
	read    *reader
	blobDir string
}

// busyTimeout is how long to wait for a locked file.
const busyTimeout = 10 * time.Second

// Settings of every connection. For synchronous see [writer]. fullfsync matters on
// macOS, where fsync alone leaves data in the drive's cache.
var pragmas = []string{
	fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
	"foreign_keys(1)",
	"fullfsync(1)",
	"journal_mode(wal)",
	"journal_size_limit(67108864)",
	"synchronous(full)",
}

// readConnections is the maximum number of concurrent reads.
const readConnections = 4

// Open opens the store at path. It creates the file and its directory if they do not
// exist, readable only by the user.
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

// Close closes the store. The writer is closed last: the last connection to a file
// checkpoints the write-ahead log, which a read-only connection cannot do.
func (s *Store) Close() error {
	if err := errors.Join(s.read.close(), s.write.close()); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// lockByDescription switches SQLite to open file description (OFD) locks. A process
// loses its POSIX locks on a file as soon as any of its code closes that file, as a
// tool that greps the directory does. Another process could then take the file for
// unused and delete its write-ahead log.
var lockByDescription = sync.OnceValue(func() error {
	_, err := sqlite.OFDLocking(true)
	if errors.Is(err, sqlite.ErrOFDLockingUnavailable) {
		return nil // only Linux has OFD locks
	}
	return err
})

var creating sync.Mutex

// create creates an empty file with mode 0600, which SQLite copies to the files next
// to it. It does not open an existing file: with POSIX locks, closing it would
// release the locks of its other users in this process. For the same reason only one
// goroutine may run create at a time.
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

// dsn returns the data source name of the file, with the settings of its connections.
func dsn(path string, more ...string) string {
	params := url.Values{"_pragma": append(more, pragmas...)}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params.Encode()}
	return file.String()
}

// openDB opens a pool of at most n connections, which are kept open.
func openDB(dsn string, n int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}
