package gc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

func TestPrintGC(t *testing.T) {
	t.Parallel()
	report := gcReport{
		Snapshots: snapshot.GCReport{
			Folders: []snapshot.FolderReport{
				{Dir: "/home/ada/kept"},
				{Dir: "/home/ada/engine", Removed: []snapshot.Removal{{Owner: "01JD", Why: "over the quota"}}},
				{Removed: []snapshot.Removal{{Owner: "01JA", Why: "damaged"}, {Owner: "01JB", Why: "damaged"}}, Why: "damaged"},
			},
			Before: 12_000_000, After: 1_500_000,
		},
		Sandboxes: policy.Cleaned{Sessions: 1, Folders: 2, Before: 900, After: 950},
		Worktrees: []string{"/w/1"},
		Isolated:  []string{"/i/1", "/i/2"},
	}
	freed := `/home/ada/engine: deleted the snapshots of 1 session
  01JD: over the quota
unknown directory: deleted the snapshots of 2 sessions (all of this directory: damaged)
  01JA: damaged
  01JB: damaged
snapshots: freed 11 MB of 12 MB
sandboxes: freed 0 bytes of 900 bytes (temporary files of 1 session, caches of 2 projects)
missions: deleted 1 worktree
isolated sessions: deleted 2 views
`
	for dry, want := range map[bool]string{
		false: freed,
		true:  strings.NewReplacer("freed", "would free", "deleted", "would delete").Replace(freed),
	} {
		report.DryRun = dry
		var out strings.Builder
		printGC(&out, report)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("dry run %v (-want +got):\n%s", dry, diff)
		}
	}
}
