package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// check returns what should be protected and has come up, or changed, since.
// Mounts keep most of it from happening. What they cannot is told here: names
// deep down that were not there, links, and races between sandboxes.
func (pl *plan) check(s *surveyor) ([]string, error) {
	if pl.readOnly {
		return nil, nil
	}
	now, err := s.survey(pl.dir, pl.guard)
	if err != nil {
		return nil, fmt.Errorf("look into the workspace: %w", err)
	}
	var news []string
	add := func(path string) {
		if name, err := filepath.Rel(pl.dir, path); err == nil && !slices.Contains(news, name) {
			news = append(news, name)
		}
	}
	for _, f := range now.found {
		if !f.hidden && !pl.found[f.path] && !slices.Contains(pl.missing, f.path) {
			add(f.path)
		}
	}
	for _, path := range pl.absent {
		if exists(path) {
			add(path)
		}
	}
	for path, was := range pl.known {
		if identityOf(path) != was {
			add(path)
		}
	}
	slices.Sort(news)
	return news, nil
}

// undo takes away a commondir, which leads git to another configuration and is
// never made in a repository's own directory. Other names that Check tells of may
// be a person's doing.
func (pl *plan) undo() {
	for _, path := range pl.absent {
		if filepath.Base(path) != "commondir" || !exists(path) {
			continue
		}
		root, err := os.OpenRoot(pl.dir) // which follows no link out of it
		if err != nil {
			return // the workspace is gone
		}
		if name, err := filepath.Rel(pl.dir, path); err == nil {
			_ = root.Remove(name)
		}
		_ = root.Close()
	}
}
