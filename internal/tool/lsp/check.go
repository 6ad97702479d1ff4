package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// job is the part of a Check for one server.
type job struct {
	key   key
	spec  Spec
	paths []string // absolute; none means the open documents
}

// Check updates the servers with the files on disk and returns their
// diagnostics, including those of other files that they report. Without paths
// it covers all files that were checked before.
//
// It returns when the servers have answered or ctx ends. A deadline is not an
// error: the Report names the servers that have not answered. A server that
// crashes is restarted and asked again, within its limits.
func (m *Servers) Check(ctx context.Context, dir string, paths []string) (Report, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Report{}, fmt.Errorf("check: %w", err)
	}
	w, err := workspace.Open(real)
	if err != nil {
		return Report{}, fmt.Errorf("check: %w", err)
	}
	defer w.Close()
	if m.Enabled != nil && !m.Enabled(dir) {
		return Report{Notes: []Note{{Off, "language servers are not started: the project is not trusted"}}}, nil
	}
	var report Report
	jobs := m.known(real)
	if len(paths) > 0 {
		if jobs, report.Notes, err = m.plan(w, dir, real, paths); err != nil {
			return Report{}, err
		}
	}
	var (
		mu    sync.Mutex
		group sync.WaitGroup
	)
	for _, j := range jobs {
		group.Go(func() {
			files, notes := m.run(ctx, w, j)
			mu.Lock()
			defer mu.Unlock()
			report.Files = append(report.Files, files...)
			report.Notes = append(report.Notes, notes...)
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return Report{}, err
	}
	report.sort()
	return report, nil
}

// known returns a job for each server that runs in the workspace.
func (m *Servers) known(dir string) []job {
	m.mu.Lock()
	defer m.mu.Unlock()
	var jobs []job
	for k, e := range m.entries {
		if k.dir == dir && (e.server != nil || e.ready != nil) {
			jobs = append(jobs, job{key: k, spec: e.spec})
		}
	}
	return jobs
}

// plan assigns the files to servers.
func (m *Servers) plan(w *workspace.Workspace, dir, real string, paths []string) ([]job, []Note, error) {
	var notes []Note
	jobs := map[key]*job{}
	taken := 0
	for _, path := range paths {
		rel, err := workspace.Rel(dir, path)
		if err != nil {
			return nil, nil, err
		}
		if info, err := w.Stat(rel); err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > textBytes) {
			notes = append(notes, Note{Left, rel + " cannot be checked: it is not a regular file, or too large"})
			continue
		}
		spec, note := m.serve(real, rel)
		if note != (Note{}) {
			notes = append(notes, note)
			continue
		}
		if taken++; taken > checkPaths {
			continue
		}
		path := filepath.Join(real, rel)
		root, _ := spec.root(real, path)
		k := key{real, root, spec.Name}
		if jobs[k] == nil {
			jobs[k] = &job{key: k, spec: spec}
		}
		if !slices.Contains(jobs[k].paths, path) {
			jobs[k].paths = append(jobs[k].paths, path)
		}
	}
	if taken > checkPaths {
		notes = append(notes, Note{Left, fmt.Sprintf("only the first %d files were checked", checkPaths)})
	}
	var list []job
	for _, k := range slices.SortedFunc(maps.Keys(jobs), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.root, b.root), cmp.Compare(a.name, b.name))
	}) {
		list = append(list, *jobs[k])
	}
	return list, notes, nil
}

// serve returns the server for a file, or a note that says why no server
// handles it.
func (m *Servers) serve(dir, rel string) (Spec, Note) {
	table := m.Table
	if table == nil {
		table = Table()
	}
	candidates := slices.DeleteFunc(slices.Clone(table), func(s Spec) bool { return !s.serves(dir, filepath.Join(dir, rel)) })
	if len(candidates) == 0 {
		return Spec{}, Note{Unserved, fmt.Sprintf("no language server is known for %s", filepath.Base(rel))}
	}
	var why error
	for _, spec := range candidates {
		_, err := find(spec.program(), dir, m.path())
		if err == nil {
			return spec, Note{}
		}
		if !errors.Is(why, errInside) {
			why = err
		}
	}
	return Spec{}, missing(candidates, why)
}

// run executes the job of one server.
func (m *Servers) run(ctx context.Context, w *workspace.Workspace, j job) ([]File, []Note) {
	for range maxRestarts + 1 {
		s, err := m.use(ctx, j.key, j.spec)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, []Note{{Waiting, j.spec.Name + " is still starting"}}
		case err != nil:
			return nil, []Note{{Failed, fmt.Sprintf("%s does not run: %v", j.spec.Name, err)}}
		}
		q, err := s.update(ctx, w, j.paths)
		whole := err == nil && s.wait(ctx, q)
		m.release(j.key, s)
		if whole {
			return s.report(j.paths), nil
		}
		select {
		case <-s.conn.failed: // repeat with a new server
			if ctx.Err() == nil {
				continue
			}
		default:
		}
		return s.report(j.paths), []Note{s.late()}
	}
	return nil, []Note{{Failed, j.spec.Name + " does not run: it has crashed again and again"}}
}

// late returns a note that says why the server has not answered.
func (s *server) late() Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answered {
		return Note{Waiting, s.spec.Name + " is still at work"}
	}
	return Note{Waiting, s.spec.Name + " is still loading"}
}
