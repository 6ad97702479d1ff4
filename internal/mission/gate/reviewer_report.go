package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxListed bounds the names of files or tests in a report.
const maxListed = 500

// Report is the input of a reviewer: the criteria, the results and the change, and nothing that its author
// says about it.
type Report struct {
	Criteria pawl.Criteria
	Outcome  Outcome
	Files    []FileChange
	Added    []string // tests that the base did not have
	Removed  []string // tests that only the base has
	Patch    []byte   // from base to candidate
}

// FileChange is a file that differs from the base.
type FileChange struct {
	Path           string
	State          string // added, modified or deleted
	Added, Removed int    // lines; 0 for binary files
}

func newReport(f pawl.Criteria, o Outcome, c *comparison, e *evidence) Report {
	d := Report{Criteria: f, Outcome: o, Files: c.files(), Patch: c.patch}
	for _, check := range e.checks {
		before, now := e.base[check.ID].Tests, e.candidate[check.ID].Tests
		d.Added = append(d.Added, without(now, before)...)
		d.Removed = append(d.Removed, without(before, now)...)
	}
	for _, list := range []*[]string{&d.Added, &d.Removed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return d
}

// files returns all changed files with their line counts.
func (c *comparison) files() []FileChange {
	base, now := map[string]bool{}, map[string]bool{}
	for _, e := range c.base {
		base[e.Path] = true
	}
	for _, e := range c.candidate {
		now[e.Path] = true
	}
	lines := map[string]FileChange{}
	for _, change := range c.changes { // a file that became a link appears twice
		was := lines[change.file]
		lines[change.file] = FileChange{Added: was.Added + len(change.added), Removed: was.Removed + len(change.removed)}
	}
	var list []FileChange
	for _, name := range c.changed() {
		file := FileChange{Path: name, State: "modified", Added: lines[name].Added, Removed: lines[name].Removed}
		switch {
		case !base[name]:
			file.State = "added"
		case !now[name]:
			file.State = "deleted"
		}
		list = append(list, file)
	}
	return list
}

// Markdown formats the report for a model. Everything that the author could have written is marked as
// untrusted. At most maxPatch bytes of the patch are included.
func (d Report) Markdown(maxPatch int) string {
	var b strings.Builder
	o := d.Outcome
	fmt.Fprintf(&b, "# Change\n\nFrom `%s` to `%s` (tree `%s`).\n\n## Criteria\n\n", o.Base, o.Candidate, o.Tree)
	for _, c := range d.Criteria.Criteria {
		fmt.Fprintf(&b, "- **%s**: %s\n", sanitize.Line(c.ID), sanitize.Line(c.Text))
	}
	if len(d.Criteria.Criteria) == 0 {
		b.WriteString("None.\n")
	}
	b.WriteString("\n## Checks\n\n| check | on | result | tests |\n|---|---|---|---|\n")
	for _, r := range o.Runs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.Check), r.On, cell(result(r)), tests(r.Tests))
	}
	d.suspicious(&b)
	fmt.Fprintf(&b, "\n## Files\n\n%s\n", untrusted("names of changed files", d.fileList()))
	fmt.Fprintf(&b, "\n## Tests\n\n%s\n", untrusted("names of tests", d.testList()))
	d.patch(&b, maxPatch)
	return b.String()
}

// untrusted marks text that the author could have written as untrusted.
func untrusted(source, text string) string {
	return sanitize.Untrusted(source, text)
}

// SuspicionID returns the id by which a reviewer refers to a suspicion.
func SuspicionID(i int) string { return fmt.Sprintf("S%d", i+1) }

// suspicious lists the suspicions. Their texts quote lines of the change.
func (d Report) suspicious(b *strings.Builder) {
	b.WriteString("\n## Suspicions\n\n")
	if len(d.Outcome.Suspicions) == 0 {
		b.WriteString("None.\n")
		return
	}
	var lines []string
	for i, s := range d.Outcome.Suspicions {
		fmt.Fprintf(b, "- **%s**: %s\n", SuspicionID(i), s.Rule)
		lines = append(lines, SuspicionID(i)+": "+sanitize.Line(s.Text))
	}
	fmt.Fprintf(b, "\n%s\n", untrusted("lines of the change", strings.Join(lines, "\n")))
}

func (d Report) fileList() string {
	var lines []string
	for _, f := range d.Files {
		lines = append(lines, fmt.Sprintf("%s +%d -%d %s", f.State, f.Added, f.Removed, sanitize.Line(f.Path)))
	}
	return listed(lines)
}

func (d Report) testList() string {
	var parts []string
	for _, kind := range []struct {
		word  string
		names []string
	}{{"added", d.Added}, {"removed", d.Removed}, {"failed before as well", d.Outcome.Before}, {"flaky on the base", d.Outcome.Flaky}} {
		var lines []string
		for _, name := range kind.names {
			lines = append(lines, kind.word+": "+sanitize.Line(name))
		}
		if len(lines) > 0 {
			parts = append(parts, listed(lines))
		}
	}
	return cmp.Or(strings.Join(parts, "\n"), "none added, none removed")
}

// listed joins lines, at most maxListed of them.
func listed(lines []string) string {
	if more := len(lines) - maxListed; more > 0 {
		lines = append(slices.Clone(lines[:maxListed]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// patch adds the patch, truncated at a line end if it is too long.
func (d Report) patch(b *strings.Builder, most int) {
	text := string(d.Patch)
	if len(text) > most {
		text = text[:strings.LastIndexByte(text[:max(0, most)], '\n')+1]
	}
	fmt.Fprintf(b, "\n## Patch\n\n%s\n", untrusted("patch", text))
	if cut := len(d.Patch) - len(text); cut > 0 {
		fmt.Fprintf(b, "\nThe patch is cut: %d of its %d bytes are not shown. Read the files that are listed above in the tree for the rest. What you have not read you cannot vouch for.\n", cut, len(d.Patch))
	}
	if strange := sanitize.FirstStrange(strings.ReplaceAll(text, "\r\n", "\n")); strange != "" {
		fmt.Fprintf(b, "\nThe patch holds characters that do not show, %s for one: some are left out above. Find out what they are there for.\n", strange)
	}
}

// without returns the tests of one inventory that the other lacks, without subtests.
func without(list, other *inventory.Inventory) (names []string) {
	if list == nil {
		return nil
	}
	for name := range list.Tests {
		if other != nil {
			if _, there := other.Tests[name]; there {
				continue
			}
		}
		if list.Whole(name) == name {
			names = append(names, name)
		}
	}
	return names
}
