package root

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the golden files")

// maxVisible is how many commands 'pawl --help' lists at most.
const maxVisible = 25

// TestHelp compares the help of every command with testdata/help.golden and checks its form.
func TestHelp(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, name := range []string{"PAWL_MODEL", "HOME", "PAWL_DATA", "PAWL_CONFIG"} {
		t.Setenv(name, "") // the help shows defaults
	}
	var b strings.Builder
	for _, cmd := range allCommands(Command()) {
		b.WriteString("======== " + cmd.CommandPath() + "\n" + helpOf(t, cmd) + "\n")
		checkHelp(t, cmd)
	}
	golden := filepath.Join("testdata", "help.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("run go test ./internal/cli/root -update (-want +got):\n%s", diff)
	}
}

// allCommands returns cmd and all visible commands below it.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			list = append(list, allCommands(c)...)
		}
	}
	return list
}

func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var out bytes.Buffer
	cmd.InitDefaultHelpFlag()
	cmd.SetOut(&out)
	if err := cmd.Help(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// verb matches the beginning of a summary: a word with a capital, which is no article or pronoun.
var verb = regexp.MustCompile(`^[A-Z][a-z]+[ ,]`)

func checkHelp(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	path := cmd.CommandPath()
	if n := utf8.RuneCountInString(cmd.Short); n > 60 || n == 0 || strings.HasSuffix(cmd.Short, ".") {
		t.Errorf("%s: the summary %q must have 1 to 60 characters and no final period", path, cmd.Short)
	}
	if cmd.HasParent() && (!verb.MatchString(cmd.Short) || regexp.MustCompile(`^(A|An|The|All|What|Whether) `).MatchString(cmd.Short)) {
		t.Errorf("%s: the summary %q must begin with a verb with a capital", path, cmd.Short)
	}
	isTopic := cmd.HasParent() && cmd.Parent().Name() == "help"
	if cmd.Runnable() && !isTopic && strings.Count(strings.TrimSpace(cmd.Example), "\n") < 1 {
		t.Errorf("%s: its help needs two examples", path)
	}
	if isTopic && strings.Count(cmd.Long, "\n") >= 40 {
		t.Errorf("%s: it must have less than 40 lines", path)
	}
	for line := range strings.Lines(cmd.Long) {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%s: a line of the help has %d characters: %s", path, n, line)
		}
	}
	if !cmd.HasParent() {
		visible := 0
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				visible++
			}
		}
		if visible > maxVisible {
			t.Errorf("%d commands are visible, at most %d may be", visible, maxVisible)
		}
	}
}
