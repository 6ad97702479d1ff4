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

// nearbyBytes bounds the rules that come with one result.
const nearbyBytes = 8 << 10

// metaRules is the key of a result that names the files of rules that came with it.
const metaRules = "rules"

// fileTools are the tools whose accesses are files, and not directories to look through.
var fileTools = []string{"read", "write", "edit", "apply_patch"}

const nearbyHead = "\n\n[Rules for the folder of this file, in addition to those that you were given. They permit nothing that is not permitted without them.]\n\n"

// nearby puts the rules behind a result that hold for the directories of the files
// that a call has touched, unless the conversation has them. Which it has the log
// says, so that a resumed turn does not repeat them; what a compaction or an undo
// has taken out of the conversation is given again.
func (s *Stepper) nearby(j *journal, p plannedCall, f *pawl.CallFinished) {
	found := j.brought.found
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
		for _, file := range found.Near(target, nil).Files {
			if j.claim(p, found.Dir, file) {
				texts = append(texts, "Rules from "+sanitize.Line(file.Origin.File)+":\n\n"+file.Text)
				names = append(names, file.Origin.File)
			}
		}
	}
	if len(texts) == 0 {
		return
	}
	f.Result.Content += s.sanitizeResult(pawl.Result{Content: nearbyHead + cutRules(strings.Join(texts, "\n\n"))}).Content + "\n"
	meta := map[string]string{metaRules: strings.Join(names, "\n")}
	for k, v := range f.Result.Meta {
		meta[k] = v
	}
	f.Result.Meta = meta
}

// claim says whether a call is the one that gives a file of rules. Calls that run
// beside each other do not give it twice.
func (j *journal) claim(p plannedCall, dir string, file rules.File) bool {
	rel, err := filepath.Rel(dir, file.Origin.File)
	if err != nil || p.call.Reads != nil && !p.call.Reads(rel) {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	name := file.Origin.File
	if j.tally.given[name] || j.brought.claimed[name] {
		return false
	}
	j.brought.claimed[name] = true
	return true
}

// cutRules bounds a text.
func cutRules(text string) string {
	if len(text) <= nearbyBytes {
		return text
	}
	end := nearbyBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "\n\n(cut: read the file for the rest)"
}
