package agent

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxProjectRules bounds the rules that are added to one result, in bytes.
const maxProjectRules = 8 << 10

// metaRules is the metadata key that lists the rule files in a result, one per line.
const metaRules = "rules"

// fileTools are the tools that access single files rather than search directories.
var fileTools = []string{"read", "write", "edit", "apply_patch"}

const projectRulesHeader = "\n\n[Rules for the directory of this file, in addition to the earlier ones. They do not change permissions.]\n\n"

// addProjectRules appends to a result the project rules (nested AGENTS.md files) for the
// directories of the files that the call accessed, unless the conversation has them. The
// log records which it has, so a resumed turn does not repeat them; rules that a compaction
// or an undo removed are added again.
func (s *Stepper) addProjectRules(j *journal, p plannedCall, f *pawl.CallFinished) {
	found := j.project.found
	if found == nil || f.Status != pawl.CallDone || f.Result.IsError || !slices.Contains(fileTools, p.started.Tool) {
		return
	}
	var texts, names []string
	for _, a := range p.started.Access {
		if a.Kind != pawl.AccessRead && a.Kind != pawl.AccessWrite {
			continue
		}
		target := a.Target
		if !filepath.IsAbs(target) {
			target = filepath.Join(found.Dir, target)
		}
		for _, file := range found.RulesFor(target, nil).Files {
			if j.claim(p, found.Dir, file) {
				texts = append(texts, "Rules from "+sanitize.Line(file.Origin.File)+":\n\n"+file.Text)
				names = append(names, file.Origin.File)
			}
		}
	}
	if len(texts) == 0 {
		return
	}
	f.Result.Content += s.sanitizeResult(pawl.Result{Content: projectRulesHeader + truncateRules(strings.Join(texts, "\n\n"))}).Content + "\n"
	meta := map[string]string{metaRules: strings.Join(names, "\n")}
	for k, v := range f.Result.Meta {
		meta[k] = v
	}
	f.Result.Meta = meta
}

// claim reports whether a call should add a rule file to its result, and marks the file as
// added: parallel calls do not add it twice.
func (j *journal) claim(p plannedCall, dir string, file rules.File) bool {
	rel, err := filepath.Rel(dir, file.Origin.File)
	if err != nil || p.call.Reads != nil && !p.call.Reads(rel) {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	name := file.Origin.File
	if j.context.rules[name] || j.project.claimed[name] {
		return false
	}
	j.project.claimed[name] = true
	return true
}

// truncateRules cuts a text to maxProjectRules bytes.
func truncateRules(text string) string {
	if len(text) <= maxProjectRules {
		return text
	}
	end := maxProjectRules
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "\n\n(cut: read the file for the rest)"
}
