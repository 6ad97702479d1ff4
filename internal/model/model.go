// Package model opens models by name.
package model

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// Opener opens models and keeps them open. It is safe for concurrent use; the
// zero value is ready.
type Opener struct {
	mu   sync.Mutex
	open map[string]pawl.Model
}

// Open returns the model that ref names. The only kind so far is script:FILE.
func (o *Opener) Open(ref string) (pawl.Model, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m, ok := o.open[ref]; ok {
		return m, nil
	}
	m, err := open(ref)
	if err != nil {
		return nil, err
	}
	if o.open == nil {
		o.open = map[string]pawl.Model{}
	}
	o.open[ref] = m
	return m, nil
}

func open(ref string) (pawl.Model, error) {
	if ref == "" {
		return nil, fmt.Errorf("no model is chosen: name one with --model, e.g. --model script:demo.jsonl: %w", pawl.ErrInvalid)
	}
	path, ok := strings.CutPrefix(ref, "script:")
	if !ok {
		return nil, fmt.Errorf("unknown model %q: the only kind so far is script:FILE: %w", ref, pawl.ErrInvalid)
	}
	m, err := script.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open model: %w: %w", err, pawl.ErrInvalid)
	}
	return m, nil
}
