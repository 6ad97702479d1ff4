package protect

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packFiles runs a script in a new repository and returns its packs with their indexes.
func packFiles(t *testing.T, text string) map[string][2][]byte {
	t.Helper()
	dir := t.TempDir()
	script(t, dir, text)
	names, err := filepath.Glob(dir + "/.git/objects/pack/*.pack")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	files := map[string][2][]byte{}
	for _, name := range names {
		pack, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		idx, err := os.ReadFile(strings.TrimSuffix(name, "pack") + "idx")
		if err != nil {
			t.Fatal(err)
		}
		files[name] = [2][]byte{pack, idx}
	}
	return files
}

// grow makes commits whose files become deltas of each other.
const grow = `git init -q $FORMAT; for i in $(seq 30); do seq $i 3000 > a; seq 100 > b$i; git add .; git commit -qm $i; done; git tag -am x x
`

// TestPackIndex: the index of a pack is the one that git writes.
func TestPackIndex(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		hash   hash
	}{
		"offset deltas": {grow + `git repack -adfq --depth=50`, sha1Hash},
		"id deltas":     {grow + `git -c repack.usedeltabaseoffset=false repack -adfq`, sha1Hash},
		"several packs": {grow + `git repack -q; echo x > x; git add .; git commit -qm x; git repack -q`, sha1Hash},
		"sha256":        {`FORMAT=--object-format=sha256; ` + grow + `git repack -adfq`, sha256Hash},
		"empty":         {`git init -q; git pack-objects -q .git/objects/pack/pack < /dev/null`, sha1Hash},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for file, data := range packFiles(t, tt.script) {
				p, err := readPack(t.Context(), bytes.NewReader(data[0]), int64(len(data[0])), tt.hash)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				if !bytes.Equal(p.index(), data[1]) {
					t.Errorf("%s: another index", file)
				}
				ids, err := readIDs(data[1], tt.hash)
				if err != nil || len(ids.ids) != len(p.objects)*tt.hash.size {
					t.Errorf("%s: %d ids, %v", file, len(ids.ids)/tt.hash.size, err)
				}
				for _, o := range p.objects {
					if !ids.contains(o.id) {
						t.Errorf("%s: %x is missing", file, o.id)
					}
				}
				if ids.contains(make([]byte, tt.hash.size)) {
					t.Error("an id that is not there is found")
				}
			}
		})
	}
}

// TestDamagedPack: no byte of a pack can change without an error or another index, even with a matching checksum.
func TestDamagedPack(t *testing.T) {
	t.Parallel()
	for _, data := range packFiles(t, `git init -q; for i in 1 2 3; do seq $i 40 > a; git add .; git commit -qm $i; done; git repack -adfq`) {
		pack, end := data[0], len(data[0])-sha1.Size
		for i := range pack {
			changed := slices.Clone(pack)
			changed[i] ^= 0x11
			if _, err := readPack(t.Context(), bytes.NewReader(changed), int64(len(changed)), sha1Hash); err == nil {
				t.Errorf("byte %d is not verified", i)
			}
			if i >= end {
				continue
			}
			sum := sha1.Sum(changed[:end])
			copy(changed[end:], sum[:])
			if p, err := readPack(t.Context(), bytes.NewReader(changed), int64(len(changed)), sha1Hash); err == nil && bytes.Equal(p.index(), data[1]) {
				t.Errorf("byte %d does not matter", i)
			}
			if _, err := readPack(t.Context(), bytes.NewReader(pack[:i]), int64(i), sha1Hash); err == nil {
				t.Errorf("a pack that ends at byte %d is accepted", i)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		if cancel(); ctx.Err() == nil {
			t.Fatal("not canceled")
		}
		if _, err := readPack(ctx, bytes.NewReader(pack), int64(len(pack)), sha1Hash); err == nil {
			t.Error("it is read although canceled")
		}
	}
}

func TestApplyDelta(t *testing.T) {
	t.Parallel()
	base := []byte("0123456789")
	for _, tt := range []struct{ delta, want string }{
		{"\x0a\x03\x90\x03", "012"},
		{"\x0a\x05\x91\x02\x03\x02xy", "234xy"},
		{"\x0a\x00", ""},
		{"\x09\x03\x90\x03", "error"},         // another base
		{"\x0a\x04\x90\x03", "error"},         // too short
		{"\x0a\x02\x90\x03", "error"},         // too long
		{"\x0a\x03\x91\x08\x03", "error"},     // beyond the base
		{"\x0a\x03\x00", "error"},             // reserved
		{"\x0a\x03\x03xy", "error"},           // not enough data
		{"\x0a\x03\x91", "error"},             // cut off
		{"\x0a\x80\x80\x80\x80\x10", "error"}, // more than the limit
		{"", "error"}, {"\x0a", "error"}, {"\x8a", "error"},
	} {
		got, err := applyDelta(base, []byte(tt.delta))
		if err != nil {
			got = []byte("error")
		}
		if string(got) != tt.want {
			t.Errorf("%q gives %q, want %q", tt.delta, got, tt.want)
		}
	}
}

// TestVerifyLoose: no byte of a loose object can change.
func TestVerifyLoose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, dir, `git init -q; seq 50 | git hash-object -w --stdin`)
	names, err := filepath.Glob(dir + "/.git/objects/??/*")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	id := filepath.Base(filepath.Dir(names[0])) + filepath.Base(names[0])
	if err := verifyLoose(bytes.NewReader(data), id, sha1Hash); err != nil {
		t.Error(err)
	}
	if err := verifyLoose(bytes.NewReader(data), hex.EncodeToString(make([]byte, 20)), sha1Hash); err == nil {
		t.Error("another id is accepted")
	}
	for i := range data {
		changed := slices.Clone(data)
		if changed[i] ^= 0x11; verifyLoose(bytes.NewReader(changed), id, sha1Hash) == nil && i > 1 {
			t.Errorf("byte %d is not verified", i)
		}
		if verifyLoose(bytes.NewReader(data[:i]), id, sha1Hash) == nil {
			t.Errorf("an object that ends at byte %d is accepted", i)
		}
	}
}
