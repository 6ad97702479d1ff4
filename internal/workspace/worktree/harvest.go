package worktree

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// Harvested is what a worker has done.
type Harvested struct {
	Commit  string   // with the base as its parent; "" if nothing has changed. No ref names it yet
	Changes []Change // by path
	Left    []Left   // what was left out, but for what all rules ignore: the first thousand
}

// Change is a file that differs from the base. Its path is untrusted text.
type Change struct {
	State string // A added, M modified, T another type, D deleted
	Path  string
}

// Left is something that was left out, and why. Its path is untrusted text.
type Left struct{ Path, Why string }

// Harvest commits the files of a worktree as they are, on top of the commit that
// they are compared with. It asks neither the worktree's index nor its HEAD. The
// user's repository gets the objects, and nothing that names them: whoever merges
// the commit does that. A repeated call makes the same commit, unless the files
// have changed.
//
// Files of the base are always taken. Others are if neither the base's ignore
// rules nor the worktree's pass over them. Links are taken as links. What cannot
// be taken and may matter (too large, unreadable, a name of git) is an error
// for the worker to mend.
func (t *Trees) Harvest(ctx context.Context, name, base string, label Label) (Harvested, error) {
	h, err := t.collect(ctx, name, base, label)
	if err != nil {
		return Harvested{}, fmt.Errorf("harvest workplace %s: %w", t.Path(name), err)
	}
	return h, nil
}

func (t *Trees) collect(ctx context.Context, name, base string, label Label) (h Harvested, err error) {
	if err := checkName(name); err != nil {
		return h, err
	}
	if err := label.check(); err != nil {
		return h, err
	}
	apart, remove, err := t.temporary()
	if err != nil {
		return h, err
	}
	defer remove()
	if base, err = t.Repo.Commit(ctx, base); err != nil {
		return h, err
	}
	w, err := t.newWalker(ctx, base, apart)
	if err != nil {
		return h, err
	}
	if err := w.walk(ctx, t.Path(name), t.exclude()); err != nil {
		return h, err
	}
	h.Left, h.Changes = w.left[:min(len(w.left), maxLeft)], w.changes()
	if len(h.Changes) == 0 {
		return h, nil
	}
	if err := checkCase(keys(w.base), w.files); err != nil {
		return h, err
	}
	t.reach("read")
	if err := w.store.keep(ctx, t.Repo); err != nil {
		return h, err
	}
	t.reach("stored")
	tree, err := t.tree(ctx, apart, base, w.removed(), w.fresh)
	if err != nil {
		return h, err
	}
	if h.Commit, err = t.commit(ctx, apart, tree, base, label); err != nil {
		return h, err
	}
	if err := w.verify(ctx, h.Commit); err != nil {
		return h, err
	}
	t.reach("harvested")
	return h, nil
}

