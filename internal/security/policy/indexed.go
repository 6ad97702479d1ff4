package policy

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

const (
	maxIndexed     = 64       // files
	maxIndexedSize = 64 << 10 // bytes of one
)

// indexed returns the content that git has in its index of files in a workspace, by
// path. Files that are not in the index, or not in a repository, are absent.
func indexed(ctx context.Context, dir string, paths []string) map[string][]byte {
	repo, err := openRepo(ctx, dir)
	if err != nil || repo == nil {
		return nil
	}
	byName := map[string]string{}
	var names []string
	for _, path := range paths[:min(len(paths), maxIndexed)] {
		if rel, err := filepath.Rel(repo.Top, path); err == nil && filepath.IsLocal(rel) {
			names = append(names, filepath.ToSlash(rel))
			byName[filepath.ToSlash(rel)] = path
		}
	}
	if len(names) == 0 {
		return nil
	}
	list, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "--stage", "-z"}, Paths: names})
	if err != nil {
		return nil
	}
	found := map[string][]byte{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		stage, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(stage) // mode, object, number
		if !ok || byName[name] == "" || len(fields) != 3 || !strings.HasPrefix(fields[0], "100") {
			continue
		}
		text, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "blob"}, Refs: []string{fields[1]}, Limit: maxIndexedSize})
		if err == nil {
			found[byName[name]] = text
		}
	}
	return found
}
