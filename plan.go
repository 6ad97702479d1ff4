package pawl

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/fault"
)

// Plan is the list of tasks of a mission.
type Plan struct {
	Tasks []Task `json:"tasks"`
}

// Task is a part of a plan, for one worker.
type Task struct {
	ID     string   `json:"id"` // letters, digits, dots and dashes
	Title  string   `json:"title"`
	Detail string   `json:"detail,omitempty"`
	Files  []string `json:"files,omitempty"`  // files that it owns: paths, directories with a trailing slash, patterns with *
	After  []string `json:"after,omitempty"`  // tasks that must be merged first
	Accept []string `json:"accept,omitempty"` // acceptance criteria
	Size   string   `json:"size,omitempty"`   // S, M or L
}

const (
	maxTasks     = 200
	maxTaskTitle = 200
	maxTaskText  = 8 << 10
	maxTaskList  = 100
)

var taskID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,31}$`)

// Check returns all errors in a plan.
func (p Plan) Check() error {
	var faults []error
	addf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(p.Tasks) == 0 || len(p.Tasks) > maxTasks {
		addf("a plan needs 1 to %d tasks, this one has %d", maxTasks, len(p.Tasks))
	}
	known := map[string]bool{}
	for _, t := range p.Tasks {
		if known[t.ID] {
			addf("duplicate task %q", t.ID)
		}
		known[t.ID] = true
		faults = append(faults, t.check()...)
	}
	for _, t := range p.Tasks {
		for _, before := range t.After {
			if !known[before] {
				addf("task %s comes after task %q, which does not exist", t.ID, before)
			}
		}
	}
	if circle := p.circle(); len(circle) > 0 {
		addf("tasks wait for each other: %s", strings.Join(circle, ", "))
	}
	if len(faults) > 0 {
		return fault.New(ErrInvalid, "invalid plan: %w", errors.Join(faults...))
	}
	return nil
}

func (t Task) check() (faults []error) {
	addf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !taskID.MatchString(t.ID) {
		addf("invalid task id %q: use at most 32 letters, digits, dots and dashes", t.ID)
	}
	if title := strings.TrimSpace(t.Title); title == "" || len(title) > maxTaskTitle || strings.ContainsAny(title, "\n\r") {
		addf("task %s needs a title: one line of at most %d bytes", t.ID, maxTaskTitle)
	}
	if len(t.Detail) > maxTaskText || len(t.Files) > maxTaskList || len(t.After) > maxTaskList || len(t.Accept) > maxTaskList {
		addf("task %s is too long: use at most %d bytes of detail, and at most %d entries in files, after and accept", t.ID, maxTaskText, maxTaskList)
	}
	if !slices.Contains([]string{"", "S", "M", "L"}, t.Size) {
		addf("task %s has unknown size %q: use S, M or L", t.ID, t.Size)
	}
	for _, f := range t.Files {
		if clean := strings.TrimSuffix(f, "/"); clean == "" || path.IsAbs(f) || path.Clean(clean) != clean || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(f, "\n\r\x00") {
			addf("task %s cannot own %q: use a path relative to the project root, a directory with a trailing slash, or a pattern", t.ID, f)
		}
	}
	return faults
}

// circle returns the tasks that can never start because they wait for each other.
func (p Plan) circle() []string {
	left := map[string][]string{}
	for _, t := range p.Tasks {
		left[t.ID] = t.After
	}
	for again := true; again; {
		again = false
		for id, after := range left {
			if !slices.ContainsFunc(after, func(b string) bool { _, waits := left[b]; return waits }) {
				delete(left, id)
				again = true
			}
		}
	}
	return slices.Sorted(maps.Keys(left))
}

// Task returns a task by its ID.
func (p Plan) Task(id string) (Task, bool) {
	i := slices.IndexFunc(p.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return Task{}, false
	}
	return p.Tasks[i], true
}

// Ready returns the tasks that can start now, in plan order: the tasks before them
// are merged, and no running or earlier ready task owns one of their files.
func (p Plan) Ready(merged, running map[string]bool) []Task {
	var busy, ready []Task
	for _, t := range p.Tasks {
		if running[t.ID] {
			busy = append(busy, t)
		}
	}
	for _, t := range p.Tasks {
		waits := slices.ContainsFunc(t.After, func(b string) bool { return !merged[b] })
		if merged[t.ID] || running[t.ID] || waits || slices.ContainsFunc(busy, t.Overlaps) {
			continue
		}
		busy, ready = append(busy, t), append(ready, t)
	}
	return ready
}

// Overlaps reports whether two tasks may own the same file. A task that owns no
// files overlaps with none: a conflict then shows in the merge.
func (t Task) Overlaps(other Task) bool {
	for _, a := range t.Files {
		if slices.ContainsFunc(other.Files, func(b string) bool { return patternsOverlap(a, b) }) {
			return true
		}
	}
	return false
}

// Owns reports whether a file may belong to the task. A task that owns no files may change
// all.
func (t Task) Owns(path string) bool {
	return len(t.Files) == 0 || slices.ContainsFunc(t.Files, func(f string) bool {
		return patternsOverlap(f, path) || strings.HasPrefix(path, f+"/")
	})
}

// patternsOverlap reports whether a file may match both patterns. It compares only what
// precedes the first wildcard, so it has false positives and no false negatives.
func patternsOverlap(a, b string) bool {
	a, openA := fixed(a)
	b, openB := fixed(b)
	switch {
	case openA && openB:
		return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
	case openA:
		return strings.HasPrefix(b, a)
	case openB:
		return strings.HasPrefix(a, b)
	default:
		return a == b
	}
}

// fixed returns the literal prefix of a pattern, and whether more may follow.
func fixed(pattern string) (prefix string, open bool) {
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		return pattern[:i], true
	}
	return pattern, strings.HasSuffix(pattern, "/")
}
