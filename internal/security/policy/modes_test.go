package policy

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// TestModes: the modes that are offered are those that a policy can be had with.
func TestModes(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for name, test := range map[string]struct {
		managed config.Managed
		want    []permission.Mode
	}{
		"no policy":        {config.Managed{}, modes},
		"a maximum":        {config.Managed{MaxMode: "guard"}, modes[:3]},
		"only plan":        {config.Managed{MaxMode: "plan"}, modes[:1]},
		"a sandbox always": {config.Managed{SandboxRequired: true}, modes[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir, _ := open(t)
			s.managed.known, s.managed.path, s.managed.value = true, config.ManagedFile, test.managed // as if it was read
			got, err := s.Modes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("modes (-want +got):\n%s", diff)
			}
			for _, mode := range modes {
				_, err := s.Policy(t.Context(), "", dir, pawl.Settings{Mode: string(mode)})
				if allowed := slices.Contains(got, mode); allowed != (err == nil) || err != nil && !errors.Is(err, pawl.ErrDenied) {
					t.Errorf("%s: %v", mode, err)
				}
			}
		})
	}
	s, _, _ := open(t)
	s.managed.known, s.managed.path, s.managed.value = true, config.ManagedFile, config.Managed{MaxMode: "any"}
	if got, err := s.Modes(); err == nil {
		t.Errorf("a policy that is not understood permits %v", got)
	}
}
