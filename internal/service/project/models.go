package project

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/catalog"
)

const (
	modelsAge  = 30 * time.Second // after which they are looked for again
	modelsWait = 3 * time.Second  // for a look: a keyring may ask its owner something
	maxScripts = 100              // sessions whose scripts are shown

	scripted = "script:" // begins the name of a model that reads a file
)

// models are the models as they were found last.
type modelCache struct {
	mu   sync.Mutex
	list []pawl.ModelInfo
	err  error
	at   time.Time     // when they were found; zero means never
	busy chan struct{} // closed when the look that is under way has ended; nil if none is
}

// Models returns the models that can be asked: those whose provider's key is there,
// those of the servers on this machine, and the scripts of the latest sessions.
// What was found a moment ago is returned at once.
func (d *Local) Models(ctx context.Context) ([]pawl.ModelInfo, error) {
	m := &d.models
	m.mu.Lock()
	if !m.at.IsZero() && d.Clock().Sub(m.at) < modelsAge {
		defer m.mu.Unlock()
		return slices.Clone(m.list), m.err
	}
	if m.busy == nil {
		m.busy = make(chan struct{})
		go d.refreshModels()
	}
	busy := m.busy
	m.mu.Unlock()
	late := time.NewTimer(modelsWait)
	defer late.Stop()
	select {
	case <-busy:
	case <-late.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at.IsZero() {
		return nil, fmt.Errorf("the models are still being looked for, which waits for a keyring perhaps: try again: %w", pawl.ErrUnavailable)
	}
	return slices.Clone(m.list), m.err
}

// refreshModels finds the models for whoever waits for them.
func (d *Local) refreshModels() {
	list, err := d.findModels(d.ctx)
	m := &d.models
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list, m.err, m.at = list, err, d.Clock()
	if err != nil {
		m.at = m.at.Add(-modelsAge) // it is looked again when somebody asks
	}
	close(m.busy)
	m.busy = nil
}

func (d *Local) findModels(ctx context.Context) ([]pawl.ModelInfo, error) {
	c, err := d.Catalog()
	if err != nil {
		return nil, err
	}
	names, keyed := map[string]string{}, map[string]bool{}
	for _, p := range c.Providers {
		names[p.ID] = p.Name
		keyed[p.ID] = !p.Local && d.HasKey(p)
	}
	var list []pawl.ModelInfo
	for _, m := range c.Models {
		if keyed[m.Provider] {
			list = append(list, modelInfo(m, names))
		}
	}
	for _, s := range catalog.Local(ctx, c.Locals()...) {
		for _, m := range s.Models {
			list = append(list, modelInfo(m, names))
		}
	}
	scripts, err := d.scripts(ctx)
	return append(list, scripts...), err
}

func modelInfo(m catalog.Model, names map[string]string) pawl.ModelInfo {
	return pawl.ModelInfo{
		Ref: m.Ref, Name: m.Name, Provider: names[m.Provider], Context: m.Context,
		Input: pawl.Money(m.Prices.Input), Output: pawl.Money(m.Prices.Output), Reasoning: m.Reasoning, Images: m.Images,
	}
}

// scripts are the scripted models of the latest sessions, the latest first.
func (d *Local) scripts(ctx context.Context) ([]pawl.ModelInfo, error) {
	sessions, err := d.Store.Sessions(ctx, pawl.Filter{Limit: maxScripts})
	if err != nil {
		return nil, fmt.Errorf("look for models: %w", err)
	}
	var list []pawl.ModelInfo
	seen := map[string]bool{}
	for _, s := range sessions {
		path, ok := strings.CutPrefix(s.Model, scripted)
		if !ok || seen[path] {
			continue
		}
		seen[path] = true
		list = append(list, pawl.ModelInfo{Ref: s.Model, Name: filepath.Base(path), Provider: "script"})
	}
	return list, nil
}
