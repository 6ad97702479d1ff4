package provider

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// Window returns the context window of a model; zero if it is unknown.
func (o *Opener) Window(ref string) (model.Window, error) {
	if strings.HasPrefix(ref, "script:") {
		m, err := o.script(ref)
		if err != nil {
			return model.Window{}, err
		}
		return m.Window(), nil
	}
	if o.Catalog == nil || ref == script.DemoRef {
		return model.Window{}, nil
	}
	known, err := o.Catalog()
	if err != nil {
		return model.Window{}, err
	}
	m, err := known.Lookup(ref)
	if err != nil {
		return model.Window{}, err
	}
	return model.Window{Context: m.Context, Output: m.Output}, nil
}

// Check returns why a model cannot be opened, or nil.
func (o *Opener) Check(_ context.Context, ref string) error {
	_, err := o.Open(ref)
	return err
}
