//go:build !linux

package worktree

import (
	"strings"
	"testing"
)

// asOwner runs something for which the modes of files count: not as root.
func asOwner(_ *testing.T, do func()) { do() }

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }
