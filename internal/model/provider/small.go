package provider

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// noModel is the user's setting to disable titles and summaries.
const noModel = "none"

// Small returns the model that writes titles and summaries for sessions with the given one: the user's choice,
// or the catalog's small model of the same provider, so that no other provider reads the conversation. "" means
// none, as for local servers, which would be kept busy.
//
// A script only uses another script: whoever runs one relies on no other model being called.
func (o *Opener) Small(ref string) (string, error) {
	path, scripted := strings.CutPrefix(ref, "script:")
	scripted = scripted || ref == script.DemoRef
	if own := o.SmallRef; own != nil {
		switch {
		case *own == "" || *own == noModel:
			return "", nil
		case !scripted || strings.HasPrefix(*own, "script:"):
			return *own, nil
		}
	}
	if ref == script.DemoRef {
		return ref, nil
	}
	if scripted && path != "" {
		return o.smallScript(ref)
	}
	return o.Sibling(ref)
}

// Sibling returns the small model of the same provider, whatever the user's choice for titles: an agent file
// that requests a small model must not choose which provider reads the work. "" means none.
func (o *Opener) Sibling(ref string) (string, error) {
	if ref == "" || ref == script.DemoRef || strings.HasPrefix(ref, "script:") || o.Catalog == nil {
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

// smallScript returns ref if the script has lines for titles or summaries, else "".
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
