package access

import (
	"context"
	"io"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// The configuration of a project is the same for everyone who may work there. The server decides who
// that is.

// Look returns what sessions in a directory can use.
func (s *service) Look(ctx context.Context, dir string) (pawl.Project, error) {
	return s.next.Look(ctx, dir)
}

// Trust trusts the configuration of a project, for everybody, so only the user who runs the server may.
func (s *service) Trust(ctx context.Context, dir, hash string) error {
	if !s.all() || s.who.Tenant != "" {
		return fault.New(pawl.ErrDenied, "only the operator of the server can trust a project")
	}
	return s.next.Trust(ctx, dir, hash)
}

// Models returns the available models.
func (s *service) Models(ctx context.Context) ([]pawl.ModelInfo, error) { return s.next.Models(ctx) }

// Files returns the files of a directory that match.
func (s *service) Files(ctx context.Context, dir, query string, limit int) ([]string, error) {
	return s.next.Files(ctx, dir, query, limit)
}

// Expand expands the commands and mentions in a prompt.
func (s *service) Expand(ctx context.Context, dir string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	if err := s.authorize(dir, p.Settings); err != nil {
		return pawl.Prompt{}, nil, err
	}
	return s.next.Expand(ctx, dir, p)
}

// Output opens an output of a session that the principal may read.
func (s *service) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	if _, err := s.read(ctx, id); err != nil {
		return nil, err
	}
	return s.next.Output(ctx, id, blob)
}

// Diff returns what a session changed. Like Preview it shows current files of the directory, so only the
// owner may.
func (s *service) Diff(ctx context.Context, id pawl.SessionID, o pawl.DiffOptions) (pawl.Diff, error) {
	if err := s.own(ctx, id); err != nil {
		return pawl.Diff{}, err
	}
	return s.next.Diff(ctx, id, o)
}

// ListDir lists a directory of a session. Files are not part of what is shared, so only the owner may.
func (s *service) ListDir(ctx context.Context, id pawl.SessionID, path string) ([]pawl.FileInfo, bool, error) {
	if err := s.own(ctx, id); err != nil {
		return nil, false, err
	}
	return s.next.ListDir(ctx, id, path)
}

// ReadFile reads a file of a session; only the owner may.
func (s *service) ReadFile(ctx context.Context, id pawl.SessionID, path string, offset, length int64) (pawl.File, int64, error) {
	if err := s.own(ctx, id); err != nil {
		return pawl.File{}, 0, err
	}
	return s.next.ReadFile(ctx, id, path, offset, length)
}
