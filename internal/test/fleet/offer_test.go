//go:build fleet

package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/checkpoint"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// kept keeps directories, and nothing beside them.
type kept struct{ checkpoint.Store }

func (k *kept) Save(ctx context.Context, key, dir, from string) (string, int64, error) {
	id, stats, err := k.Store.Save(ctx, key, []checkpoint.Root{{Name: "work", Path: dir}}, from)
	return id, stats.Bytes, err
}

func (k *kept) Restore(ctx context.Context, key, dir, id string) error {
	return k.Store.Restore(ctx, key, id, []checkpoint.Root{{Name: "work", Path: dir}})
}

func (k *kept) Prune(ctx context.Context, key, keep string) error {
	return k.Store.Prune(ctx, key, keep)
}

// A directory that one host offers is worked in on another, comes back, and is dropped.
// Both have it at the same path, so the test puts it away where it is not.
func TestOffered(t *testing.T) { //nolint:paralleltest // it ends servers that others use
	ctx := store.WithTenant(t.Context(), "acme")
	st, err := postgres.Open(ctx, harness.Stores["postgres"](t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	blobs := t.TempDir()
	at := func(host string) *runner.Workspaces {
		store, err := blob.Open(ctx, "file://"+blobs)
		if err != nil {
			t.Fatal(err)
		}
		return &runner.Workspaces{Host: host, Registry: st, Dir: t.TempDir(), Checkpoints: &kept{checkpoint.Store{Blobs: store, Dir: t.TempDir()}}}
	}
	here, there := at("here"), at("there")
	dir := filepath.Join(t.TempDir(), "place")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) { t.Helper(); must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	must(os.Mkdir(dir, 0o700))
	write("task", "to do")

	must(here.Offer(ctx, dir))
	must(here.Offer(ctx, dir)) // as after a crash
	must(os.Rename(dir, dir+"-here"))
	_, err = st.Heartbeat(ctx, fleet.Host{Name: "there", Capacity: 1})
	must(err)
	w, err := st.Place(ctx, dir, "")
	must(err)
	leave, err := there.Enter(ctx, runner.Place{Host: w.Host, Dir: dir, Epoch: w.Epoch})
	must(err)
	write("task", "done")
	must(there.Save(ctx, dir))
	leave()
	must(there.Recall(ctx, dir)) // it is here
	must(here.Offer(ctx, dir))   // too late, and no harm
	must(os.RemoveAll(dir))
	must(os.Rename(dir+"-here", dir))

	must(here.Recall(ctx, dir))
	if text, err := os.ReadFile(filepath.Join(dir, "task")); err != nil || string(text) != "done" {
		t.Errorf("what came back is %q, %v", text, err)
	}
	checkpoints := func() []string {
		found, err := filepath.Glob(filepath.Join(blobs, runner.Key("acme", dir), "*", "*"))
		must(err)
		return found
	}
	if len(checkpoints()) == 0 {
		t.Error("nothing is kept")
	}
	must(here.Drop(ctx, dir))
	must(here.Drop(ctx, dir))
	must(here.Recall(ctx, dir)) // nobody knows of it: it is left as it is
	if _, err := st.Workspace(ctx, dir); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("it is not dropped: %v", err)
	}
	if left := checkpoints(); len(left) > 0 {
		t.Errorf("checkpoints are left: %v", left)
	}
}
