package gate

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// toy is a project whose tests are a file: each run tells what the file says. A
// name that ends with a number passes but in that run, or the other way round,
// counted from one, and each tree counts for itself.
type toy map[string]string

// toyScript counts the runs and reports the tests as go test does.
const toyScript = `n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n >count; code=0
while read -r name how at; do
	if [ "$at" = "$n" ]; then case $how in pass) how=fail;; fail) how=pass;; esac; fi
	if [ $how = fail ]; then code=1; fi
	echo "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"$name\"}"
	echo "{\"Action\":\"$how\",\"Package\":\"p\",\"Test\":\"$name\"}"
done <tests
exit $code`

// files are those of a commit: the tests, and others.
func (p toy) files(more ...string) map[string]string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s %s\n", name, p[name])
	}
	files := map[string]string{"tests": b.String()}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// toyChecks prepare the tree, look for a file, and run the tests.
func toyChecks() []pawl.Check {
	return []pawl.Check{
		{ID: "prepare", Kind: pawl.CheckSetup, Args: []string{"sh", "-c", "pwd; touch prepared"}},
		{ID: "lint", Kind: pawl.CheckLint, Args: []string{"sh", "-c", "test -e prepared && test ! -e ugly"}},
		{ID: "test", Kind: pawl.CheckTest, Tests: "gotest", Args: []string{"sh", "-c", toyScript}},
	}
}

// toyGate is a gate for a toy's base, and the list of what it says that it ran.
func toyGate(t *testing.T, base toy, more ...string) (*testRepo, *Gate, pawl.Criteria, *[]string) {
	t.Helper()
	w := newTestRepo(t)
	g, criteria := w.gate(w.commit(base.files(more...)), pawl.Criteria{}, toyChecks())
	g.Sandbox = unboxed
	ran := &[]string{}
	g.OnRun = func(r CheckResult) error {
		*ran = append(*ran, r.Check+" on "+r.On)
		return nil
	}
	return w, g, criteria, ran
}

// unboxed runs a check as it is. What a sandbox keeps from a check is not what these
// tests are about.
func unboxed(_ context.Context, args []string, p sandbox.Profile, _ []string) (sandbox.Wrapped, error) {
	return sandbox.Unwrapped(args, append([]string{"PATH=" + os.Getenv("PATH")}, p.Env...)), nil
}

// forget empties a list and returns what it held.
func forget(list *[]string) []string {
	old := *list
	*list = nil
	return old
}

// runsOf are the runs of an outcome, in a few words.
func runsOf(runs []pawl.CheckRun) (list []string) {
	for _, r := range runs {
		list = append(list, r.Check+" on "+r.On)
	}
	return list
}
