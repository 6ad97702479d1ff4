//go:build e2e

package tui

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// screen is a state of the terminal, with the steps that lead to it.
type screen struct {
	name    string
	script  []reply
	args    []string
	prepare func(*Env)
	drive   func(*Terminal)
	looks   string // a theme, if the colors are compared too
	sizes   []Size // nil means the default sizes
	picture bool   // it is published as a screenshot
}

// TestScreens compares screens with the golden files. A terminal that is enlarged
// must show the same as one that had that size from the start.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(talkScreens, askScreens, listScreens, lookScreens, smallScreens) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t, script(t, s.script...)...)
			if s.prepare != nil {
				s.prepare(w)
			}
			sizes := s.sizes
			if sizes == nil {
				sizes = []Size{Normal, Large}
			}
			x := w.Start(sizes[0], s.args...)
			s.drive(x)
			for _, size := range sizes {
				if size != x.size {
					x.Resize(size)
				}
				s.draw(t, s.hold(x), size)
			}
		})
	}
}

// hold compares the screen with its golden file.
func (s screen) hold(x *Terminal) Screen {
	x.t.Helper()
	if s.looks != "" {
		return x.GoldenLooks(s.name, s.looks)
	}
	return x.Golden(s.name)
}

var shots = flag.String("shots", "", "the folder to put screenshots into")

// draw writes a picture to the directory of screenshots, if one is set.
func (s screen) draw(t *testing.T, seen Screen, size Size) {
	t.Helper()
	if *shots == "" || !s.picture {
		return
	}
	look, _ := theme.Find(cmp.Or(s.looks, "dark"), nil)
	file := filepath.Join(*shots, s.name+"."+size.String()+".svg")
	if err := os.WriteFile(file, []byte(seen.SVG(look)), 0o644); err != nil { //nolint:gosec // a document
		t.Fatal(err)
	}
}

// ready waits until the input is ready.
func ready(x *Terminal) { x.Await("Ask Pawl to do something…") }

// ask sends the default prompt.
func ask(x *Terminal) {
	ready(x)
	x.Say("The total of a cart is wrong. Please fix it.")
}

// done sends the default prompt and waits for the end of the turn.
func done(x *Terminal) {
	ask(x)
	x.Await("Done ·")
}
