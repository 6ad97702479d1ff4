//go:build !linux

package tree

import (
	"context"
	"errors"
)

var errPlatform = errors.New("command transactions need Linux")

// Scan is not available on this platform.
func Scan(context.Context, View) ([]Change, []Dropped, error) { return nil, nil, errPlatform }

// Now is not available on this platform.
func Now(string) (int64, error) { return 0, errPlatform }

// Apply is not available on this platform.
func (t *Transaction) Apply(context.Context, []Change) (Result, error) { return Result{}, errPlatform }

// Resume is not available on this platform.
func Resume(context.Context, string) (Result, error) { return Result{}, errPlatform }

// Discard is not available on this platform.
func Discard(string) ([]Identity, error) { return nil, errPlatform }
