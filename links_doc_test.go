package pawl_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeBlock   = regexp.MustCompile("(?ms)^```.*?^```$")
	pageLink    = regexp.MustCompile(`\]\(([^)\s…]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinksInPages checks that every relative link in a Markdown file leads to a file that exists and, if it has a
// fragment, to a heading of that page.
func TestLinksInPages(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "dist"}, d.Name())):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			pages[name] = codeBlock.ReplaceAllString(readPage(t, name), "")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, text := range pages {
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			links++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := fs.Stat(root, file); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
			} else if fragment != "" && !slices.Contains(anchors(pages[file]), fragment) {
				t.Errorf("%s: %s: no such heading", name, m[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links", links)
	}
}

// anchors returns the fragments that lead to the headings of a page.
func anchors(page string) []string {
	var all []string
	for _, m := range pageHeading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}
