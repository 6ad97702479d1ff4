package provider

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/model"
)

// noModel is how a user says that titles and summaries are not wanted.
const noModel = "none"

// Small returns the ref of the model that writes titles and summaries for
// sessions with a given one: the user's choice, or the one that the catalog has
// for the same provider, so that nobody else gets to read what is said. "" means
// none: of servers on this machine none is known, and it would be in their way.
//
// A script stays by itself unless the choice is a script too: who runs one counts
// on it that nobody else is asked.
func (o *Opener) Small(ref string) (string, error) {
	path, scripted := strings.CutPrefix(ref, "script:")
	if own := o.SmallRef; own != nil {
		switch {
		case *own == "" || *own == noModel:
			return "", nil
		case !scripted || strings.HasPrefix(*own, "script:"):
			return *own, nil
		}
	}
	if scripted && path != "" {
		return o.smallScript(ref)
	}
	return o.Sibling(ref)
}

// Sibling returns the ref of the small model that the catalog has for the provider
// of a given one, whatever the user's choice for titles: so a file that asks for a
// small model does not say who gets to read the work. "" means none.
func (o *Opener) Sibling(ref string) (string, error) {
	if ref == "" || strings.HasPrefix(ref, "script:") || o.Catalog == nil {
		return "", nil
	}
	known, err := o.Catalog()
	if err != nil {
		return "", err
	}
	m, err := known.Lookup(ref)
	if err != nil {
		return "", err
	}
	small, ok := known.Small(m.Provider)
	if !ok || small.Provider != m.Provider {
		return "", nil
	}
	return small.Ref, nil
}

// smallScript returns a script that has lines for titles or summaries.
func (o *Opener) smallScript(ref string) (string, error) {
	m, err := o.script(ref)
	if err != nil {
		return "", err
	}
	agents := m.Agents()
	if slices.Contains(agents, model.AgentTitle) || slices.Contains(agents, model.AgentSummary) {
		return ref, nil
	}
	return "", nil
}
