package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
)

// TestTrustedOwners: the administrator's list of owners replaces the user's, also if it is
// empty. A project has no say, however trusted it is.
func TestTrustedOwners(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for name, test := range map[string]struct {
		managed *config.Skills
		want    []string
	}{
		"the user's":          {nil, []string{"github.com/alice"}},
		"the administrator's": {&config.Skills{TrustedOwners: []string{"git.example.org/bob"}}, []string{"git.example.org/bob"}},
		"none":                {&config.Skills{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir, _ := open(t)
			configure(t, `{"skills":{"trusted_owners":["alice"]}}`)
			if err := os.MkdirAll(filepath.Join(dir, ".pawl"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, config.ProjectFile), []byte(`{"skills":{"trusted_owners":["mallory"]}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			s.managed.known, s.managed.path, s.managed.value = true, config.ManagedFile, config.Managed{Skills: test.managed} // as if it was read
			p, err := s.Policy(t.Context(), "", dir, pawl.Settings{Trusted: true})
			if diff := cmp.Diff(test.want, p.TrustedOwners); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestUserSkills: commands read the directory of the user's skills, unless a link leads to
// it or it is in a workspace.
func TestUserSkills(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, linked := filepath.Join(base, "home"), filepath.Join(base, "linked")
	for _, dir := range []string{filepath.Join(home, ".agents/skills/carve"), filepath.Join(linked, ".agents"), filepath.Join(base, "none")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home, filepath.Join(linked, ".agents/skills")); err != nil {
		t.Fatal(err)
	}
	skills := filepath.Join(home, ".agents/skills")
	for name, test := range map[string]struct {
		home, workspace string
		want            []string
	}{
		"there":                  {home, base + "/project", []string{skills}},
		"missing":                {base + "/none", base + "/project", nil},
		"a link":                 {linked, base + "/project", nil},
		"the workspace is home":  {home, home, nil},
		"the workspace is in it": {home, skills + "/carve", nil},
	} {
		got := (&Safety{home: test.home}).userSkills([]string{test.workspace})
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
