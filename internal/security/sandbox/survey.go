package sandbox

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/security/protect"
)

const (
	surveyDirs  = 10_000    // directories that a survey reads, those near the top first
	viewDirs    = 1_000_000 // the same for a view, which needs all of them
	surveyTrees = 16        // workspaces in the cache
	// surveyRace is the time in which a directory can change without a new ctime, because
	// of the clock resolution of file systems.
	surveyRace = 100 * time.Millisecond
)

// unsurveyed are directories that are not searched: they contain very many files, and
// programs do not read configuration there.
var unsurveyed = []string{"node_modules"}

// finding is a path in a workspace that is protected or hidden by its name.
type finding struct {
	path   string
	git    bool // it is a .git
	hidden bool // otherwise it is protected
	dir    bool
	link   bool
}

// survey is what was found in a workspace.
type survey struct {
	found   []finding
	partial bool // there are more directories than surveyDirs
}

// surveyor searches workspaces for names. It caches directories, and reads only those
// again that have changed.
type surveyor struct {
	limit int // for tests; 0 means no other limit

	mu    sync.Mutex
	trees map[string]*surveyed // by workspace and guard
}

// surveyed is the cache of one workspace.
type surveyed struct {
	dirs  map[string]*listing // by path
	round int                 // the number of the last survey
}

// listing is the cached content of a directory.
type listing struct {
	round int // the last survey that met it
	id    folderID
	racy  bool // it was read so soon after its last change that it may be stale
	subs  []string
	found []finding
}

// survey searches a workspace, and reads up to most directories.
func (s *surveyor) survey(dir string, g guard, most int) (survey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := cmp.Or(s.limit, most)
	t := s.tree(dir + "\x00" + g.key())
	t.round++
	met := 0
	var result survey
	queue := append(make([]string, 0, len(t.dirs)+1), dir)
	for n := 0; n < len(queue); n++ {
		if n == limit {
			result.partial = true
			break
		}
		l, err := list(queue[n], t.dirs[queue[n]], g)
		if err != nil {
			if n == 0 {
				return result, err
			}
			continue // it does not exist any more, or the command cannot read it either
		}
		met++
		l.round, t.dirs[queue[n]] = t.round, l
		queue = append(queue, l.subs...)
		result.found = append(result.found, l.found...)
	}
	if met < len(t.dirs) { // some do not exist any more
		maps.DeleteFunc(t.dirs, func(_ string, l *listing) bool { return l.round != t.round })
	}
	return result, nil
}

// tree returns the cache of a workspace.
func (s *surveyor) tree(key string) *surveyed {
	t := s.trees[key]
	if t == nil {
		if s.trees == nil || len(s.trees) >= surveyTrees {
			s.trees = map[string]*surveyed{}
		}
		t = &surveyed{dirs: map[string]*listing{}}
		s.trees[key] = t
	}
	return t
}

// list reads a directory, unless it is as it was when it was last read.
func list(dir string, old *listing, g guard) (*listing, error) {
	id, changed, err := identify(dir)
	if err != nil {
		return nil, err
	}
	if old != nil && !old.racy && old.id == id {
		return old, nil
	}
	now := time.Now()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{id: id, racy: now.Sub(changed) < surveyRace}
	for _, e := range entries {
		f := finding{path: filepath.Join(dir, e.Name()), dir: e.IsDir(), link: e.Type()&os.ModeSymlink != 0}
		switch {
		case protect.FoldName(e.Name()) == ".git":
			f.git = true
			l.found = append(l.found, f)
		case g.protects(dir, e.Name()):
			l.found = append(l.found, f)
		case g.hides(e.Name()):
			f.hidden = true
			l.found = append(l.found, f)
		case e.IsDir() && !slices.Contains(unsurveyed, e.Name()):
			l.subs = append(l.subs, f.path)
		}
	}
	return l, nil
}

func (g guard) key() string {
	var names []string
	for name := range g.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, "\x00") + "\x01" + strings.Join(g.patterns, "\x00")
}
