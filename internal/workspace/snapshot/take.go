package snapshot

import (
	"context"
	"os"
)

// take records the current content of the directory. A crash at any point leaves a
// consistent store: take writes the objects first, then the ref that keeps them,
// then the table that relies on both.
func (f *folder) take(ctx context.Context) (ID, error) {
	w := f.newWalker()
	defer w.pack.close()
	if err := w.walk(ctx); err != nil {
		return "", err
	}
	if !w.fresh {
		return w.next.id, nil
	}
	f.reach("store objects")
	if err := w.pack.store(ctx, f.repo, f.file); err != nil {
		return "", f.intact(err)
	}
	if f.readRef(refsNow) != w.next.id {
		if err := f.setRef(refsNow, w.next.id); err != nil {
			return "", err
		}
	}
	err := f.replace(f.path(tableName), w.next.encode())
	f.reach("table written")
	return w.next.id, err
}

// intact returns err, as a *Broken error if the repository is incomplete.
func (f *folder) intact(err error) error {
	for _, name := range []string{"HEAD", "config", "objects", "refs"} {
		if _, missing := os.Stat(f.path(repoName, name)); missing != nil {
			return f.broken(err)
		}
	}
	return err
}
