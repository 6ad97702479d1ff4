package access

import (
	"context"
	"fmt"
	"io"

	"github.com/pawl-dev/pawl"
)

// What there is to work with in a directory is the same for all who may work there;
// who that is, the server says.

// Look says what sessions in a directory have to work with.
func (s *service) Look(ctx context.Context, dir string) (pawl.Project, error) {
	return s.next.Look(ctx, dir)
}

// Trust lets what a directory brings take effect, for everybody: only the one who
// runs the server may.
func (s *service) Trust(ctx context.Context, dir, hash string) error {
	if !s.all() || s.who.Tenant != "" {
		return fmt.Errorf("to trust a folder is for the one who runs the server: %w", pawl.ErrDenied)
	}
	return s.next.Trust(ctx, dir, hash)
}

// Models returns the models that can be asked.
func (s *service) Models(ctx context.Context) ([]pawl.ModelInfo, error) { return s.next.Models(ctx) }

// Files returns the files of a directory that fit.
func (s *service) Files(ctx context.Context, dir, query string, limit int) ([]string, error) {
	return s.next.Files(ctx, dir, query, limit)
}

// Expand makes of a prompt what its words stand for.
func (s *service) Expand(ctx context.Context, dir string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	return s.next.Expand(ctx, dir, p)
}

// Output opens an output of a session that the one who asks may read.
func (s *service) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	if _, err := s.read(ctx, id); err != nil {
		return nil, err
	}
	return s.next.Output(ctx, id, blob)
}
