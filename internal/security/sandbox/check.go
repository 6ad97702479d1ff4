package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// check returns the protected paths that were created or changed since the plan was
// made. Mounts prevent most of this, but not for deep names that did not exist, for
// links, and in races between sandboxes.
func (pl *plan) check(s *surveyor) ([]string, error) {
	if pl.readOnly {
		return nil, nil
	}
	now, err := s.survey(pl.dir, pl.guard, surveyDirs)
	if err != nil {
		return nil, fmt.Errorf("scan the workspace: %w", err)
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

// undo removes a commondir, which makes git use another configuration, and which git
// never creates in a repository's own directory. Other paths that Check reports may
// have been created by a person.
func (pl *plan) undo() {
	for _, path := range pl.absent {
		if filepath.Base(path) != "commondir" || !exists(path) {
			continue
		}
		root, err := os.OpenRoot(pl.dir) // which follows no link out of it
		if err != nil {
			return // the workspace does not exist any more
		}
		if name, err := filepath.Rel(pl.dir, path); err == nil {
			_ = root.Remove(name)
		}
		_ = root.Close()
	}
}
