// Package migrate runs schema migrations from numbered SQL files.
package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Migration is one numbered SQL file.
type Migration struct {
	Version int // from 1
	Name    string
	SQL     string
}

// Database is a database whose schema can be migrated.
type Database interface {
	// Version returns the number of the newest migration that was applied, 0 for a
	// new database.
	Version(ctx context.Context) (int, error)

	// Apply runs m and records its version in one transaction that locks out other
	// processes. It does nothing if another process has applied m already.
	Apply(ctx context.Context, m Migration) error
}

// Up applies the missing migrations. On a database that is up to date it only reads
// the version. It returns an error for a database that a newer version of Pawl has
// migrated, whose schema this version does not know.
func Up(ctx context.Context, db Database, files fs.FS) error {
	all, err := load(files)
	if err != nil {
		return err
	}
	for {
		version, err := db.Version(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("read schema version: %w", err)
		case version == len(all):
			return nil
		case version > len(all):
			return fmt.Errorf("the database has schema version %d, but this version of Pawl supports %d at most: upgrade Pawl", version, len(all))
		}
		m := all[version]
		if err := db.Apply(ctx, m); err != nil {
			return fmt.Errorf("migrate to %s: %w", m.Name, err)
		}
	}
}

// load reads migrations/0001_name.sql, 0002_name.sql, …
func load(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var all []Migration
	for i, name := range names { // Glob sorts
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		if !strings.HasPrefix(path.Base(name), fmt.Sprintf("%04d_", i+1)) {
			return nil, fmt.Errorf("migration %s is not number %d: migrations are numbered consecutively", name, i+1)
		}
		all = append(all, Migration{i + 1, name, string(text)})
	}
	return all, nil
}
