package postgres

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

var _ fleet.HostRegistry = (*Store)(nil)

// liveFor is how long a host counts as live after a heartbeat, unless SetHostTimeout
// was called. The clock is the database server's, the only one that all hosts share.
const liveFor = 6 * time.Second

// SetHostTimeout sets the time without heartbeats after which a host is lost. A host
// sends five heartbeats in that time and counts as live for three of them. Call it
// before the store is used.
func (s *Store) SetHostTimeout(d time.Duration) { s.live = d * 3 / 5 }

// usable selects the hosts that can hold a workspace, without the one that the caller
// knows to be lost.
const usable = `SELECT name FROM hosts
	WHERE seen > now() - @live::interval AND NOT is_full AND NOT draining AND NOT drain AND capacity > 0 AND name <> @lost`

// place assigns a directory to the usable host with the most free capacity, unless it
// is on a usable host already because another caller was faster. Workspaces placed
// since a host's last heartbeat count as busy, or everything between two heartbeats
// would go to the same host. An epoch is never used twice, not even for a directory
// that was dropped meanwhile; a directory that moves gets a later epoch, since
// nextval runs while its row is locked.
const place = `INSERT INTO workspaces AS w (dir, tenant, host, epoch, born, placed)
	SELECT @dir, @tenant, chosen.name, e.next, e.next, now()
	FROM (SELECT name FROM hosts h,
			LATERAL (SELECT count(*) AS n FROM workspaces p WHERE p.host = h.name AND p.placed >= h.seen) given
		WHERE name IN (` + usable + `)
		ORDER BY (busy + given.n)::float / capacity, kept + given.n, random() LIMIT 1) chosen,
		LATERAL (SELECT nextval('workspace_epochs') AS next) e
	ON CONFLICT (dir) DO UPDATE SET host = excluded.host, epoch = nextval('workspace_epochs'), placed = now()
	WHERE w.tenant = excluded.tenant AND w.host NOT IN (` + usable + `)
	RETURNING ` + workspaceColumns

const workspaceColumns = `dir, tenant, source, host, epoch, born, checkpoint, size, saved`

const selectWorkspace = `SELECT ` + workspaceColumns + ` FROM workspaces `

func scanWorkspace(row pgx.CollectableRow) (w fleet.Workspace, err error) {
	var saved *time.Time
	err = row.Scan(&w.Dir, &w.Tenant, &w.Source, &w.Host, &w.Epoch, &w.Born, &w.Checkpoint, &w.Size, &saved)
	if saved != nil {
		w.Saved = saved.UTC()
	}
	return w, err
}

// placeTries is the maximum number of attempts to place a directory whose host
// becomes unusable during the attempt.
const placeTries = 5

// Place implements [fleet.HostRegistry]. In the usual case, in which the directory
// stays where it is, it only reads.
func (s *Store) Place(ctx context.Context, dir, lost string) (fleet.Workspace, error) {
	w, err := s.place(ctx, dir, lost)
	if err != nil {
		return fleet.Workspace{}, fmt.Errorf("place %s: %w", dir, classify(err))
	}
	return w, nil
}

func (s *Store) place(ctx context.Context, dir, lost string) (fleet.Workspace, error) {
	if err := validRow(dir, lost); err != nil {
		return fleet.Workspace{}, err
	}
	args := pgx.StrictNamedArgs{"dir": dir, "tenant": string(store.TenantOf(ctx)), "lost": lost, "live": s.live}
	for range placeTries {
		for _, statement := range []string{selectWorkspace + `WHERE dir = @dir AND tenant = @tenant AND host IN (` + usable + `)`, place} {
			rows, _ := s.pool.Query(ctx, statement, args) // CollectExactlyOneRow returns its error
			w, err := pgx.CollectExactlyOneRow(rows, scanWorkspace)
			if !errors.Is(err, pgx.ErrNoRows) {
				return w, err
			}
		}
		if err := s.placeable(ctx, dir, lost); err != nil {
			return fleet.Workspace{}, err
		}
	}
	return fleet.Workspace{}, fault.New(pawl.ErrUnavailable, "the hosts keep changing")
}

// placeable returns why a directory could not be placed, or nil if the hosts changed
// during the attempt, so that another one may succeed.
func (s *Store) placeable(ctx context.Context, dir, lost string) error {
	var hosts, others int
	err := s.pool.QueryRow(forAll(ctx), `SELECT (SELECT count(*) FROM (`+usable+`) u), (SELECT count(*) FROM workspaces WHERE dir = @dir AND tenant <> @tenant)`,
		pgx.StrictNamedArgs{"dir": dir, "tenant": string(store.TenantOf(ctx)), "lost": lost, "live": s.live}).Scan(&hosts, &others)
	switch {
	case err != nil:
		return err
	case others > 0:
		return errOthers
	case hosts == 0:
		return fault.New(pawl.ErrUnavailable, "no live host has capacity: start a worker, or check the hosts of the fleet")
	}
	return nil
}

// errOthers reports that the directory belongs to another tenant.
var errOthers = fault.New(pawl.ErrConflict, "the directory belongs to another tenant")

// validRow returns ErrInvalid for a directory that is not a clean absolute path, and
// for texts that PostgreSQL cannot store.
func validRow(dir string, texts ...string) error {
	if !path.IsAbs(dir) || path.Clean(dir) != dir {
		return fault.New(pawl.ErrInvalid, "%.200q is not a clean absolute path", dir)
	}
	return validTexts(append(texts, dir)...)
}

