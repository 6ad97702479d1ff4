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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// Collected is the result of Collect: the changes of a worker.
type Collected struct {
	Commit  string   // a child of the base; "" if nothing has changed. No ref points to it yet
	Changes []Change // sorted by path
	Left    []Left   // entries that were left out, except for those that both sets of ignore rules match; at most 1,000
}

// Change is a file that differs from the base. Path is untrusted text.
type Change struct {
	State string // as in git diff: A added, M modified, T type changed, D deleted
	Path  string
}

// Left is an entry that was left out, and the reason. Path is untrusted text.
type Left struct{ Path, Why string }

// Collect commits the current files of a worktree, a worker's changes, on top of
// base. It uses neither the worktree's index nor its HEAD. It adds
// objects to the user's repository but no ref; see Merge and Advance. Repeating the
// call makes the same commit, unless the files have changed.
//
// Collect includes all files that base has, and other files unless the ignore rules
// of the base or of the worktree match them. It does not follow symbolic links but
// commits them as links. A file that may matter but cannot be committed (too large,
// unreadable, a name reserved by git) is an error that the worker has to fix.
func (t *Trees) Collect(ctx context.Context, name, base string, label Label) (Collected, error) {
	h, err := t.collect(ctx, name, base, label)
	if err != nil {
		return Collected{}, fmt.Errorf("collect worktree %s: %w", t.Path(name), err)
	}
	return h, nil
}

func (t *Trees) collect(ctx context.Context, name, base string, label Label) (h Collected, err error) {
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

// newWalker reads the entries and ignore files of the base commit.
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
		dir := strings.TrimPrefix(path.Dir(e.Path), ".") // "" is the top directory
		if w.rules[dir], err = texts.read(e.ID, nil); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// exclude returns the content of the repository's info/exclude file, or nil.
func (t *Trees) exclude() []byte {
	return readRules(unix.AT_FDCWD, filepath.Join(t.Repo.Common, "info", "exclude"))
}

// removed returns the paths that the base has and the worktree has not, sorted.
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

// changes returns the differences from the base, sorted by path.
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

// store collects copies of new file contents for git. Git would open a file of the
// worktree by its path, and follow a symbolic link that is placed there
// concurrently.
type store struct {
	apart string
	known map[string]bool
	ids   []string
}

func (s *store) file(n int) string { return "content-" + strconv.Itoa(n) }

// add copies a content to a file for git.
func (s *store) add(id string, data []byte) error {
	if s.known[id] {
		return nil
	}
	s.known[id] = true
	s.ids = append(s.ids, id)
	return os.WriteFile(filepath.Join(s.apart, s.file(len(s.ids)-1)), data, 0o600)
}

// keep makes git store the contents as they are, without filters.
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
		return fault.New(pawl.ErrInvalid, "git stored different content than it was given: the disk may be damaged")
	}
	return nil
}

// tree writes a tree object: the tree of base, without the removed paths and with
// the fresh entries.
func (t *Trees) tree(ctx context.Context, apart, base string, removed []string, fresh []git.Entry) (string, error) {
	if _, err := t.Repo.Run(ctx, git.Call{Args: []string{"read-tree", base}, Apart: apart}); err != nil {
		return "", err
	}
	var info bytes.Buffer
	for _, p := range removed { // first: a directory may replace a file
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

// verify checks that the commit contains exactly what was read: git skips paths
// that it rejects, and still exits with success.
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
			return fault.New(pawl.ErrInvalid, "git stored a different %q than it was given", e.Path)
		}
		delete(missing, e.Path)
	}
	for p := range missing {
		return fault.New(pawl.ErrInvalid, "git rejects the path %q: rename it", p)
	}
	return nil
}

// commit writes a commit object. It formats the object itself, so that the user's
// git configuration cannot add a name, a signature or an encoding.
func (t *Trees) commit(ctx context.Context, apart, tree, parent string, label Label) (string, error) {
	by := "pawl <pawl@localhost> " + strconv.FormatInt(label.At.Unix(), 10) + " +0000"
	text := "tree " + tree + "\nparent " + parent + "\nauthor " + by + "\ncommitter " + by + "\n\n" + label.message()
	return t.line(ctx, git.Call{Args: []string{"hash-object", "-t", "commit", "-w", "--stdin"}, In: strings.NewReader(text), Apart: apart})
}

// line runs git and returns its output, which is a single line.
func (t *Trees) line(ctx context.Context, c git.Call) (string, error) {
	c.Limit = 1 << 10
	out, err := t.Repo.Run(ctx, c)
	return strings.TrimSuffix(string(out), "\n"), err
}
