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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model/catalog"
)

const (
	modelsAge  = 30 * time.Second // after which the models are read again
	modelsWait = 3 * time.Second  // how long a caller waits: a keyring may ask the user
	maxScripts = 100              // sessions that are searched for scripts

	scripted = "script:" // prefix of the ref of a scripted model
)

// modelCache holds the models that were found last.
type modelCache struct {
	mu   sync.Mutex
	list []pawl.ModelInfo
	err  error
	at   time.Time     // when they were read; zero means never
	busy chan struct{} // closed when the refresh under way is done; nil if none is
}

// Models returns the available models: those whose provider has a key, those of local servers, and the
// scripts of the latest sessions. Results younger than modelsAge are returned at once.
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
		return nil, fault.New(pawl.ErrUnavailable, "the models are still being listed, perhaps because the keyring is locked: try again in a moment")
	}
	return slices.Clone(m.list), m.err
}

// ForgetModels makes the next call of Models look for them again.
func (d *Local) ForgetModels() {
	d.models.mu.Lock()
	defer d.models.mu.Unlock()
	d.models.at = time.Time{}
}

// refreshModels fills the cache.
func (d *Local) refreshModels() {
	list, err := d.findModels(d.ctx)
	m := &d.models
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list, m.err, m.at = list, err, d.Clock()
	if err != nil {
		m.at = m.at.Add(-modelsAge) // the next call tries again
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
		Input: pawl.Money(m.Prices.Input), Output: pawl.Money(m.Prices.Output), Reasoning: m.Reasoning, Efforts: m.Efforts, Images: m.Images,
	}
}

// scripts returns the scripted models of the latest sessions, the latest first.
func (d *Local) scripts(ctx context.Context) ([]pawl.ModelInfo, error) {
	sessions, err := d.Store.Sessions(ctx, pawl.Filter{Limit: maxScripts})
	if err != nil {
		return nil, fmt.Errorf("look for models: %w", err)
	}
	var list []pawl.ModelInfo
	seen := map[string]bool{}
	for _, s := range sessions.Sessions {
		path, ok := strings.CutPrefix(s.Model, scripted)
		if !ok || seen[path] {
			continue
		}
		seen[path] = true
		list = append(list, pawl.ModelInfo{Ref: s.Model, Name: filepath.Base(path), Provider: "script"})
	}
	return list, nil
}
