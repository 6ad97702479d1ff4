// Package weaken builds weakened versions of the program, in which tests can
// turn single defenses off. The product code has no such switches: they are
// edits of its source files, listed in edits/*.diff, and exist only in builds
// with the overlay that [Overlay] writes (go build -overlay, go test -overlay).
//
// An edit names a file, the defenses that it makes optional, and the lines to
// replace:
//
//	@@ internal/git/ref.go: git.refs
//	-	if why := refFault(name); why != "" {
//	+	if why := refFault(name); why != "" && !defense.Off("git.refs") {
//
// As in a unified diff, a line starts with a blank (context), a minus (removed)
// or a plus (added). There are no line numbers: context and removed lines
// together must occur exactly once in the file. An import that only the edit
// needs stands before them: import "strconv". The import of package defense is
// added to every edited file.
//
// One overlay contains all edits. Which defenses are off is chosen at run time;
// see package defense.
package weaken

import (
	"embed"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed edits/*.diff
var lists embed.FS

// An Edit makes defenses optional.
type Edit struct {
	At       string   // where the edit is listed: file and line
	File     string   // the file to edit, relative to the root of the module
	Defenses []string // the defenses that it makes optional
	Imports  []string // import specs that it adds
	Old, New string   // whole lines
}

// Edits returns all edits, in the order of their lists.
func Edits() ([]Edit, error) {
	names, err := lists.ReadDir("edits")
	if err != nil {
		return nil, err
	}
	var all []Edit
	for _, name := range names {
		text, err := lists.ReadFile("edits/" + name.Name())
		if err != nil {
			return nil, err
		}
		edits, err := parse(name.Name(), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, edits...)
	}
	return all, nil
}

// Defenses returns the names of all defenses, sorted.
func Defenses() ([]string, error) {
	edits, err := Edits()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, e := range edits {
		for _, name := range e.Defenses {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// parse reads a list of edits. Empty lines between edits are ignored; within
// one, they are empty lines of context.
func parse(list, text string) ([]Edit, error) {
	var edits []Edit
	blank := "" // empty lines that are context if more lines of the edit follow
	for i, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("%s:%d", list, i+1)
		if head, ok := strings.CutPrefix(line, "@@ "); ok {
			file, names, ok := strings.Cut(head, ": ")
			if !ok {
				return nil, fmt.Errorf("%s: want @@ file: defense,defense", at)
			}
			edits = append(edits, Edit{At: at, File: file, Defenses: strings.Split(names, ",")})
			blank = ""
			continue
		}
		if line == "" {
			blank += "\n"
			continue
		}
		if len(edits) == 0 {
			return nil, fmt.Errorf("%s: a line before the first @@", at)
		}
		e := &edits[len(edits)-1]
		if spec, ok := strings.CutPrefix(line, "import "); ok && e.Old == "" && e.New == "" {
			e.Imports, blank = append(e.Imports, spec), ""
			continue
		}
		mark, rest := line[0], line[1:]+"\n"
		if !strings.ContainsRune(" -+", rune(mark)) {
			return nil, fmt.Errorf("%s: the line starts with neither blank, - nor +", at)
		}
		e.Old, e.New, blank = e.Old+blank, e.New+blank, ""
		if mark != '+' {
			e.Old += rest
		}
		if mark != '-' {
			e.New += rest
		}
	}
	return edits, nil
}

const defensePackage = "internal/test/security/weaken/defense"

// Apply returns the edited files by their paths relative to root, the root of
// the module. It reports every edit that does not apply.
func Apply(root string) (map[string]string, error) {
	edits, err := Edits()
	if err != nil {
		return nil, err
	}
	byFile := map[string][]Edit{}
	for _, e := range edits {
		byFile[e.File] = append(byFile[e.File], e)
	}
	edited, faults := map[string]string{}, []string{}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", byFile[file][0].At, err))
			continue
		}
		weakened, wrong := apply(string(text), byFile[file])
		if len(wrong) == 0 {
			if _, err := parser.ParseFile(token.NewFileSet(), file, weakened, parser.SkipObjectResolution); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: the edited file does not parse: %v", byFile[file][0].At, err))
			}
		}
		edited[file] = weakened
		faults = append(faults, wrong...)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("edits that do not apply (see internal/test/security/weaken):\n%s", strings.Join(faults, "\n"))
	}
	return edited, nil
}

// apply edits one file. All edits are found in the text as it was.
func apply(text string, edits []Edit) (weakened string, faults []string) {
	type place struct {
		from, to int
		Edit
	}
	var places []place
	imports := []string{fmt.Sprintf("%q", "github.com/pawl-dev/pawl/"+defensePackage)}
	for _, e := range edits {
		found := lines(text, e.Old)
		if e.Old == "" || len(found) != 1 {
			faults = append(faults, fmt.Sprintf("%s: these lines must occur once in %s, not %d times:\n%s", e.At, e.File, len(found), e.Old))
			continue
		}
		from := found[0]
		places = append(places, place{from, from + len(e.Old), e})
		for _, spec := range e.Imports {
			if !slices.Contains(imports, spec) {
				imports = append(imports, spec)
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, p := range places {
		if p.from < at {
			faults = append(faults, fmt.Sprintf("%s: it overlaps another edit of %s", p.At, p.File))
			continue
		}
		b.WriteString(text[at:p.from] + p.New)
		at = p.to
	}
	b.WriteString(text[at:])
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", text, parser.ImportsOnly)
	if err != nil {
		return "", append(faults, err.Error())
	}
	for _, spec := range tree.Imports { // a later change may need it too
		imports = slices.DeleteFunc(imports, func(s string) bool { return s == spec.Path.Value })
	}
	// On the line of the package clause, so that line numbers stay right above
	// the first edit. The first edit is behind it.
	end := set.Position(tree.Name.End()).Offset
	return b.String()[:end] + "; import (" + strings.Join(imports, "; ") + ")" + b.String()[end:], faults
}

// lines returns the offsets of all occurrences of old in text that start a line.
func lines(text, old string) (found []int) {
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], old) {
			found = append(found, at)
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return found
}
