package language

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var report = flag.String("report", "", "write what breaks the rules to one file per area in this directory")

func TestReport(t *testing.T) {
	t.Parallel()
	if *report == "" {
		return
	}
	byArea := map[string][]finding{}
	for _, f := range withoutExceptions(t, scan(t, os.DirFS(root))) {
		byArea[area(f.file)] = append(byArea[area(f.file)], f)
	}
	for _, name := range []string{"agent", "root", "security", "frontend", "tool", "cmd", "mission", "test", "docs"} {
		list := byArea[name]
		slices.SortStableFunc(list, func(a, b finding) int {
			return cmp.Or(cmp.Compare(a.rule.name, b.rule.name), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
		})
		var out strings.Builder
		fmt.Fprintf(&out, "%d findings. A word that is right in its place: tell the owner of internal/test/language, or add a line to its exceptions.txt.\n", len(list))
		last := ""
		for _, f := range list {
			if f.rule.name != last {
				last = f.rule.name
				fmt.Fprintf(&out, "\n== %s: say %s\n", last, f.rule.say)
			}
			fmt.Fprintf(&out, "%s:%d\t%s\n", f.file, f.line, f.text)
		}
		fmt.Println(name, len(list))
		if err := os.WriteFile(filepath.Join(*report, name+".txt"), []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rules {
		line := fmt.Sprintf("%-12s", rules[i].name)
		for _, a := range []string{"agent", "root", "security", "frontend", "tool", "cmd", "mission", "test", "docs"} {
			m := 0
			for _, f := range byArea[a] {
				if f.rule == &rules[i] {
					m++
				}
			}
			line += fmt.Sprintf(" %s %d", a, m)
		}
		fmt.Println(line)
	}
}

// area returns the part of the repository that a file belongs to, for the report.
func area(file string) string {
	for _, a := range areas {
		for _, dir := range a.dirs {
			if strings.HasPrefix(file, dir) {
				return a.name
			}
		}
	}
	if path.Dir(file) == "." && path.Ext(file) == ".go" {
		return "root"
	}
	return "docs"
}

var areas = []struct {
	name string
	dirs []string
}{
	{"agent", []string{"internal/agent", "internal/service", "internal/bus", "internal/workspace", "internal/git", "internal/proc", "internal/humanize", "internal/suggest", "internal/telemetry"}},
	{"root", []string{"client/", "internal/api", "internal/store"}},
	{"security", []string{"internal/security", "internal/config"}},
	{"frontend", []string{"internal/frontend", "internal/transcript"}},
	{"tool", []string{"internal/tool", "internal/mcp", "internal/extension", "internal/hook"}},
	{"cmd", []string{"cmd/", "internal/app", "internal/cli", "fleet/"}},
	{"mission", []string{"internal/mission", "internal/model"}},
	{"test", []string{"internal/test", "oracle/"}},
}
