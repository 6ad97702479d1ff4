package security

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// TestSandboxFixes checks that fixes are returned only if no sandbox is available.
func TestSandboxFixes(t *testing.T) {
	t.Parallel()
	findings := []sandbox.Finding{
		{Name: "bubblewrap", Detail: "bwrap is not installed", Fix: "apt install bubblewrap"},
		{Name: "seccomp", OK: true, Detail: "filter for amd64"},
		{Name: "landlock", Detail: "ABI 1, needed is 6", Fix: "use Linux 6.12 or later"},
	}
	if err := sandboxFixes(sandbox.Report{Backend: "landlock", Findings: findings}); err != nil {
		t.Error(err)
	}
	want := "bubblewrap: bwrap is not installed (fix: apt install bubblewrap)\nlandlock: ABI 1, needed is 6 (fix: use Linux 6.12 or later)"
	if diff := cmp.Diff(want, sandboxFixes(sandbox.Report{Backend: "none", Findings: findings}).Error()); diff != "" {
		t.Error(diff)
	}
}
