package skill

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
)

// content is the content of a skill's directory.
type content struct {
	files []string        // regular files, relative to the directory, with slashes, sorted
	runs  map[string]bool // executable files
	odd   []string        // links and other entries that are not regular files
}

// look lists a directory. It returns an error if it exceeds the limits of a
// skill.
func look(t frontmatter.Tree, at string) (content, error) {
	c := content{runs: map[string]bool{}}
	err := c.folder(t, at, "", 0)
	slices.Sort(c.files)
	return c, err
}

func (c *content) folder(t frontmatter.Tree, at, rel string, depth int) error {
	if depth > MaxDepth {
		return fault.New(pawl.ErrInvalid, "%q is nested more than %d directories deep", rel, MaxDepth)
	}
	entries, err := frontmatter.Entries(t, filepath.Join(at, rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		switch {
		case e.IsDir():
			if err := c.folder(t, at, name, depth+1); err != nil {
				return err
			}
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				return err
			}
			c.files = append(c.files, filepath.ToSlash(name))
			c.runs[filepath.ToSlash(name)] = runs(info.Mode())
		default:
			c.odd = append(c.odd, filepath.ToSlash(name))
		}
		if len(c.files)+len(c.odd) > MaxFiles {
			return fault.New(pawl.ErrInvalid, "more than %d files", MaxFiles)
		}
	}
	return nil
}

// runs reports whether a mode is that of an executable.
func runs(mode fs.FileMode) bool { return mode.Perm()&0o100 != 0 }

// digest computes the hash of a skill: of the sorted paths, whether each is
// executable, and their content. Each part is preceded by its length, so that
// different skills have different input.
type digest struct{ h hash.Hash }

func newDigest() digest { return digest{sha256.New()} }

func (d digest) add(path string, program bool, data []byte) {
	kind := "file"
	if program {
		kind = "program"
	}
	for _, part := range [][]byte{[]byte(path), []byte(kind), data} {
		_ = binary.Write(d.h, binary.BigEndian, uint64(len(part))) // a hash never fails
		d.h.Write(part)
	}
}

func (d digest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

// hashFolder returns the hash of a skill on disk and of each of its files. A
// link, or anything else that is not a regular file, is an error.
func hashFolder(t frontmatter.Tree, at string) (string, map[string]string, error) {
	c, err := look(t, at)
	if err != nil {
		return "", nil, err
	}
	if len(c.odd) > 0 {
		return "", nil, fault.New(pawl.ErrInvalid, "%q is not a regular file", c.odd[0])
	}
	if len(c.files) == 0 {
		return "", nil, fault.New(pawl.ErrNotFound, "not found")
	}
	d, each, total := newDigest(), map[string]string{}, 0
	for _, name := range c.files {
		data, err := frontmatter.Read(t, filepath.Join(at, filepath.FromSlash(name)), MaxFile)
		if err != nil {
			return "", nil, fmt.Errorf("%q: %w", name, err)
		}
		if total += len(data); total > MaxBytes {
			return "", nil, fault.New(pawl.ErrInvalid, "larger than %d bytes", MaxBytes)
		}
		d.add(name, c.runs[name], data)
		each[name] = hashFile(c.runs[name], data)
	}
	return d.sum(), each, nil
}

// hashFile returns the hash of one file.
func hashFile(program bool, data []byte) string {
	d := newDigest()
	d.add("", program, data)
	return d.sum()
}

// within reports whether a path, with slashes, is directory or below it.
func within(path, folder string) bool {
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}