// newWalker reads what a commit holds.
func (t *Trees) newWalker(ctx context.Context, base, apart string) (*walker, error) {
	entries, err := t.Repo.Tree(ctx, base)
	if err != nil {
		return nil, err
	}
	w := &walker{
		Trees: t, store: &store{apart: apart, known: map[string]bool{}},
		base: make(map[string]git.Entry, len(entries)), above: map[string]bool{}, rules: map[string][]byte{}, files: make(map[string]bool, len(entries)),
	}
	if w.sum, err = newHash(len(base)); err != nil {
		return nil, err
	}
	var ignores []git.Entry
	for _, e := range entries {
		w.base[e.Path] = e
		for dir := path.Dir(e.Path); dir != "." && !w.above[dir]; dir = path.Dir(dir) {
			w.above[dir] = true
		}
		if path.Base(e.Path) == ".gitignore" && e.Mode != modeLink {
			ignores = append(ignores, e)
		}
	}
	if len(ignores) == 0 {
		return w, nil
	}
	texts, err := t.fetch(ctx, ignores, t.maxBytes())
	if err != nil {
		return nil, err
	}
	defer texts.close()
	for _, e := range ignores {
		dir := strings.TrimPrefix(path.Dir(e.Path), ".") // "" is the top
		if w.rules[dir], err = texts.read(e.ID, nil); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// exclude returns the user's own ignore file of this repository, or nil.
func (t *Trees) exclude() []byte {
	return readRules(unix.AT_FDCWD, filepath.Join(t.Repo.Common, "info", "exclude"))
}

// gone returns what the commit has and the worktree has not.
func (w *walker) removed() []string {
	var removed []string
	for p := range w.base {
		if !w.files[p] {
			removed = append(removed, p)
		}
	}
	slices.Sort(removed)
	return removed
}

// changes says what differs.
func (w *walker) changes() []Change {
	var list []Change
	for _, p := range w.removed() {
		list = append(list, Change{"D", p})
	}
	for _, e := range w.fresh {
		was, known := w.base[e.Path]
		switch {
		case !known:
			list = append(list, Change{"A", e.Path})
		case (was.Mode == modeLink) != (e.Mode == modeLink) || was.Submodule():
			list = append(list, Change{"T", e.Path})
		default:
			list = append(list, Change{"M", e.Path})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func keys(entries map[string]git.Entry) map[string]bool {
	all := make(map[string]bool, len(entries))
	for p := range entries {
		all[p] = true
	}
	return all
}

// store has copies of contents that git is to take in. Git would open a file of
// the worktree by its path, and follow a link that is put there meanwhile.
type store struct {
	apart string
	known map[string]bool
	ids   []string
}

func (s *store) file(n int) string { return "content-" + strconv.Itoa(n) }

// add keeps a content for git.
func (s *store) add(id string, data []byte) error {
	if s.known[id] {
		return nil
	}
	s.known[id] = true
	s.ids = append(s.ids, id)
	return os.WriteFile(filepath.Join(s.apart, s.file(len(s.ids)-1)), data, 0o600)
}

// keep has git take them in, as they are.
func (s *store) keep(ctx context.Context, repo *git.Repo) error {
	if len(s.ids) == 0 {
		return nil
	}
	var names strings.Builder
	for n := range s.ids {
		names.WriteString(s.file(n) + "\n")
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"hash-object", "-w", "--stdin-paths"}, In: strings.NewReader(names.String()), Apart: s.apart})
	if err != nil {
		return err
	}
	if got := strings.Fields(string(out)); !slices.Equal(got, s.ids) {
		return fmt.Errorf("git has stored other contents than it was given: is the disk damaged? %w", pawl.ErrInvalid)
	}
	return nil
}

// tree writes a tree: the base's, but for some entries.
func (t *Trees) tree(ctx context.Context, apart, base string, removed []string, fresh []git.Entry) (string, error) {
	if _, err := t.Repo.Run(ctx, git.Call{Args: []string{"read-tree", base}, Apart: apart}); err != nil {
		return "", err
	}
	var info bytes.Buffer
	for _, p := range removed { // first: a directory may come where a file was
		info.WriteString("0 " + strings.Repeat("0", len(base)) + "\t" + p + "\x00")
	}
	for _, e := range fresh {
		info.WriteString(e.Mode + " " + e.ID + "\t" + e.Path + "\x00")
	}
	if _, err := t.Repo.Run(ctx, git.Call{Args: []string{"update-index", "-z", "--index-info"}, In: &info, Apart: apart}); err != nil {
		return "", err
	}
	return t.line(ctx, git.Call{Args: []string{"write-tree"}, Apart: apart})
}

// verify refuses a commit that does not hold what was read: git passes over paths
// that it does not like, and calls that a success.
func (w *walker) verify(ctx context.Context, commit string) error {
	entries, err := w.Repo.Tree(ctx, commit)
	if err != nil {
		return err
	}
	fresh := map[string]git.Entry{}
	for _, e := range w.fresh {
		fresh[e.Path] = e
	}
	missing := maps.Clone(w.files)
	for _, e := range entries {
		want, ok := fresh[e.Path]
		if !ok {
			want = w.base[e.Path]
		}
		if !missing[e.Path] || want != e {
			return fmt.Errorf("git has stored another %q than it was given: %w", e.Path, pawl.ErrInvalid)
		}
		delete(missing, e.Path)
	}
	for p := range missing {
		return fmt.Errorf("git refuses the path %q: rename it: %w", p, pawl.ErrInvalid)
	}
	return nil
}

// commit writes a commit of pawl. It says all of it itself: no setting of the
// user's adds a name, a signature or an encoding.
func (t *Trees) commit(ctx context.Context, apart, tree, parent string, label Label) (string, error) {
	by := "pawl <pawl@localhost> " + strconv.FormatInt(label.At.Unix(), 10) + " +0000"
	text := "tree " + tree + "\nparent " + parent + "\nauthor " + by + "\ncommitter " + by + "\n\n" + label.message()
	return t.line(ctx, git.Call{Args: []string{"hash-object", "-t", "commit", "-w", "--stdin"}, In: strings.NewReader(text), Apart: apart})
}

// line runs git and returns the one line that it prints.
func (t *Trees) line(ctx context.Context, c git.Call) (string, error) {
	c.Limit = 1 << 10
	out, err := t.Repo.Run(ctx, c)
	return strings.TrimSuffix(string(out), "\n"), err
}
