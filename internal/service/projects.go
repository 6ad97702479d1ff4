package service

import (
	"context"
	"fmt"
	"io"

	"github.com/pawl-dev/pawl"
)

var errNoDesk = fmt.Errorf("this pawl knows nothing of folders: %w", pawl.ErrUnavailable)

// noDesk is the desk of a service that has none.
type noDesk struct{}

var _ pawl.Projects = noDesk{}

func (noDesk) Look(context.Context, string) (pawl.Project, error) { return pawl.Project{}, errNoDesk }

func (noDesk) Trust(context.Context, string, string) error { return errNoDesk }

func (noDesk) Models(context.Context) ([]pawl.ModelInfo, error) { return nil, errNoDesk }

func (noDesk) Files(context.Context, string, string, int) ([]string, error) { return nil, errNoDesk }

func (noDesk) Expand(context.Context, string, pawl.Prompt) (pawl.Prompt, []string, error) {
	return pawl.Prompt{}, nil, errNoDesk
}

func (noDesk) Output(context.Context, pawl.SessionID, string) (io.ReadCloser, error) {
	return nil, errNoDesk
}
