//go:build !linux

package tree

import (
	"context"
	"errors"
	"os"
)

var errPlatform = errors.New("command transactions need Linux")

// Scan is not available on this platform.
func Scan(context.Context, View) ([]Change, []Dropped, error) { return nil, nil, errPlatform }

// Detach is not available on this platform.
func Detach(context.Context, string, []Change, string) ([]Change, error) { return nil, errPlatform }

// Now is not available on this platform.
func Now(string) (int64, error) { return 0, errPlatform }

// ChangedSince returns false.
func ChangedSince(os.FileInfo, int64) bool { return false }

// Apply is not available on this platform.
func (t *Transaction) Apply(context.Context, []Change) (Result, error) { return Result{}, errPlatform }

// Resume is not available on this platform.
func Resume(context.Context, string) (Result, error) { return Result{}, errPlatform }

// Mirror is not available on this platform.
type Mirror struct{}

// Collected is not available on this platform.
type Collected struct{}

// OpenMirror is not available on this platform.
func OpenMirror(View, string, int64) (*Mirror, error) { return nil, errPlatform }

// Close does nothing.
func (*Mirror) Close() {}

// Own returns nothing.
func (*Mirror) Own() []Identity { return nil }

// Foreign returns the changes.
func (*Mirror) Foreign(changes []Change) []Change { return changes }

// Update is not available on this platform.
func (*Mirror) Update(string) (bool, error) { return false, errPlatform }

// Hide is not available on this platform.
func (*Mirror) Hide(string) error { return errPlatform }

// Collect is not available on this platform.
func (*Mirror) Collect(context.Context, string, func(string) bool) (Collected, error) {
	return Collected{}, errPlatform
}

// Settle is not available on this platform.
func (*Mirror) Settle(Collected, Result) error { return errPlatform }

// Empty reports that nothing has changed.
func (Collected) Empty() bool { return true }

// Copy is not available on this platform.
type Copy struct {
	Cloned bool
	Mounts []string
}

// NewCopy is not available on this platform.
func NewCopy(context.Context, View, string) (*Copy, error) { return nil, errPlatform }

// Complete returns the view.
func (*Copy) Complete(v View) View { return v }

// Collect is not available on this platform.
func (*Copy) Collect(context.Context, string) error { return errPlatform }

// WhiteOut is not available on this platform.
func WhiteOut(string) error { return errPlatform }
