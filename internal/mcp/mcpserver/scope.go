package mcpserver

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// reach returns the modes that a request may choose if the user has chosen
// mode; the first is mode itself. What guard and ask would ask the user, auto
// denies: so they are not stricter than auto, and a request cannot choose
// them. nil means an unknown mode.
func reach(mode string) []string {
	switch mode {
	case "plan":
		return []string{"plan"}
	case "ask":
		return []string{"ask", "plan"}
	case "guard":
		return []string{"guard", "ask", "plan"}
	case "auto":
		return []string{"auto", "plan"}
	case "yolo":
		return []string{"yolo", "auto", "guard", "ask", "plan"}
	default:
		return nil
	}
}

// settings returns the settings of a prompt: the user's, restricted by the
// request.
func (s *server) settings(in runInput) (pawl.Settings, error) {
	set := s.Settings
	set.Trusted = false // the user trusts projects one by one
	if modes := reach(set.Mode); in.Mode != "" && !slices.Contains(modes, in.Mode) {
		return set, fault.New(pawl.ErrDenied, "mode %.40q cannot be chosen by a request: use %s, or omit it; `pawl mcp serve --mode` sets a more permissive one", in.Mode, strings.Join(modes, ", "))
	}
	if in.Model != "" && in.Model != set.Model && !s.AnyModel {
		return set, fault.New(pawl.ErrDenied, "model %.80q cannot be chosen by a request: omit it; `pawl mcp serve --any-model` allows others", in.Model)
	}
	set.Mode = cmp.Or(in.Mode, set.Mode)
	set.Model = cmp.Or(in.Model, set.Model)
	set.Agent = cmp.Or(in.Agent, set.Agent)
	return set, nil
}

// directory returns the real path of a directory that a request names relative to
// the root. It returns an error for one that is neither the root nor below it,
// after resolving links.
func (s *server) directory(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Root, name)
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil && !s.within(filepath.Clean(name)) {
		err = nil // do not reveal whether it exists
	}
	switch {
	case err != nil:
		return "", fault.New(pawl.ErrInvalid, "invalid directory: %w", err)
	case !s.within(real):
		return "", fault.New(pawl.ErrDenied, "directory %.200q is not inside %s: use one that is, or start the server with another --dir", name, s.Root)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fault.New(pawl.ErrInvalid, "%.200q is not a directory", name)
	}
	return real, nil
}

// within reports whether a real path is the root or below it.
func (s *server) within(real string) bool {
	rel, err := filepath.Rel(s.Root, real)
	return err == nil && real != "" && filepath.IsLocal(rel)
}

// open returns a session below the root. For others it returns the same error
// as for sessions that do not exist.
func (s *server) open(ctx context.Context, id string) (pawl.Session, error) {
	none := fault.New(pawl.ErrNotFound, "session %.40q not found in %s: pawl_sessions lists all", id, s.Root)
	if !pawl.SessionID(id).Valid() {
		return pawl.Session{}, none
	}
	row, err := s.Service.Get(ctx, pawl.SessionID(id))
	switch {
	case pawl.CodeOf(cmp.Or(err, pawl.ErrInvalid)) == pawl.CodeNotFound:
		return pawl.Session{}, none
	case err != nil:
		return pawl.Session{}, err
	case !s.holds(row):
		return pawl.Session{}, none
	}
	return row, nil
}

// holds reports whether a session's directory is below the root now.
func (s *server) holds(row pawl.Session) bool {
	real, err := filepath.EvalSymlinks(row.Dir)
	return err == nil && s.within(real)
}
