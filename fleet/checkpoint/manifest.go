package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	version     = 1
	maxManifest = 1 << 30 // bytes, uncompressed
	maxChain    = 32      // maximum length of a chain of manifests
)

type kind string

const (
	kindFile kind = "file"
	kindDir  kind = "dir"
	kindLink kind = "link"
)

// raw is a name or path of the file system: arbitrary bytes. In JSON, bytes that are not valid UTF-8 are
// written as %XX, and so is %.
type raw string

// MarshalText escapes bytes that are not valid UTF-8.
func (p raw) MarshalText() ([]byte, error) {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRuneInString(string(p[i:]))
		if r == '%' || r == utf8.RuneError && size == 1 {
			out = fmt.Appendf(out, "%%%02X", p[i])
		} else {
			out = append(out, p[i:i+size]...)
		}
		i += size
	}
	return out, nil
}

// UnmarshalText reverses MarshalText.
func (p *raw) UnmarshalText(text []byte) error {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			out = append(out, text[i])
			continue
		}
		if i+2 >= len(text) {
			return errors.New("a path ends in the middle of a byte")
		}
		b, err := hex.DecodeString(string(text[i+1 : i+3]))
		if err != nil {
			return err
		}
		out, i = append(out, b[0]), i+2
	}
	*p = raw(out)
	return nil
}

// sum is the SHA-256 hash of a content.
type sum [sha256.Size]byte

