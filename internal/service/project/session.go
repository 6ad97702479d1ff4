package project

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// sessionFiles is what may be read of the files of a session: what its read tool may read without asking.
type sessionFiles struct {
	policy permission.Policy
	dir    string // the working directory as the session names it
}

// session returns what may be read of a session's files. It returns an error if they are not in sight of
// this process.
func (d *Local) session(ctx context.Context, id pawl.SessionID) (s sessionFiles, err error) {
	row, err := d.Store.Session(ctx, id)
	if err != nil {
		return s, err
	}
	if d.Sessions.Policy == nil {
		return s, fault.New(pawl.ErrUnavailable, "the files of sessions are not available on this server")
	}
	if d.Sessions.Sees != nil {
		if err := d.Sessions.Sees(id); err != nil {
			return s, err
		}
	}
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] { return d.Store.Events(ctx, id, after) })
	if err != nil {
		return s, err
	}
	s.dir = row.Dir
	if s.policy, err = d.Sessions.Policy(ctx, id, row.Dir, h.Settings()); err != nil {
		return s, fmt.Errorf("read the permissions of the session: %w", err)
	}
	return s, nil
}

// path returns a path, absolute or relative to the working directory, as the session names it. It is an
// error if it is not in one of the session's directories.
func (s sessionFiles) path(path string) (string, error) {
	rel, err := workspace.Rel(s.dir, path, s.policy.Dirs...)
	if err != nil {
		return "", fault.New(pawl.ErrInvalid, "%.200q is not a path in the directories of the session", path)
	}
	return rel, nil
}

// readAllowed reports whether the session's read tool may read a path without asking. A path that leads
// through symbolic links is checked by both of its names.
func (s sessionFiles) readAllowed(path string) bool { return readAllowed(s.policy, path) }

func readAllowed(policy permission.Policy, path string) bool {
	real, err := workspace.Real(policy.Dir, path)
	if err != nil {
		return false
	}
	accesses := []pawl.Access{{Kind: pawl.AccessRead, Target: path}, {Kind: pawl.AccessRead, Target: real}}
	return permission.Decide(policy, permission.Call{Tool: "read", Risk: toolapi.RiskSafe, Access: accesses}).Decision == permission.Allow
}
