// Package inventory reads what test runners say of the tests that they ran.
package inventory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Status is what came of a test.
type Status string

// What can come of a test. Of several runs the worst counts.
const (
	Passed  Status = "passed"
	Skipped Status = "skipped"
	Failed  Status = "failed"
)

// Inventory is what a run of tests tells. A name is that of a file, package or
// class, two colons, and that of the test; parts of a test come behind a slash.
type Inventory struct {
	Tests  map[string]Status
	Broken []string // files or packages whose tests could not be run at all

	parts bool // a slash in a name begins a part of a test
}

// Separator stands between what holds a test and its name.
const Separator = "::"

// Formats are the ways in which runners tell of tests.
var Formats = map[string]func(text []byte, root string) (*Inventory, error){
	"gotest": readGo,
	"junit":  readJUnit,
	"jest":   readJest, // vitest writes the same
	"cargo":  readCargo,
}

// Parse reads what a runner has told. root is the directory that it ran in: names of
// files are told from there. A text that tells of no test is no error, but one
// that is cut or not of its format is.
func Parse(format string, text []byte, root string) (*Inventory, error) {
	read, ok := Formats[format]
	if !ok {
		return nil, fmt.Errorf("no test runner tells of its tests as %q; known are %s: %w",
			format, strings.Join(slices.Sorted(maps.Keys(Formats)), ", "), pawl.ErrInvalid)
	}
	inv, err := read(text, strings.TrimSuffix(root, "/")+"/")
	if err != nil {
		return nil, fmt.Errorf("read the results of the tests (%s): %w", format, err)
	}
	slices.Sort(inv.Broken)
	inv.Broken = slices.Compact(inv.Broken)
	return inv, nil
}

func empty() *Inventory { return &Inventory{Tests: map[string]Status{}} }

// add notes what came of a test, or of one more run of it.
func (v *Inventory) add(holder, name string, s Status) {
	key := name
	if holder != "" {
		key = holder + Separator + name
	}
	if worse(s, v.Tests[key]) {
		v.Tests[key] = s
	}
}

func worse(a, b Status) bool {
	rank := map[Status]int{"": 0, Passed: 1, Skipped: 2, Failed: 3}
	return rank[a] > rank[b]
}

// Names returns the tests that ended in a way, in order.
func (v *Inventory) Names(s Status) []string {
	var names []string
	for name, status := range v.Tests {
		if status == s {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Whole is the name of the test that a part belongs to; that of a whole one is itself.
func (v *Inventory) Whole(name string) string {
	if !v.parts {
		return name
	}
	holder, test, _ := strings.Cut(name, Separator)
	test, _, _ = strings.Cut(test, "/")
	return holder + Separator + test
}

// Holder is the file, package or class that holds a test.
func Holder(name string) string {
	if holder, _, ok := strings.Cut(name, Separator); ok { // paths of modules and files have none
		return holder
	}
	return ""
}

// Leaf is the name of a test within what holds it.
func Leaf(name string) string {
	if _, test, ok := strings.Cut(name, Separator); ok {
		return test
	}
	return name
}

// lines yields the lines of a text.
func lines(text []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(text) {
			if !yield(strings.TrimRight(string(line), "\r\n")) {
				return
			}
		}
	}
}
