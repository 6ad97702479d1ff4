// Package inventory parses the reports of test runners.
package inventory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Status is the result of a test.
type Status string

// The results of a test. Of several runs the worst counts.
const (
	Passed  Status = "passed"
	Skipped Status = "skipped"
	Failed  Status = "failed"
)

// Inventory holds the results of a test run. A name consists of a file, package or class, two colons, and the
// test; subtests follow a slash.
type Inventory struct {
	Tests  map[string]Status
	Broken []string // files or packages whose tests could not be run at all

	// Messages says why tests failed, as far as the report tells.
	Messages map[string]string

	// Files has the files of classes and modules, as far as the report tells them.
	Files map[string]string

	parts bool // a slash in a name starts a subtest
}

// Separator separates the file, package or class from the test.
const Separator = "::"

// Formats are the parsers of the supported report formats.
var Formats = map[string]func(text []byte, root string) (*Inventory, error){
	"gotest": readGo,
	"junit":  readJUnit,
	"jest":   readJest, // vitest writes the same
	"cargo":  readCargo,
	"node":   readNode,
	"rspec":  readRSpec,
	"tap":    readTAP,

	"unittest": readUnittest,
}

// Parse parses the report of a test runner. root is the directory it ran in, to which file names are made
// relative. A report without tests is valid; a truncated or malformed one is an error.
func Parse(format string, text []byte, root string) (*Inventory, error) {
	read, ok := Formats[format]
	if !ok {
		return nil, fault.New(pawl.ErrInvalid, "unknown test report format %q: use %s", format, strings.Join(slices.Sorted(maps.Keys(Formats)), ", "))
	}
	inv, err := read(text, strings.TrimSuffix(root, "/")+"/")
	if err != nil {
		return nil, fmt.Errorf("read the test results (%s): %w", format, err)
	}
	slices.Sort(inv.Broken)
	inv.Broken = slices.Compact(inv.Broken)
	return inv, nil
}

func empty() *Inventory {
	return &Inventory{Tests: map[string]Status{}, Messages: map[string]string{}, Files: map[string]string{}}
}

// Holders returns the files, packages and classes of all tests.
func (v *Inventory) Holders() map[string]bool {
	holders := map[string]bool{}
	for name := range v.Tests {
		holders[Holder(name)] = true
	}
	delete(holders, "")
	return holders
}

// add records a result and returns the name of the test; of several runs the worst counts.
func (v *Inventory) add(holder, name string, s Status) string {
	key := name
	if holder != "" {
		key = holder + Separator + name
	}
	if worse(s, v.Tests[key]) {
		v.Tests[key] = s
	}
	return key
}

func worse(a, b Status) bool {
	rank := map[Status]int{"": 0, Passed: 1, Skipped: 2, Failed: 3}
	return rank[a] > rank[b]
}

// Names returns the tests with a status, sorted.
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

// Whole returns the test that a subtest belongs to, or the name itself.
func (v *Inventory) Whole(name string) string {
	if !v.parts {
		return name
	}
	holder, test, _ := strings.Cut(name, Separator)
	test, _, _ = strings.Cut(test, "/")
	return holder + Separator + test
}

// Holder returns the file, package or class of a test.
func Holder(name string) string {
	if holder, _, ok := strings.Cut(name, Separator); ok { // module paths and file names contain no separator
		return holder
	}
	return ""
}

// Leaf returns the name of a test within its file, package or class.
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
