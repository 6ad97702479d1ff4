package service

import (
	"context"
	"io"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

var errNoProjects = fault.New(pawl.ErrUnavailable, "projects are not available on this server")

// noProjects is the pawl.Projects of a service without one.
type noProjects struct{}

var _ pawl.Projects = noProjects{}

func (noProjects) Look(context.Context, string) (pawl.Project, error) {
	return pawl.Project{}, errNoProjects
}

func (noProjects) Trust(context.Context, string, string) error { return errNoProjects }

func (noProjects) Models(context.Context) ([]pawl.ModelInfo, error) { return nil, errNoProjects }

func (noProjects) Files(context.Context, string, string, int) ([]string, error) {
	return nil, errNoProjects
}

func (noProjects) Expand(context.Context, string, pawl.Prompt) (pawl.Prompt, []string, error) {
	return pawl.Prompt{}, nil, errNoProjects
}

func (noProjects) Output(context.Context, pawl.SessionID, string) (io.ReadCloser, error) {
	return nil, errNoProjects
}

func (noProjects) Diff(context.Context, pawl.SessionID, pawl.DiffOptions) (pawl.Diff, error) {
	return pawl.Diff{}, errNoProjects
}

func (noProjects) ListDir(context.Context, pawl.SessionID, string) ([]pawl.FileInfo, bool, error) {
	return nil, false, errNoProjects
}

func (noProjects) ReadFile(context.Context, pawl.SessionID, string, int64, int64) (pawl.File, int64, error) {
	return pawl.File{}, 0, errNoProjects
}
