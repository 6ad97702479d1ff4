package tui

import (
	"flag"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

// settled is how long a screen must stay unchanged before -update writes it.
const settled = 700 * time.Millisecond

// Golden waits until the screen matches testdata/NAME.SIZE.txt, and returns it.
func (x *Terminal) Golden(name string) Screen {
	x.t.Helper()
	return x.golden(name, func(s Screen) string { return s.String() })
}

// GoldenLooks is Golden for screens whose colors matter: the file has a letter for the
// style of each cell.
func (x *Terminal) GoldenLooks(name, themeName string) Screen {
	x.t.Helper()
	t, ok := theme.Find(themeName, nil)
	if !ok {
		x.t.Fatalf("there is no theme %q", themeName)
	}
	return x.golden(name, func(s Screen) string { return s.String() + "--- looks\n" + s.Looks(t) })
}

func (x *Terminal) golden(name string, print func(Screen) string) Screen {
	x.t.Helper()
	file := filepath.Join("testdata", name+"."+x.size.String()+".txt")
	if *update {
		s := x.still(print)
		if err := os.WriteFile(file, []byte(print(s)), 0o600); err != nil {
			x.t.Fatal(err)
		}
		return s
	}
	want, err := os.ReadFile(file)
	if err != nil {
		x.t.Fatalf("%v: write it with go test -tags e2e -update", err)
	}
	var s Screen
	for deadline := time.Now().Add(*maxWait / 2); time.Now().Before(deadline); time.Sleep(poll) { // nothing tells when a screen changes
		if s = x.Screen(); print(s) == string(want) {
			return s
		}
	}
	x.t.Errorf("the screen is not that of %s (-want +got)\n%s\nall of it:\n%s", file, cmp.Diff(string(want), print(s)), s)
	return s
}

// still waits until the screen no longer changes.
func (x *Terminal) still(print func(Screen) string) Screen {
	x.t.Helper()
	s, since := x.Screen(), time.Now()
	for deadline := time.Now().Add(*maxWait); time.Now().Before(deadline); time.Sleep(poll) { // nothing tells when a screen changes
		next := x.Screen()
		if print(next) != print(s) {
			since = time.Now()
		}
		if s = next; time.Since(since) > settled {
			return s
		}
	}
	x.t.Fatalf("the screen does not come to rest:\n%s", s)
	return s
}
