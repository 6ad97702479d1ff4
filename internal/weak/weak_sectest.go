//go:build sectest

// Package weak takes defenses out, in builds for tests alone: so a test can show
// that another test would notice if one were missing.
package weak

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Var names the defenses that a program starts without, with commas between.
const Var = "PAWL_WEAKEN"

var (
	mu  sync.Mutex
	out = map[string]bool{}
)

func init() { Set(os.Getenv(Var)) }

// On reports whether a defense is taken out.
func On(name string) bool {
	mu.Lock()
	defer mu.Unlock()
	return out[name]
}

// List is what is taken out, for a process of our own to take over with Set.
func List() string {
	mu.Lock()
	defer mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(out)), ",")
}

// Set takes defenses out, as List names them, and returns what puts them back.
func Set(names string) (restore func()) {
	mu.Lock()
	defer mu.Unlock()
	list := strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
	for _, name := range list {
		out[name] = true
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range list {
			delete(out, name)
		}
	}
}
