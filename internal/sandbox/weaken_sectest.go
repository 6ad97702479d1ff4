//go:build sectest

package sandbox

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

var (
	weakMu sync.Mutex
	weak   = map[string]bool{}
)

// Weaken takes defenses out and returns what puts them back. It is there so
// that a test can show that another test would notice.
func Weaken(names ...string) (restore func()) {
	weakMu.Lock()
	defer weakMu.Unlock()
	for _, name := range names {
		weak[name] = true
	}
	return func() {
		weakMu.Lock()
		defer weakMu.Unlock()
		for _, name := range names {
			delete(weak, name)
		}
	}
}

func weakened(name string) bool {
	weakMu.Lock()
	defer weakMu.Unlock()
	return weak[name]
}

// weakness is what is taken out, for a helper to adopt.
func weakness() string {
	weakMu.Lock()
	defer weakMu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(weak)), ",")
}

func adoptWeakness(names string) { Weaken(strings.Split(names, ",")...) }
