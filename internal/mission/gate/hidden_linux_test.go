package gate

import (
	"os"
	"testing"

	"github.com/pawl-dev/pawl"
)

// seen is what a check prints that looks into the repository, and how it ends.
func seen(t *testing.T) pawl.CheckRun {
	t.Helper()
	here, err := os.Getwd()
	if err == nil && within(here, os.TempDir()) { // sandboxes do not see temporary files anyway
		here, err = os.UserHomeDir()
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(here, ".hidden-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w := newTestRepoIn(t, dir)
	base := w.commit(map[string]string{"answer": "42\n"})
	look := pawl.Check{ID: "look", Kind: pawl.CheckOther, Args: []string{"sh", "-c", "cat " + w.dir + "/answer && cat " + w.dir + "/.git/HEAD"}}
	g, criteria := w.gate(base, pawl.Criteria{}, []pawl.Check{look})
	runs, err := g.Baseline(t.Context(), criteria, nil)
	if err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

// The checks see their own tree, and nothing of the repository that it is from.
func TestRepositoryIsHidden(t *testing.T) {
	t.Parallel()
	if ran := seen(t); ran.OK() {
		t.Errorf("a check has read %q", ran.Tail)
	}
}
