package snapshot

import (
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is the expected content of a directory: files and symbolic links by path. It
// ignores directories.
type model map[string]string

func (w *env) model() model {
	m := model(w.show())
	maps.DeleteFunc(m, func(_, text string) bool { return text == "folder" })
	return m
}

// edit changes the directory at random.
func (w *env) edit(rt *rapid.T, label string) {
	for range rapid.IntRange(0, 4).Draw(rt, label) {
		name := w.path(rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/f", "d/e/g/h", "n\n\xff"}).Draw(rt, "path"))
		kind := rapid.SampledFrom([]string{"remove", "folder", "link", "run", "file", "file", "file"}).Draw(rt, "kind")
		text := rapid.SampledFrom([]string{"", "1", "2", "mine\x00"}).Draw(rt, "text")
		for dir := filepath.Dir(name); dir != w.dir; dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
				_ = os.Remove(dir)
			}
		}
		err := os.RemoveAll(name)
		if kind != "remove" {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		switch kind {
		case "folder":
			err = errors.Join(err, os.Mkdir(name, 0o755))
		case "link":
			err = errors.Join(err, os.Symlink("to "+strings.TrimSuffix(text, "\x00"), name))
		case "file":
			err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644)) //nolint:gosec // a test's own
		case "run":
			err = errors.Join(err, os.WriteFile(name, []byte(text), 0o755)) //nolint:gosec // a test's own
		}
		if err != nil {
			rt.Fatal(err)
		}
	}
}

// story records the changes of commands, and of others in between.
type story struct {
	spans         []Span
	before, after []model
}

// check returns the expected result for a path: its content, whether it is done
// already, and the conflict.
func (s story) check(p string, now model, redo bool) (touched bool, want string, done bool, conflict string) {
	var first, last, prev string
	concurrent := false
	for i := range s.spans {
		from, to := s.before[i][p], s.after[i][p]
		if from == to {
			continue
		}
		if !touched {
			first = from
		} else if prev != from {
			concurrent = true
		}
		touched, last, prev = true, to, to
	}
	want, should := first, last
	if redo {
		want, should = last, first
	}
	switch {
	case want == should || now[p] == want:
		return touched, want, true, ""
	case now[p] != should:
		return touched, want, false, "changed since"
	case concurrent:
		return touched, want, false, "changed in the meantime"
	}
	return touched, want, false, ""
}

// TestModel: with random trees, commands and changes by others, undo and redo do
// exactly what the model expects.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newEnv(t)
		w.edit(rt, "first")
		others := rapid.Bool().Draw(rt, "others")
		var s story
		for range rapid.IntRange(1, 3).Draw(rt, "spans") {
			before := w.model()
			span := Span{Before: w.take()}
			w.edit(rt, "command")
			span.After = w.take()
			s.spans, s.before, s.after = append(s.spans, span), append(s.before, before), append(s.after, w.model())
			if others {
				w.edit(rt, "others")
			}
		}
		how := rapid.SampledFrom([]Conflicts{Refuse, KeepAside, Leave}).Draw(rt, "how")
		w.checked(rt, s, how, false, others)
		if !others {
			if diff := cmp.Diff(s.before[0], w.model()); diff != "" {
				rt.Fatalf("undone: %s", diff)
			}
		}
		w.checked(rt, s, how, true, others)
		if !others {
			if diff := cmp.Diff(s.after[len(s.after)-1], w.model()); diff != "" {
				rt.Fatalf("done again: %s", diff)
			}
		}
	})
}

// checked runs an undo or redo and compares the result with the model.
func (w *env) checked(rt *rapid.T, s story, how Conflicts, redo, others bool) {
	now := w.model()
	all := map[string]bool{}
	for _, m := range slices.Concat(s.before, s.after, []model{now}) {
		for p := range m {
			all[p] = true
		}
	}
	p, err := w.store.Plan(w.t.Context(), w.dir, s.spans, redo)
	if err != nil {
		rt.Fatal(err)
	}
	files := map[string]Restore{}
	for _, r := range p.Files {
		files[r.Path] = r
	}
	for name := range all {
		touched, _, done, conflict := s.check(name, now, redo)
		r, planned := files[name]
		inWay := strings.Contains(r.Conflict, "is in the way")
		if planned != touched || touched && (r.Done != done || r.Conflict != conflict && !inWay) || inWay && !others {
			rt.Fatalf("%q: touched %t, done %t, conflict %q, planned %t: %+v", name, touched, done, conflict, planned, r)
		}
	}
	report, err := w.store.Apply(w.t.Context(), p, how)
	var refused *ConflictError
	if errors.As(err, &refused) != (how == Refuse && len(p.Conflicts()) > 0) || err != nil && refused == nil {
		rt.Fatalf("%+v, %v", p.Conflicts(), err)
	}
	after := w.model()
	for name := range all {
		touched, want, done, _ := s.check(name, now, redo)
		if !touched || done || refused != nil || slices.Contains(report.Left, name) {
			want = now[name]
		}
		if after[name] != want {
			rt.Fatalf("%q is %q, want %q: %+v %+v", name, after[name], want, files[name], report)
		}
		if r := files[name]; r.Conflict != "" && after[name] != now[name] && now[name] != "" {
			kept, err := os.ReadFile(report.Aside[name])
			if err != nil || !strings.HasSuffix(now[name], string(kept)) || path.Base(report.Aside[name]) != path.Base(name) {
				rt.Fatalf("%q was %q, kept %q, %v", name, now[name], kept, err)
			}
		}
	}
}
