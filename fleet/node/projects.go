package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// The queries about a directory that its host answers.
const (
	queryLook   = "look"
	queryTrust  = "trust"
	queryFiles  = "files"
	queryExpand = "expand"
	queryPlan   = "plan"
	queryDiff   = "diff"
	queryList   = "list"
	queryRead   = "read"
)

type planQuery struct {
	Session pawl.SessionID `json:"session"`
	Undo    pawl.Undo      `json:"undo"`
}

type diffQuery struct {
	Session pawl.SessionID   `json:"session"`
	Options pawl.DiffOptions `json:"options"`
}

type listQuery struct {
	Session pawl.SessionID `json:"session"`
	Path    string         `json:"path"`
}

type listing struct {
	Entries []pawl.FileInfo `json:"entries"`
	More    bool            `json:"more"`
}

type readQuery struct {
	Session pawl.SessionID `json:"session"`
	Path    string         `json:"path"`
	Offset  int64          `json:"offset"`
	Length  int64          `json:"length"`
}

type filePart struct {
	File pawl.File `json:"file"`
	Size int64     `json:"size"`
}

type filesQuery struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

type expanded struct {
	Prompt pawl.Prompt `json:"prompt"`
	Notes  []string    `json:"notes,omitempty"`
}

// modelLister lists the models that have an API key.
type modelLister interface {
	Models(ctx context.Context) ([]pawl.ModelInfo, error)
}

// remoteProjects implements pawl.Projects for directories on hosts: it sends a query
// to the host that holds the directory.
type remoteProjects struct {
	pawl.Projects // answers what is not about a directory; set before the service is used
	runner        *runner.Runner
	models        modelLister // nil means the models of this process
	store         store.Store // of the sessions
}

func (p *remoteProjects) Look(ctx context.Context, dir string) (f pawl.Project, err error) {
	return f, p.runner.QueryFolder(ctx, dir, queryLook, nil, &f)
}

func (p *remoteProjects) Trust(ctx context.Context, dir, hash string) error {
	var done struct{}
	return p.runner.QueryFolder(ctx, dir, queryTrust, hash, &done)
}

func (p *remoteProjects) Models(ctx context.Context) ([]pawl.ModelInfo, error) {
	if p.models == nil {
		return p.Projects.Models(ctx)
	}
	return p.models.Models(ctx)
}

func (p *remoteProjects) Files(ctx context.Context, dir, query string, limit int) (paths []string, err error) {
	return paths, p.runner.QueryFolder(ctx, dir, queryFiles, filesQuery{query, limit}, &paths)
}

func (p *remoteProjects) Expand(ctx context.Context, dir string, prompt pawl.Prompt) (pawl.Prompt, []string, error) {
	var out expanded
	err := p.runner.QueryFolder(ctx, dir, queryExpand, prompt, &out)
	return out.Prompt, out.Notes, err
}

func (p *remoteProjects) Diff(ctx context.Context, id pawl.SessionID, o pawl.DiffOptions) (d pawl.Diff, err error) {
	return d, p.querySession(ctx, id, queryDiff, diffQuery{id, o}, &d)
}

func (p *remoteProjects) ListDir(ctx context.Context, id pawl.SessionID, path string) ([]pawl.FileInfo, bool, error) {
	var out listing
	err := p.querySession(ctx, id, queryList, listQuery{id, path}, &out)
	return out.Entries, out.More, err
}

func (p *remoteProjects) ReadFile(ctx context.Context, id pawl.SessionID, path string, offset, length int64) (pawl.File, int64, error) {
	var out filePart
	err := p.querySession(ctx, id, queryRead, readQuery{id, path, offset, length}, &out)
	return out.File, out.Size, err
}

// querySession queries the host that holds the directory of a session.
func (p *remoteProjects) querySession(ctx context.Context, id pawl.SessionID, name string, ask, answer any) error {
	row, err := p.store.Session(ctx, id)
	if err != nil {
		return err
	}
	return p.runner.QueryFolder(ctx, row.Dir, name, ask, answer)
}

func (p *remoteProjects) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	if p.Projects == nil {
		return nil, errors.New("the node is still starting")
	}
	return p.Projects.Output(ctx, id, blob)
}

// queryHandlers answer the queries about directories of this host.
func queryHandlers(a *app.App, s *agent.Stepper) map[string]func(context.Context, string, []byte) ([]byte, error) {
	return map[string]func(context.Context, string, []byte) ([]byte, error){
		queryLook: handler(func(ctx context.Context, dir string, _ struct{}) (pawl.Project, error) {
			return a.Projects.Look(ctx, dir)
		}),
		queryTrust: handler(func(ctx context.Context, dir, hash string) (struct{}, error) {
			return struct{}{}, a.Projects.Trust(ctx, dir, hash)
		}),
		queryFiles: handler(func(ctx context.Context, dir string, q filesQuery) ([]string, error) {
			return a.Projects.Files(ctx, dir, q.Query, q.Limit)
		}),
		queryExpand: handler(func(ctx context.Context, dir string, p pawl.Prompt) (expanded, error) {
			out, notes, err := a.Projects.Expand(ctx, dir, p)
			return expanded{out, notes}, err
		}),
		queryDiff: handler(func(ctx context.Context, _ string, q diffQuery) (pawl.Diff, error) {
			return a.Projects.Diff(ctx, q.Session, q.Options)
		}),
		queryList: handler(func(ctx context.Context, _ string, q listQuery) (out listing, err error) {
			out.Entries, out.More, err = a.Projects.ListDir(ctx, q.Session, q.Path)
			return out, err
		}),
		queryRead: handler(func(ctx context.Context, _ string, q readQuery) (out filePart, err error) {
			out.File, out.Size, err = a.Projects.ReadFile(ctx, q.Session, q.Path, q.Offset, q.Length)
			return out, err
		}),
		queryPlan: handler(func(ctx context.Context, _ string, q planQuery) (pawl.UndoPlan, error) {
			return s.PlanUndo(ctx, q.Session, q.Undo)
		}),
	}
}

// handler decodes a query, calls do and encodes the answer.
func handler[Q, A any](do func(ctx context.Context, dir string, q Q) (A, error)) func(context.Context, string, []byte) ([]byte, error) {
	return func(ctx context.Context, dir string, text []byte) ([]byte, error) {
		var q Q
		if err := json.Unmarshal(text, &q); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "%w", err)
		}
		answer, err := do(ctx, dir, q)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	}
}
