package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/mission/review"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxListed bounds the names of files or tests in a report.
const maxListed = 500

// Report is the input of a reviewer: the criteria, the results and the change, and nothing that its author
// says about it.
type Report struct {
	Criteria pawl.Criteria
	Proof    Proof
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

// maxDiff bounds the patch from base to candidate, in bytes.
const maxDiff = 64 << 20

// Report returns what a reviewer needs to know about a proof.
func (g *Gate) Report(ctx context.Context, f pawl.Criteria, p Proof) (Report, error) {
	d := Report{Criteria: f, Proof: p}
	var err error
	d.Patch, err = g.Repo.Run(ctx, git.Call{
		Args: []string{"diff-tree", "-r", "-p", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3"}, Refs: []string{p.Base, p.Candidate}, Limit: maxDiff,
	})
	if err != nil {
		return d, err
	}
	if d.Files, err = files(d.Patch); err != nil {
		return d, err
	}
	for id, now := range p.OnHead {
		d.Added = append(d.Added, without(now.Tests, p.OnBase[id].Tests)...)
	}
	for id, before := range p.OnBase {
		d.Removed = append(d.Removed, without(before.Tests, p.OnHead[id].Tests)...)
	}
	for _, list := range []*[]string{&d.Added, &d.Removed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return d, nil
}

// files returns the files of a patch with their line counts.
func files(patch []byte) (list []FileChange, err error) {
	parsed, err := review.Parse(patch)
	if err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	for _, f := range parsed {
		c := FileChange{Path: f.Path, State: f.State}
		for _, h := range f.Hunks {
			for _, row := range h.Rows {
				switch row.Kind {
				case '+':
					c.Added++
				case '-':
					c.Removed++
				}
			}
		}
		i := slices.IndexFunc(list, func(o FileChange) bool { return o.Path == f.Path })
		if i < 0 {
			list = append(list, c)
			continue
		}
		list[i] = FileChange{c.Path, "modified", list[i].Added + c.Added, list[i].Removed + c.Removed} // a file that became a link
	}
	return list, nil
}

// Markdown formats the report for a model. Everything that the author could have written is marked as
// untrusted. At most maxPatch bytes of the patch are included.
func (d Report) Markdown(maxPatch int) string {
	var b strings.Builder
	p := d.Proof
	fmt.Fprintf(&b, "# Change\n\nFrom `%s` to `%s` (tree `%s`). %s.\n\n## Criteria\n\n", p.Base, p.Candidate, p.Tree, p.Summary())
	for _, c := range d.Criteria.Criteria {
		fmt.Fprintf(&b, "- **%s**: %s\n", sanitize.Line(c.ID), sanitize.Line(c.Text))
	}
	if len(d.Criteria.Criteria) == 0 {
		b.WriteString("None.\n")
	}
	b.WriteString("\n## Checks\n\n| check | on | result | tests |\n|---|---|---|---|\n")
	for _, r := range p.Runs {
		if r.On == "base" || r.On == "candidate" {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.Check), r.On, cell(result(r)), tests(r.Tests))
		}
	}
	d.notes(&b)
	fmt.Fprintf(&b, "\n## Files\n\n%s\n", untrusted("names of changed files", d.fileList()))
	fmt.Fprintf(&b, "\n## Tests\n\n%s\n", untrusted("names of tests", d.testList()))
	d.patch(&b, maxPatch)
	return b.String()
}

// untrusted marks text that the author could have written as untrusted.
func untrusted(source, text string) string {
	return sanitize.Untrusted(source, text)
}

// notes lists what the gate noticed. The texts quote lines of the change.
func (d Report) notes(b *strings.Builder) {
	b.WriteString("\n## Notes\n\n")
	var lines []string
	for _, n := range d.Proof.Notes() {
		lines = append(lines, n.Rule+": "+sanitize.Line(n.Text))
	}
	if len(lines) == 0 {
		b.WriteString("None.\n")
		return
	}
	fmt.Fprintf(b, "%s\n", untrusted("what the gate noticed", listed(lines)))
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
	}{{"added", d.Added}, {"removed", d.Removed}} {
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
