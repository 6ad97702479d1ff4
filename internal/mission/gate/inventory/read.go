package inventory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl"
)

// maxReport is the maximum size of a report file, in bytes.
const maxReport = 64 << 20

// maxReports is the maximum number of report files.
const maxReports = 10_000

// Combined reports whether a format needs standard output and standard error together, in the order in which they were
// written: the runner divides its report between them.
func Combined(format string) bool { return format == "cargo" || format == "unittest" }

// Read reads the results of a check: those it printed, or those in its report files below dir. root is the directory
// that the check ran in, which may be another name of dir.
func Read(c pawl.Check, dir string, printed []byte, root string) (*Inventory, error) {
	if c.Report == "" {
		return Parse(c.Tests, printed, root)
	}
	top, err := os.OpenRoot(dir) // links of a change do not lead out of it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s was not written", c.Report)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = top.Close() }() // only read
	names, err := doublestar.Glob(top.FS(), path.Clean(c.Report), doublestar.WithNoFollow())
	if err != nil {
		return nil, fmt.Errorf("find the test report %s: %w", c.Report, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s was not written", c.Report)
	}
	if len(names) > maxReports {
		return nil, fmt.Errorf("%s matches more than %d files", c.Report, maxReports)
	}
	slices.Sort(names)
	all := empty()
	for _, name := range names {
		text, err := readReport(top, name)
		if err != nil {
			return nil, err
		}
		one, err := Parse(c.Tests, text, root)
		if err != nil {
			return nil, err
		}
		all.merge(one)
	}
	return all, nil
}

// RemoveReports removes the report files of a check below dir, so that those of a run are its own.
func RemoveReports(c pawl.Check, dir string) error {
	if c.Report == "" {
		return nil
	}
	top, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }() // nothing was written to it
	names, err := doublestar.Glob(top.FS(), path.Clean(c.Report), doublestar.WithNoFollow())
	for _, name := range names {
		err = errors.Join(err, top.RemoveAll(name))
	}
	return err
}

// readReport reads a report file. A link is rejected.
func readReport(top *os.Root, name string) ([]byte, error) {
	info, err := top.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxReport:
		return nil, fmt.Errorf("%s is not a regular file of at most %d MiB", path.Base(name), maxReport>>20)
	}
	return top.ReadFile(name)
}

// merge adds the results of another report.
func (v *Inventory) merge(other *Inventory) {
	v.parts = v.parts || other.parts
	for name, s := range other.Tests {
		if worse(s, v.Tests[name]) {
			v.Tests[name] = s
		}
	}
	for name, text := range other.Messages {
		v.Messages[name] = text
	}
	for holder, file := range other.Files {
		v.Files[holder] = file
	}
	v.Broken = append(v.Broken, other.Broken...)
	slices.Sort(v.Broken)
	v.Broken = slices.Compact(v.Broken)
}
