// Package defense turns single defenses off in weakened builds, so that a test
// can show that another test notices when a defense is missing. Only code that
// package weaken has edited asks it; released programs do not contain it.
package defense

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Var is the environment variable that names the defenses that a program
// starts without, separated by commas.
const Var = "PAWL_WEAKEN"

var (
	mu       sync.Mutex
	disabled = map[string]bool{}
)

func init() { Disable(os.Getenv(Var)) }

// Off reports whether a defense is turned off.
func Off(name string) bool {
	mu.Lock()
	defer mu.Unlock()
	return disabled[name]
}

// Disabled returns the defenses that are turned off, separated by commas. A
// process passes it to its helpers, which call [Disable] with it.
func Disabled() string {
	mu.Lock()
	defer mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(disabled)), ",")
}

// Disable turns defenses off, which names separates by commas, and returns a
// function that turns them on again. It panics in a build that has no switches.
func Disable(names string) (restore func()) {
	mu.Lock()
	defer mu.Unlock()
	list := strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
	if len(list) > 0 && !weakened {
		panic("defense: this build has no switches: pass -overlay $(go run ./internal/test/security/weaken/overlay) to go test")
	}
	for _, name := range list {
		disabled[name] = true
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range list {
			delete(disabled, name)
		}
	}
}
