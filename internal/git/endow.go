package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxEndowed bounds the commits of history that Endow copies.
const maxEndowed = 100

// Endow copies objects of r into a repository that Borrow has just created, so that
// it works on a host without r: the whole commit and its latest history, as a
// shallow repository. It no longer reads objects of r afterwards.
func (r *Repo) Endow(ctx context.Context, dir, commit string) error {
	to, err := r.git.Open(ctx, dir)
	if err != nil {
		return err
	}
	cut, err := r.cut(ctx, commit)
	if err != nil {
		return fmt.Errorf("endow %s: %w", dir, err)
	}
	var wanted, shallow bytes.Buffer
	for _, id := range cut {
		wanted.WriteString("--shallow " + id + "\n")
		shallow.WriteString(id + "\n")
	}
	wanted.WriteString(commit + "\n")
	if err := r.pass(ctx, to, &wanted, "--revs"); err != nil {
		return fmt.Errorf("endow %s: %w", dir, err)
	}
	dotgit := filepath.Join(dir, ".git")
	if len(cut) > 0 {
		if err := os.WriteFile(filepath.Join(dotgit, "shallow"), shallow.Bytes(), 0o600); err != nil {
			return err
		}
	} else if err := os.Remove(filepath.Join(dotgit, "shallow")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Remove(filepath.Join(dotgit, "objects", "info", "alternates"))
}

// cut returns the boundary commits of a shallow copy of the history: those with
// parents beyond the latest maxEndowed commits, and those at which r itself is
// shallow.
func (r *Repo) cut(ctx context.Context, commit string) ([]string, error) {
	text, err := bytesOf(filepath.Join(r.Common, "shallow"), maxShallow)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, Call{Args: []string{"rev-list", "--parents", "--max-count=" + strconv.Itoa(maxEndowed), commit}})
	if err != nil {
		return nil, err
	}
	ended, listed := strings.Fields(text), map[string]bool{}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		listed[strings.Fields(line)[0]] = true
	}
	var cut []string
	for _, line := range lines {
		ids := strings.Fields(line)
		if slices.Contains(ended, ids[0]) || slices.ContainsFunc(ids[1:], func(id string) bool { return !listed[id] }) {
			cut = append(cut, ids[0])
		}
	}
	return cut, nil
}
