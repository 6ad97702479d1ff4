//go:build e2e

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// TestDemo compares the frames of the demo, a short session, with the golden files, and
// draws it for the README.
func TestDemo(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, looks, changes, reply{Text: "Now the tests.", Calls: []call{bash("make test")}},
		reply{Text: "`Total` now multiplies each price by `Count`. The tests pass."})...)
	w.Write("Makefile", "test:\n\t@grep -q 'Cents [*] i.Count' cart/cart.go && echo 'ok  shop/cart'\n") // quick, and red before the change
	x := w.Start(Size{80, 30}, "--mode", "ask")
	var frames []Frame
	show := func(seconds float64) {
		frames = append(frames, Frame{x.GoldenLooks(fmt.Sprintf("demo-%d", len(frames)+1), "dark"), seconds})
	}
	ready(x)
	show(1)
	for _, part := range []string{"The total of", " a cart ignores", " quantities. Fix it."} {
		x.Type(part)
		show(0.6)
	}
	x.Keys("Enter")
	x.Await("Edit cart.go")
	x.Focused("i.Cents * i.Count")
	show(4)
	x.Choose("1", "Allow once")
	x.Await("The tests pass.", "Done ·")
	show(5)
	if *shots == "" {
		return
	}
	dark, _ := theme.Find("dark", nil)
	if err := os.WriteFile(filepath.Join(*shots, "demo.svg"), []byte(Animate(dark, frames)), 0o644); err != nil { //nolint:gosec // a document
		t.Fatal(err)
	}
}