// MarshalText returns the hash in hexadecimal.
func (s sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText parses a hexadecimal hash.
func (s *sum) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(s) {
		return errors.New("not a SHA-256")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// entry is a file, directory or link in a checkpoint.
type entry struct {
	Path   raw    `json:"path"` // starts with the name of the root
	Kind   kind   `json:"kind"`
	Mode   uint32 `json:"mode,omitempty"`  // permissions, of files and directories
	Size   int64  `json:"size,omitempty"`  // of a file
	Time   int64  `json:"mtime,omitempty"` // of a file, in nanoseconds
	Sum    sum    `json:"sha256,omitzero"` // of a file
	Pack   string `json:"pack,omitempty"`  // pack with the content; "" if it is empty
	Offset int64  `json:"offset,omitempty"`
	Target raw    `json:"target,omitempty"` // of a link
}

// same reports whether two entries are equal except for the location of their content.
func (e entry) same(o entry) bool {
	o.Pack, o.Offset = e.Pack, e.Offset
	return e == o
}

// manifest is the stored form of a checkpoint: all entries, or the differences to a base.
type manifest struct {
	Version int              `json:"version"`
	Base    string           `json:"base,omitempty"`
	Chain   int              `json:"chain"` // number of manifests below it
	Count   int              `json:"count"` // number of entries in it and those below it
	Packs   map[string]int64 `json:"packs"` // all packs that the checkpoint needs, with their uncompressed sizes
	Entries []entry          `json:"entries"`
	Removed []raw            `json:"removed,omitempty"`
}

// state is a complete checkpoint in memory.
type state struct {
	ID      string
	Chain   int
	Count   int
	Packs   map[string]int64
	Entries map[raw]entry
}

func emptyState() *state { return &state{Packs: map[string]int64{}, Entries: map[raw]entry{}} }

// newManifest returns a manifest of next, as an increment to base if that is smaller.
func newManifest(base, next *state) manifest {
	m := manifest{Version: version, Packs: next.Packs}
	for path, e := range next.Entries {
		if old, found := base.Entries[path]; !found || old != e {
			m.Entries = append(m.Entries, e)
		}
	}
	for path := range base.Entries {
		if _, found := next.Entries[path]; !found {
			m.Removed = append(m.Removed, path)
		}
	}
	m.Base, m.Chain, m.Count = base.ID, base.Chain+1, base.Count+len(m.Entries)+len(m.Removed)
	if base.ID == "" || m.Chain >= maxChain || m.Count > 2*len(next.Entries)+100 {
		m.Base, m.Chain, m.Count, m.Removed = "", 0, len(next.Entries), nil
		m.Entries = slices.Collect(maps.Values(next.Entries))
	}
	slices.SortFunc(m.Entries, func(a, b entry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	slices.Sort(m.Removed)
	return m
}

// writeManifest stores a manifest and returns its id, the hash of its bytes.
func (k *Store) writeManifest(ctx context.Context, key string, m manifest) (id string, sent int64, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", 0, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", 0, err
	}
	packed := enc.EncodeAll(text, nil)
	hash := sha256.Sum256(packed)
	id = hex.EncodeToString(hash[:])
	return id, int64(len(packed)), k.Blobs.Put(ctx, manifestKey(key, id), bytes.NewReader(packed))
}

func manifestKey(key, id string) string { return key + "/manifests/" + id }
func packKey(key, id string) string     { return key + "/packs/" + id }

var (
	goodID   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	goodPack = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// readManifest reads a manifest and verifies it against its id.
func (k *Store) readManifest(ctx context.Context, key, id string) (m manifest, err error) {
	if !goodID.MatchString(id) {
		return m, fault.New(pawl.ErrInvalid, "invalid checkpoint id %q", id)
	}
	r, err := k.Blobs.Get(ctx, manifestKey(key, id))
	if err != nil {
		return m, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	defer r.Close()
	packed, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err != nil {
		return m, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	if hash := sha256.Sum256(packed); hex.EncodeToString(hash[:]) != id {
		return m, damaged(id, "the manifest does not match its id")
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxManifest))
	if err != nil {
		return m, err
	}
	defer dec.Close()
	text, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return m, damaged(id, err.Error())
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, damaged(id, err.Error())
	}
	if m.Version != version {
		return m, fault.New(pawl.ErrInvalid, "checkpoint %s has version %d, but this version of Pawl supports %d: upgrade Pawl", id, m.Version, version)
	}
	return m, nil
}

func damaged(id, why string) error {
	return fault.New(pawl.ErrInvalid, "checkpoint %s is damaged: %s: restore an earlier one", id, why)
}

// load reads a complete checkpoint, and returns it with the ids of its manifests.
func (k *Store) load(ctx context.Context, key, id string) (s *state, chain []string, err error) {
	var list []manifest
	for next := id; next != ""; {
		if len(list) > maxChain {
			return nil, nil, damaged(id, "too many manifests depend on each other")
		}
		m, err := k.readManifest(ctx, key, next)
		if err != nil {
			return nil, nil, err
		}
		list, chain, next = append(list, m), append(chain, next), m.Base
	}
	s = emptyState()
	for _, m := range slices.Backward(list) {
		for _, path := range m.Removed {
			delete(s.Entries, path)
		}
		for _, e := range m.Entries {
			s.Entries[e.Path] = e
		}
		if len(s.Entries) > k.maxFiles() {
			return nil, nil, &LimitError{What: "files", Max: int64(k.maxFiles())}
		}
	}
	top := list[0]
	s.ID, s.Chain, s.Count, s.Packs = id, top.Chain, top.Count, top.Packs
	if s.Packs == nil {
		s.Packs = map[string]int64{}
	}
	return s, chain, s.check(k.maxBytes())
}

// check rejects a checkpoint that is not a valid tree: nothing in it may lead outside of its roots.
func (s *state) check(maxBytes int64) error {
	total := int64(0)
	for path, e := range s.Entries {
		if why := e.fault(); why != "" {
			return damaged(s.ID, fmt.Sprintf("%q %s", path, why))
		}
		if above, _, below := cutLast(path); below {
			if s.Entries[above].Kind != kindDir {
				return damaged(s.ID, fmt.Sprintf("%q is not in a directory", path))
			}
		} else if e.Kind != kindDir || !goodName.MatchString(string(path)) {
			return damaged(s.ID, fmt.Sprintf("%q is not a root", path))
		}
		if e.Pack != "" && s.Packs[e.Pack]-e.Offset < e.Size {
			return damaged(s.ID, fmt.Sprintf("%q is not in a pack", path))
		}
		if total += e.Size; total > maxBytes {
			return &LimitError{What: "bytes", Max: maxBytes}
		}
	}
	return nil
}

// fault returns what is wrong with an entry by itself, or "".
func (e entry) fault() string {
	depth := 0
	for name := range strings.SplitSeq(string(e.Path), "/") {
		if depth++; name == "" || name == "." || name == ".." || strings.Contains(name, "\x00") {
			return "is not a valid path"
		}
	}
	switch {
	case depth > maxDepth+1:
		return "is nested too deeply"
	case e.Mode&^0o777 != 0:
		return "has an invalid mode"
	case e.Kind == kindFile && (e.Size < 0 || e.Offset < 0 || e.Size > 0 && !goodPack.MatchString(e.Pack)):
		return "has no content"
	case e.Kind == kindLink && (e.Target == "" || strings.Contains(string(e.Target), "\x00")):
		return "is a link without a target"
	case e.Kind != kindFile && (e.Size != 0 || e.Pack != ""):
		return "has content"
	case e.Kind != kindFile && e.Kind != kindDir && e.Kind != kindLink:
		return "has an unknown type"
	}
	return ""
}

// cutLast splits a path into its parent and its last element.
func cutLast(path raw) (above raw, name string, below bool) {
	i := strings.LastIndexByte(string(path), '/')
	if i < 0 {
		return "", string(path), false
	}
	return path[:i], string(path[i+1:]), true
}