func validTexts(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fault.New(pawl.ErrInvalid, "%.200q is not valid text", text)
		}
	}
	return nil
}

// Declare implements [fleet.HostRegistry].
func (s *Store) Declare(ctx context.Context, dir, source string) error {
	return s.change(ctx, "declare", `INSERT INTO workspaces AS w (dir, tenant, source, born) VALUES ($1, $2, $3, nextval('workspace_epochs'))
		ON CONFLICT (dir) DO UPDATE SET source = w.source WHERE w.tenant = excluded.tenant AND w.source = excluded.source`,
		"the workspace already exists with another source", dir, source)
}

// Offer implements [fleet.HostRegistry].
func (s *Store) Offer(ctx context.Context, dir, checkpoint string, size int64) error {
	return s.change(ctx, "offer", `INSERT INTO workspaces AS w (dir, tenant, checkpoint, size, saved, born) VALUES ($1, $2, $3, $4, now(), nextval('workspace_epochs'))
		ON CONFLICT (dir) DO UPDATE SET checkpoint = excluded.checkpoint, size = excluded.size, saved = excluded.saved
		WHERE w.tenant = excluded.tenant AND w.epoch = 0`,
		"a host already has it", dir, checkpoint, size)
}

// Saved implements [fleet.HostRegistry].
func (s *Store) Saved(ctx context.Context, dir string, epoch int64, checkpoint string, size int64) error {
	return s.change(ctx, "save", `UPDATE workspaces SET checkpoint = $4, size = $5, saved = now() WHERE dir = $1 AND tenant = $2 AND epoch = $3`,
		fmt.Sprintf("epoch %d has ended", epoch), dir, epoch, checkpoint, size)
}

// Allow implements [fleet.HostRegistry].
func (s *Store) Allow(ctx context.Context, dir string, epoch int64, text string) error {
	return s.change(ctx, "allow", `UPDATE workspaces SET allowed = $4 WHERE dir = $1 AND tenant = $2 AND epoch = $3`,
		fmt.Sprintf("epoch %d has ended", epoch), dir, epoch, text)
}

// Allowed implements [fleet.HostRegistry].
func (s *Store) Allowed(ctx context.Context, dir string) (text string, err error) {
	if err = validRow(dir); err == nil {
		err = s.pool.QueryRow(ctx, `SELECT allowed FROM workspaces WHERE dir = $1 AND tenant = $2`, dir, string(store.TenantOf(ctx))).Scan(&text)
	}
	if err != nil {
		return "", fmt.Errorf("read the saved answers of %s: %w", dir, classify(err))
	}
	return text, nil
}

// Vacate implements [fleet.HostRegistry].
func (s *Store) Vacate(ctx context.Context, dir string, epoch int64) error {
	return s.change(ctx, "vacate", `UPDATE workspaces SET host = '' WHERE dir = $1 AND tenant = $2 AND epoch = $3`, "", dir, epoch)
}

// Drop implements [fleet.HostRegistry].
func (s *Store) Drop(ctx context.Context, dir string) error {
	return s.change(ctx, "drop", `DELETE FROM workspaces WHERE dir = $1 AND tenant = $2`, "", dir)
}

// change writes a directory's row: $1 is the directory, $2 the tenant. If no row
// changed, it returns ErrConflict with the given reason; without a reason, that is no
// error.
func (s *Store) change(ctx context.Context, verb, statement, conflict, dir string, args ...any) error {
	texts := []string{}
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			texts = append(texts, text)
		}
	}
	err := validRow(dir, texts...)
	if err == nil {
		var changed int64
		changed, err = s.changed(ctx, statement, append([]any{dir, string(store.TenantOf(ctx))}, args...)...)
		if err == nil && changed == 0 && conflict != "" {
			err = fault.New(pawl.ErrConflict, "%s", conflict)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, dir, classify(err))
	}
	return nil
}

func (s *Store) changed(ctx context.Context, statement string, args ...any) (int64, error) {
	tag, err := s.pool.Exec(ctx, statement, args...)
	return tag.RowsAffected(), err
}

// Workspace implements [fleet.HostRegistry].
func (s *Store) Workspace(ctx context.Context, dir string) (fleet.Workspace, error) {
	err := validRow(dir)
	var w fleet.Workspace
	if err == nil {
		rows, _ := s.pool.Query(ctx, selectWorkspace+`WHERE dir = $1 AND tenant = $2`, dir, string(store.TenantOf(ctx)))
		w, err = pgx.CollectExactlyOneRow(rows, scanWorkspace)
	}
	if err != nil {
		return fleet.Workspace{}, fmt.Errorf("find workspace %s: %w", dir, classify(err))
	}
	return w, nil
}

// Workspaces implements [fleet.HostRegistry].
func (s *Store) Workspaces(ctx context.Context, host string) ([]fleet.Workspace, error) {
	err := validTexts(host)
	var all []fleet.Workspace
	if err == nil {
		rows, _ := s.pool.Query(forAll(ctx), selectWorkspace+`WHERE host = $1 AND host <> '' ORDER BY dir`, host)
		all, err = pgx.CollectRows(rows, scanWorkspace)
	}
	if err != nil {
		return nil, fmt.Errorf("list the workspaces of %s: %w", host, classify(err))
	}
	return all, nil
}
