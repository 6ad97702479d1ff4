package checkpoint

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// outside creates a directory beside the workspace, with a secret in it.
func (h *host) outside() string {
	h.Helper()
	dir := filepath.Join(filepath.Dir(h.roots[0].Path), "outside")
	h.must(errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(dir+"/f", []byte("secret"), 0o644)))
	return dir
}

// savedThroughLink saves a workspace in which a directory is replaced by a link to the outside between lstat and open.
// It returns the saved entries.
func savedThroughLink(t *testing.T) (kept map[raw]entry, err error) {
	a, _ := twoHosts(t)
	a.write("d/f", "mine")
	outside := a.outside()
	a.k.look = func(path string) {
		if path == a.path("d") {
			a.must(errors.Join(os.RemoveAll(path), os.Symlink(outside, path)))
			a.k.look = nil
		}
	}
	id, _, err := a.k.Save(t.Context(), key, a.roots, "")
	if err != nil {
		return nil, err
	}
	s, _, err := a.k.load(t.Context(), key, id)
	a.must(err)
	return s.Entries, nil
}

func TestSaveFollowsNoLink(t *testing.T) {
	t.Parallel()
	kept, err := savedThroughLink(t)
	if err != nil || kept["work/d"].Kind != kindLink || len(kept) != 2 {
		t.Errorf("%v, %v", kept, err)
	}
}

// TestSwappedFile checks files that are replaced by a link while they are saved.
func TestSwappedFile(t *testing.T) {
	t.Parallel()
	a, _ := twoHosts(t)
	a.write("f", "mine")
	outside := a.outside()
	swaps := 0
	a.k.look = func(path string) {
		if swaps++; swaps == 1 {
			a.must(errors.Join(os.Remove(path), os.Symlink(outside+"/f", path)))
		}
	}
	id, _ := a.save("")
	if s, _, err := a.k.load(t.Context(), key, id); err != nil || s.Entries["work/f"].Target != raw(outside+"/f") {
		t.Error(err)
	}
	a.must(os.Remove(a.path("f")))
	a.write("f", "mine")
	a.k.look = func(path string) {
		a.must(errors.Join(os.Remove(path), os.Symlink(outside+"/f", path)))
		defer func() { a.k.look = nil }()
	}
	if _, _, err := a.k.Save(t.Context(), key, a.roots, id); err != nil {
		t.Error(err)
	}
}

// restoredThroughLink restores a workspace in which a directory is replaced by a link to the outside. It returns the
// content of the file outside.
func restoredThroughLink(t *testing.T) (string, error) {
	a, b := twoHosts(t)
	a.write("d/f", "theirs")
	id, _ := a.save("")
	outside := b.outside()
	b.k.look = func(path string) {
		if path == "work/d" { // right before the contents are written
			b.must(errors.Join(os.RemoveAll(b.path("d")), os.Symlink(outside, b.path("d"))))
		}
	}
	err := b.k.Restore(t.Context(), key, id, b.roots)
	text, e := os.ReadFile(outside + "/f")
	b.must(e)
	return string(text), err
}

func TestRestoreFollowsNoLink(t *testing.T) {
	t.Parallel()
	if text, err := restoredThroughLink(t); text != "secret" || err == nil {
		t.Errorf("%q, %v", text, err)
	}
	// A link that existed before the restore.
	a, b := twoHosts(t)
	a.write("d/f", "theirs")
	id, _ := a.save("")
	outside := b.outside()
	b.must(errors.Join(os.Symlink(outside, b.path("d")), os.Symlink(outside, b.path("e"))))
	b.restore(id)
	b.equals(a.tree())
	if text, err := os.ReadFile(outside + "/f"); err != nil || string(text) != "secret" {
		t.Errorf("%q, %v", text, err)
	}
	// A root that is a link.
	b.must(errors.Join(os.RemoveAll(b.path("")), os.Symlink(outside, b.path(""))))
	if err := b.k.Restore(t.Context(), key, id, b.roots); err == nil {
		t.Error("a root that is a link was restored into")
	}
	if _, _, err := b.k.Save(t.Context(), key, b.roots, id); err == nil {
		t.Error("a root that is a link was saved")
	}
}

// secondName restores over a file that has a hard link outside, and returns the mode of the latter.
func secondName(t *testing.T) os.FileMode {
	a, b := twoHosts(t)
	a.write("f", "secret")
	a.must(os.Chmod(a.path("f"), 0o777))
	id, _ := a.save("")
	outside := b.outside() + "/f"
	b.must(os.Link(outside, b.path("f")))
	b.restore(id)
	b.equals(a.tree())
	info, err := os.Lstat(outside)
	b.must(err)
	return info.Mode()
}

func TestSecondName(t *testing.T) {
	t.Parallel()
	if mode := secondName(t); mode != 0o644 {
		t.Error(mode)
	}
}

// forge saves a checkpoint with a valid file f, changes its manifest, and restores it.
func forge(t *testing.T, change func(m *manifest)) (*host, error) {
	a, b := twoHosts(t)
	a.write("f", "theirs")
	id, _ := a.save("")
	m, err := a.k.readManifest(t.Context(), key, id)
	a.must(err)
	change(&m)
	id, _, err = a.k.writeManifest(t.Context(), key, m)
	a.must(err)
	b.outside()
	return b, b.k.Restore(t.Context(), key, id, b.roots)
}

