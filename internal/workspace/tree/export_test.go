//go:build linux

package tree

import "context"

// SetHook makes a transaction call hook before each operation.
func (t *Transaction) SetHook(hook func(point string) error) { t.hook = hook }

// DisableLeases makes a transaction work as on a file system without leases.
func (t *Transaction) DisableLeases() { t.noLeases = true }

// ResumeWithHook is Resume with a hook.
func ResumeWithHook(ctx context.Context, dir string, hook func(point string) error) (Result, error) {
	return resume(ctx, dir, hook)
}
