//go:build sectest

package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// restoredThroughLinks: after a turn, the directory that it worked in is exchanged
// for a link to another that looks the same. An undo would delete and overwrite
// there. And a file that it worked on gets a second name.
func restoredThroughLinks(a *attackEnv) {
	a.write("d/kept", "kept\n")
	a.write("hard", "kept\n")
	a.play("yolo", bash("echo changed > d/kept; echo new > d/new; echo changed > hard"))
	other := filepath.Join(a.TempDir(), "other")
	if err := os.Rename(filepath.Join(a.dir, "d"), other); err != nil {
		a.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(a.dir, "d")); err != nil {
		a.Fatal(err)
	}
	second := filepath.Join(a.TempDir(), "second")
	if err := os.Link(filepath.Join(a.dir, "hard"), second); err != nil {
		a.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--leave"}, {"--keep-aside"}} {
		a.pawl(slices.Concat([]string{"session", "undo", "last", "--yes"}, flags)...)
		if text := a.read(filepath.Join(other, "kept")); text != "changed\n" {
			a.breach("undo %v wrote %q through a link", flags, text)
		}
		if !a.exists(filepath.Join(other, "new")) {
			a.breach("undo %v deleted through a link", flags)
		}
		if text := a.read(second); text != "changed\n" {
			a.breach("undo %v wrote %q to the other name of a file", flags, text)
		}
	}
	if text := a.read("hard"); text != "kept\n" {
		a.Errorf("the undo did nothing at all: %q", text)
	}
}

// burnsTheBudget: a model that was instructed to calls the same thing for ever.
func burnsTheBudget(a *attackEnv) {
	const times = 60
	lines := make([]any, times, times+1)
	for i := range lines {
		lines[i] = reply{"calls": []call{bash("echo once more | tee -a count")}}
	}
	out := a.pawl("run", "--mode", "yolo", "--format", "stream-json", "--model", a.script(append(lines, reply{"text": "done"})...), "go")
	if !strings.Contains(out.Stdout, `"reason":"`+string(pawl.ReasonLoop)+`"`) {
		a.breach("the turn did not end as a loop: exit %d", out.Code)
	}
	if n := strings.Count(a.read("count"), "\n"); n >= times/2 {
		a.breach("the call was made %d times", n)
	}
}