// add adds a copy of the last entry to a manifest.
func (m *manifest) add(path raw, change func(e *entry)) {
	e := m.Entries[len(m.Entries)-1]
	e.Path = path
	if change != nil {
		change(&e)
	}
	m.Entries = append(m.Entries, e)
}

// TestHostileManifests checks that invalid manifests are rejected before anything is changed.
func TestHostileManifests(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *manifest){
		"above":        func(m *manifest) { m.add("work/../outside/f", nil) },
		"dots":         func(m *manifest) { m.add("work/..", nil) },
		"empty name":   func(m *manifest) { m.add("work//f", nil) },
		"empty path":   func(m *manifest) { m.add("", nil) },
		"absolute":     func(m *manifest) { m.add("/etc/f", nil) },
		"zero byte":    func(m *manifest) { m.add("work/a\x00b", nil) },
		"in a file":    func(m *manifest) { m.add("work/f/g", nil) },
		"in nothing":   func(m *manifest) { m.add("work/d/g", nil) },
		"through link": func(m *manifest) { m.add("work/l", link); m.add("work/l/f", file) },
		"other root":   func(m *manifest) { m.add("etc", func(e *entry) { *e = entry{Path: "etc", Kind: kindDir} }) },
		"root is file": func(m *manifest) { m.add("undo", nil) },
		"setuid":       func(m *manifest) { m.add("work/g", func(e *entry) { e.Mode = 0o4755 }) },
		"kind":         func(m *manifest) { m.add("work/g", func(e *entry) { e.Kind = "device" }) },
		"no pack":      func(m *manifest) { m.add("work/g", func(e *entry) { e.Pack = "../../x" }) },
		"beyond pack":  func(m *manifest) { m.add("work/g", func(e *entry) { e.Offset = 3 }) },
		"negative":     func(m *manifest) { m.add("work/g", func(e *entry) { e.Size = -1 }) },
		"link nowhere": func(m *manifest) { m.add("work/g", func(e *entry) { link(e); e.Target = "" }) },
		"huge": func(m *manifest) {
			m.Packs[m.Entries[1].Pack] = 1 << 60
			m.add("work/g", func(e *entry) { e.Size = 1 << 50 })
		},
		"deep":    func(m *manifest) { m.add("work"+raw(strings.Repeat("/d", 300)), nil) },
		"version": func(m *manifest) { m.Version = 2 },
		"base":    func(m *manifest) { m.Base = "../x" },
	} {
		b, err := forge(t, change)
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if got := b.tree(); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRestoreStaysInside(t *testing.T) {
	t.Parallel()
	if got := reachesOut(t); got != "" {
		t.Error(got)
	}
}

func link(e *entry) { *e = entry{Path: e.Path, Kind: kindLink, Target: "../outside"} }
func file(e *entry) { e.Kind = kindFile }

// reachesOut restores a manifest that names a file above its root, and returns "planted" if that file was created.
func reachesOut(t *testing.T) string {
	b, _ := forge(t, func(m *manifest) {
		m.add("work/..", func(e *entry) { *e = entry{Path: e.Path, Kind: kindDir, Mode: 0o755} })
		m.Entries = append(m.Entries, entry{Path: "work/../planted", Kind: kindFile, Mode: 0o644, Sum: sumOf("")})
	})
	if _, err := os.Lstat(b.path("../planted")); err == nil {
		return "planted"
	}
	return ""
}

// spoiled restores a checkpoint whose manifest has the wrong hash for a file, and returns the content of the file.
func spoiled(t *testing.T) (string, error) {
	b, err := forge(t, func(m *manifest) { m.Entries[1].Sum = sumOf("mine") })
	text, _ := os.ReadFile(b.path("f")) // it may not exist
	return string(text), err
}

// TestDamage checks that damaged blobs are detected.
func TestDamage(t *testing.T) {
	t.Parallel()
	if text, err := spoiled(t); text != "" || !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%q, %v", text, err)
	}
	for name, spoil := range map[string]func(data []byte) []byte{
		"cut":     func(data []byte) []byte { return data[:len(data)/2] },
		"empty":   func([]byte) []byte { return nil },
		"changed": func(data []byte) []byte { data[len(data)-5] ^= 1; return data },
		"other":   func([]byte) []byte { return []byte("something else") },
	} {
		for _, what := range []string{"/packs/", "/manifests/"} {
			a, b := twoHosts(t)
			a.write("f", strings.Repeat("text", 1000)+hex.EncodeToString([]byte("more")))
			id, _ := a.save("")
			for _, k := range keys(t, a.k.Blobs.List(t.Context(), key+what)) {
				path := filepath.Join(filepath.Dir(filepath.Dir(a.path(""))), "blobs", k)
				data, err := os.ReadFile(path)
				a.must(err)
				a.must(a.k.Blobs.Put(t.Context(), k, bytes.NewReader(spoil(data))))
			}
			if err := b.k.Restore(t.Context(), key, id, b.roots); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
	}
}
