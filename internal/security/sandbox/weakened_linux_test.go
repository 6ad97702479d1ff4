//go:build sectest

package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defensetest"
)

// landlockDefenses are what stops an attack in the landlock sandbox, where that is
// another defense than in bubblewrap's.
var landlockDefenses = map[string]string{
	"root": "landlock", "root,proc": "landlock", "net": "seccomp,landlock", "pid": "landlock", "device": "landlock", "ipc": "seccomp",
	"masks": "landlock,seccomp", "protected": "protected,masks", "protected,seccomp": "landlock",
}

// stillClosed are attacks that fail even without the defenses of their group,
// and why.
var stillClosed = map[string]string{
	"bubblewrap/root/write through a hard link":              "the workspace is a mount of its own",
	"bubblewrap/pid/another process's variables":             "it is in another user namespace",
	"bubblewrap/pid,seccomp/debug another process":           "it is in another user namespace",
	"bubblewrap/net/DNS":                                     "the machine of the tests may have no resolver",
	"bubblewrap/masks/a socket in /run":                      "the machine of the tests may have none",
	"bubblewrap/seccomp/calls of x32":                        "few kernels have them",
	"landlock/pid/another process's variables":               "root without capabilities cannot look at root with them",
	"landlock/pid,seccomp/debug another process":             "root without capabilities cannot look at root with them",
	"landlock/seccomp/calls of x32":                          "few kernels have them",
	"landlock/net/DNS":                                       "the machine of the tests may have no resolver",
	"landlock/masks/a socket in /run":                        "the machine of the tests may have none",
	"landlock/above,after/by moving the folder above, below": "nothing can be moved that holds what is protected",
	"landlock/after/another configuration for git":           "it cannot be created",
}

// TestWeakenedHome: the test of the home directory notices if it is visible.
func TestWeakenedHome(t *testing.T) {
	t.Parallel()
	defensetest.NoticedBy(t, "TestHomeIsHidden/bubblewrap", "sandbox.home")
}

// TestDefensesMatter takes the defenses of each attack out and makes it again:
// then it gets through, or the test of it would prove nothing.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	for _, backend := range backends(t) {
		for _, a := range attacks {
			if a.group == "" || a.open != "" && backend.Name() == "landlock" {
				continue
			}
			t.Run(backend.Name()+"/"+a.group+"/"+a.name, func(t *testing.T) {
				group := a.group
				if g, ok := landlockDefenses[group]; ok && backend.Name() == "landlock" {
					group = g
				}
				restore := defense.Disable("sandbox." + strings.ReplaceAll(group, ",", ",sandbox."))
				w := newTestEnv(t, backend)
				w.weapons(a.script)
				o := w.run(w.profile, a.script)
				damage := w.damage(o)
				restore()
				reported := a.reported
				if backend.Name() == "landlock" {
					reported = a.reportedLandlock
				}
				_, closed := stillClosed[backend.Name()+"/"+a.group+"/"+a.name]
				if !closed && len(damage) == 0 && slices.Equal(o.reported, reported) {
					t.Errorf("without %s it still fails:\n%s", group, o.output)
				}
			})
		}
	}
}
