//go:build crashtest

package crash

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl"
)

// files is a workspace: each path, and what is there. A link is "-> target",
// and a file that may be run begins with "x ".
type files map[string]string

// turn is a turn of a session as the model of it knows it.
type turn struct {
	prompt        string
	before, after files
	said, done    bool  // what was said counts, what was done to files does
	then          *talk // the session when it began
}

// undoneTurns holds the turns that an undo removed, by index.
type undoneTurns struct{ said, done []int }

// talk is a session as the model of it knows it.
type talk struct {
	id     string
	turns  []turn        // all that ever were
	undone []undoneTurns // what can be brought back
}

func (s *talk) clone() *talk {
	return &talk{s.id, slices.Clone(s.turns), slices.Clone(s.undone)}
}

// live are the places of the turns that count in the conversation.
func (s *talk) live() []int {
	var live []int
	for i, t := range s.turns {
		if t.said {
			live = append(live, i)
		}
	}
	return live
}

// newest is the place of the turn that an undo undoes, or -1.
func (s *talk) newest(scope pawl.Scope) int {
	for i := len(s.turns) - 1; i >= 0; i-- {
		if s.turns[i].said && (scope != pawl.ScopeFiles || s.turns[i].done) {
			return i
		}
	}
	return -1
}

// at returns the turns at the places.
func (s *talk) at(places []int) []turn {
	var turns []turn
	for _, i := range places {
		turns = append(turns, s.turns[i])
	}
	return turns
}

// mark says whether turns count.
func (s *talk) mark(g undoneTurns, counts bool) {
	for _, i := range g.said {
		s.turns[i].said = counts
	}
	for _, i := range g.done {
		s.turns[i].done = counts
	}
}

// since is what goes back when a session goes back to before a turn.
func (s *talk) since(to int, scope pawl.Scope) undoneTurns {
	var g undoneTurns
	for i := to; i < len(s.turns); i++ {
		if scope.Conversation() && s.turns[i].said {
			g.said = append(g.said, i)
		}
		if scope.Files() && s.turns[i].done {
			g.done = append(g.done, i)
		}
	}
	return g
}

// plan says what an undo of the turns, or its redo, does to the files as they
// are. ok is false if somebody else's change is in the way.
func plan(turns []turn, now files, redo bool) (then files, ok bool) {
	then = maps.Clone(now)
	paths := map[string]bool{}
	for _, t := range turns {
		for path := range t.before {
			paths[path] = true
		}
		for path := range t.after {
			paths[path] = true
		}
	}
	for path := range paths {
		var touched []turn
		for _, t := range turns {
			if t.before[path] != t.after[path] {
				touched = append(touched, t)
			}
		}
		if len(touched) == 0 {
			continue
		}
		first, last := touched[0].before[path], touched[len(touched)-1].after[path]
		target, expected := first, last
		if redo {
			target, expected = last, first
		}
		if now[path] == target || target == expected { // as it should be, or all in all nothing was done to it
			continue
		}
		if now[path] != expected {
			return nil, false
		}
		for i, t := range touched[1:] {
			if touched[i].after[path] != t.before[path] {
				return nil, false
			}
		}
		if target == "" {
			delete(then, path)
		} else {
			then[path] = target
		}
	}
	return then, then.fit()
}

// fit reports whether no file is where another one's directory has to be.
func (f files) fit() bool {
	for path := range f {
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			if _, there := f[dir]; there {
				return false
			}
		}
	}
	return true
}
