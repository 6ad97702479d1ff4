//go:build !linux

package worktree

import (
	"strings"
	"testing"
)

// asOwner runs code for which file permissions matter, so not as root.
func asOwner(_ *testing.T, do func()) { do() }

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }
