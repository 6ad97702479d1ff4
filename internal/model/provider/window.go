package provider

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// Window returns how much the model that ref names takes; zero if that is not known.
func (o *Opener) Window(ref string) (pawl.Window, error) {
	if strings.HasPrefix(ref, "script:") {
		m, err := o.script(ref)
		if err != nil {
			return pawl.Window{}, err
		}
		return m.Window(), nil
	}
	if o.Catalog == nil {
		return pawl.Window{}, nil
	}
	known, err := o.Catalog()
	if err != nil {
		return pawl.Window{}, err
	}
	m, err := known.Lookup(ref)
	if err != nil {
		return pawl.Window{}, err
	}
	return pawl.Window{Context: m.Context, Output: m.Output}, nil
}
