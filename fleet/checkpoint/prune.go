package checkpoint

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/fleet/blob"
)

// Prune deletes what none of the kept checkpoints needs. Blobs newer than Grace stay, because they may belong
// to a checkpoint that is being saved. Without checkpoints to keep it deletes everything that is older.
func (k *Store) Prune(ctx context.Context, key string, keep ...string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, id := range keep {
		s, chain, err := k.load(ctx, key, id)
		if err != nil {
			return fmt.Errorf("prune: %w", err) // before anything is deleted
		}
		for _, m := range chain {
			needed[manifestKey(key, m)] = true
		}
		for pack := range s.Packs {
			needed[packKey(key, pack)] = true
		}
	}
	grace := k.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	old := k.clock().Add(-grace)
	return k.remove(ctx, key, func(b blob.Info) bool { return !needed[b.Key] && b.Changed.Before(old) })
}

// Drop deletes everything under a key, and the index of this host.
func (k *Store) Drop(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := k.remove(ctx, key, func(blob.Info) bool { return true }); err != nil {
		return err
	}
	return os.RemoveAll(k.indexDir(key))
}

// remove deletes blobs of a key: manifests before packs, so that an interrupted deletion leaves no incomplete
// checkpoint.
func (k *Store) remove(ctx context.Context, key string, which func(blob.Info) bool) error {
	for _, prefix := range []string{manifestKey(key, ""), packKey(key, "")} {
		var doomed []string
		for b, err := range k.Blobs.List(ctx, prefix) {
			if err != nil {
				return fmt.Errorf("prune %s: %w", strings.TrimSuffix(prefix, "/"), err)
			}
			if which(b) {
				doomed = append(doomed, b.Key)
			}
		}
		for _, name := range doomed {
			if err := k.Blobs.Delete(ctx, name); err != nil {
				return fmt.Errorf("prune: %w", err)
			}
		}
	}
	return nil
}
