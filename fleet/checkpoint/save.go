package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	attempts    = 3       // at reading something that changes
	maxBuffered = 1 << 20 // larger files are read twice: to hash and to pack them
)

// Save saves the content of the roots, and returns the id of the new checkpoint. It builds on the checkpoint
// from ("" for none); if nothing has changed since, it returns from and writes nothing. A checkpoint with an id
// is complete: if Save fails or the host dies, there is no checkpoint. Concurrent saves create separate
// checkpoints.
//
// A file that changes while it is read is read again, a limited number of times.
func (k *Store) Save(ctx context.Context, key string, roots []Root, from string) (id string, stats Stats, err error) {
	if err := k.check(key, roots); err != nil {
		return "", Stats{}, err
	}
	path := k.indexPath(key, roots)
	if err := checkPartial(path); err != nil {
		return "", Stats{}, err
	}
	known := readIndex(path)
	base := known.State
	if base.ID != from {
		base = emptyState()
		if from != "" {
			if base, _, err = k.load(ctx, key, from); err != nil {
				return "", Stats{}, err
			}
		}
	}
	s := newSaver(k, key, known, base)
	defer s.pack.abort()
	for i, r := range roots {
		if err := s.root(ctx, r, i == 0); err != nil {
			return "", s.stats, fmt.Errorf("checkpoint: %w", err)
		}
	}
	if from == "" || !maps.EqualFunc(base.Entries, s.next.Entries, entry.same) {
		if err := s.write(ctx, roots); err != nil {
			return "", s.stats, fmt.Errorf("checkpoint: %w", err)
		}
	} else {
		s.next = base
	}
	if s.next.ID != known.State.ID || !maps.Equal(s.stamps, known.Stamps) {
		if err := writeIndex(path, &index{s.next, s.stamps}); err != nil {
			return "", s.stats, fmt.Errorf("checkpoint: %w", err)
		}
	}
	return s.next.ID, s.stats, nil
}

// saver is the state of one Save.
type saver struct {
	*Store

	key       string
	known     *index
	base      *state
	locations map[sum]location // locations of contents that are stored already
	pack      *packer
	dev       uint64
	buffer    []byte

	next   *state
	stamps map[raw]stamp
	stats  Stats
}

func newSaver(k *Store, key string, known *index, base *state) *saver {
	s := &saver{
		Store: k, key: key, known: known, base: base,
		locations: make(map[sum]location, len(base.Entries)),
		pack:      &packer{store: k, key: key},
		next:      &state{Packs: map[string]int64{}, Entries: make(map[raw]entry, len(base.Entries))},
		stamps:    make(map[raw]stamp, len(base.Entries)),
	}
	for _, e := range base.Entries {
		if e.Pack != "" {
			s.locations[e.Sum] = location{e.Pack, e.Offset}
		}
	}
	return s
}

// root saves a root and everything below it.
func (s *saver) root(ctx context.Context, r Root, must bool) error {
	dir, err := openRoot(r.Path)
	if errors.Is(err, unix.ENOENT) && !must {
		return nil
	}
	if err != nil {
		return err
	}
	st, err := stat(dir)
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	s.dev = number(st.Dev)
	return errors.Join(s.saveDir(ctx, dir, raw(r.Name), &st, 0), dir.Close())
}

// saveDir saves an open directory and everything below it.
func (s *saver) saveDir(ctx context.Context, dir *os.File, path raw, st *unix.Stat_t, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if depth > maxDepth {
		return &LimitError{What: "nested directories", Max: maxDepth}
	}
	if err := s.add(entry{Path: path, Kind: kindDir, Mode: permissions(st)}); err != nil {
		return err
	}
	names, err := namesIn(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.saveName(ctx, dir, path, name, depth); err != nil {
			return err
		}
	}
	return nil
}

// ignores reports whether an open directory is empty and not part of the workspace.
func (s *saver) ignores(dir *os.File, st *unix.Stat_t) (bool, error) {
	if s.IgnoreEmptyDir == nil || !s.IgnoreEmptyDir(modeOf(st)) {
		return false, nil
	}
	names, err := namesIn(dir)
	if err != nil || len(names) == 0 {
		return err == nil, err
	}
	_, err = dir.Seek(0, io.SeekStart) // it is not empty: it is read again
	return false, err
}

// errMoved means that a name was replaced by something else between two system calls.
var errMoved = errors.New("it changes while it is read: stop what is changing it")

// saveName saves a name in a directory, and retries if it is replaced in the meantime.
func (s *saver) saveName(ctx context.Context, dir *os.File, path raw, name string, depth int) error {
	for range attempts {
		err := s.saveEntry(ctx, dir, path+"/"+raw(name), name, depth)
		if errors.Is(err, unix.ENOENT) {
			return nil // it was removed
		}
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return fault.New(pawl.ErrBusy, "%s/%s: %w", dir.Name(), name, errMoved)
}

func (s *saver) saveEntry(ctx context.Context, dir *os.File, path raw, name string, depth int) error {
	st, err := statAt(dir, name)
	if err != nil {
		return err
	}
	switch fileType(&st) {
	case unix.S_IFREG:
		return s.file(ctx, dir, path, name, &st)
	case unix.S_IFLNK:
		target, err := linkAt(dir, name)
		if errors.Is(err, unix.EINVAL) {
			return errMoved
		}
		if err != nil {
			return err
		}
		return s.add(entry{Path: path, Kind: kindLink, Target: raw(target)})
	case unix.S_IFDIR:
		inner, err := s.open(dir, name, unix.O_DIRECTORY)
		if err != nil {
			return err
		}
		defer inner.Close() //nolint:errcheck // it is only read
		if st, err = stat(inner); err != nil {
			return err
		}
		if number(st.Dev) != s.dev {
			s.stats.LeftOut++
			return nil
		}
		if spare, err := s.ignores(inner, &st); spare || err != nil {
			return err
		}
		if err := s.saveDir(ctx, inner, path, &st, depth+1); !errors.Is(err, unix.ENOENT) {
			return err
		}
		return nil
	default:
		s.stats.LeftOut++
		return nil
	}
}

// open opens what was just found to be a file or a directory.
func (s *saver) open(dir *os.File, name string, flags int) (*os.File, error) {
	if s.look != nil {
		s.look(dir.Name() + "/" + name)
	}
	f, err := openAt(dir, name, flags, 0)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EMLINK):
		return nil, errMoved
	case errors.Is(err, unix.EACCES):
		return nil, fault.New(pawl.ErrInvalid, "%w: make it readable with `chmod`, or delete it", err)
	}
	return f, err
}

func (s *saver) add(e entry) error {
	if _, again := s.next.Entries[e.Path]; again {
		return nil // it was removed and created again
	}
	s.next.Entries[e.Path] = e
	if s.stats.Files++; s.stats.Files > s.maxFiles() {
		return &LimitError{What: "files", Max: int64(s.maxFiles())}
	}
	if s.stats.Bytes += e.Size; s.stats.Bytes > s.maxBytes() {
		return &LimitError{What: "bytes", Max: s.maxBytes()}
	}
	if e.Pack != "" {
		s.next.Packs[e.Pack] = s.base.Packs[e.Pack] // for the new pack it is set in write
	}
	return nil
}

// file saves a file: from the index if it is unchanged, or else by reading it.
func (s *saver) file(ctx context.Context, dir *os.File, path raw, name string, st *unix.Stat_t) error {
	now := stampOf(st)
	if before, found := s.known.Stamps[path]; found && before == now {
		e := s.known.State.Entries[path]
		at, kept := s.locations[e.Sum]
		if kept || e.Size == 0 {
			e.Mode, e.Pack, e.Offset = permissions(st), at.pack, at.offset
			s.stamps[path] = now
			return s.add(e)
		}
	}
	if now.Size > s.maxBytes()-s.stats.Bytes {
		return &LimitError{What: "bytes", Max: s.maxBytes()}
	}
	f, err := s.open(dir, name, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is only read
	e, err := s.read(ctx, f, path, false)
	if err != nil {
		return err
	}
	return s.add(e)
}

// read reads an open file and packs its content, unless it is stored already and always is false.
func (s *saver) read(ctx context.Context, f *os.File, path raw, always bool) (e entry, err error) {
	s.stats.Read++
	for range attempts {
		at := time.Now()
		st, err := stat(f)
		if err != nil {
			return e, err
		}
		if fileType(&st) != unix.S_IFREG {
			return e, errMoved
		}
		e = entry{Path: path, Kind: kindFile, Mode: permissions(&st), Time: unix.TimespecToNsec(st.Mtim)}
		if err := s.content(ctx, f, st.Size, &e, always); err != nil {
			return e, err
		}
		after, err := stat(f)
		if err != nil {
			return e, err
		}
		if before := stampOf(&st); before == stampOf(&after) && e.Size == st.Size {
			if before.stable(at) {
				s.stamps[path] = before
			}
			return e, nil
		}
	}
	return e, nil // as it was last read; without a stamp it is read again next time
}

// content reads a file up to a size, and fills in the entry.
func (s *saver) content(ctx context.Context, f *os.File, size int64, e *entry, always bool) (err error) {
	if size <= maxBuffered {
		if s.buffer == nil {
			s.buffer = make([]byte, maxBuffered)
		}
		n, err := io.ReadFull(io.NewSectionReader(f, 0, size), s.buffer[:size])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		data := s.buffer[:n]
		e.Size, e.Sum = int64(n), sha256.Sum256(data)
		if s.kept(e) && !always || n == 0 {
			return nil
		}
		at, err := s.pack.begin(ctx)
		if err != nil {
			return err
		}
		e.Pack, e.Offset, s.locations[e.Sum] = at.pack, at.offset, at
		_, err = s.pack.Write(data)
		return err
	}
	if !always {
		if e.Size, e.Sum, err = digest(ctx, io.Discard, io.NewSectionReader(f, 0, size)); err != nil || s.kept(e) {
			return err
		}
	}
	at, err := s.pack.begin(ctx)
	if err != nil {
		return err
	}
	if e.Size, e.Sum, err = digest(ctx, s.pack, io.NewSectionReader(f, 0, size)); err != nil || e.Size == 0 {
		return err
	}
	e.Pack, e.Offset, s.locations[e.Sum] = at.pack, at.offset, at
	return nil
}

// kept sets the location of an entry's content, if it is stored already.
func (s *saver) kept(e *entry) bool {
	at, kept := s.locations[e.Sum]
	e.Pack, e.Offset = at.pack, at.offset
	return kept
}

// digest copies data, and returns its size and hash.
func digest(ctx context.Context, w io.Writer, r io.Reader) (size int64, s sum, err error) {
	hash, buffer := sha256.New(), make([]byte, 128<<10)
	for {
		if ctx.Err() != nil {
			return size, s, context.Cause(ctx)
		}
		n, err := r.Read(buffer)
		_, _ = hash.Write(buffer[:n]) // never fails
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return size, s, err
			}
		}
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return size, sum(hash.Sum(nil)), nil
		}
		if err != nil {
			return size, s, err
		}
	}
}

// write stores the new contents, and the manifest last.
func (s *saver) write(ctx context.Context, roots []Root) error {
	if err := s.renew(ctx, roots); err != nil {
		return err
	}
	if err := s.pack.finish(); err != nil {
		return err
	}
	s.next.Packs = map[string]int64{}
	for _, e := range s.next.Entries {
		switch e.Pack {
		case "":
		case s.pack.id:
			s.next.Packs[e.Pack] = s.pack.size
		default:
			s.next.Packs[e.Pack] = s.base.Packs[e.Pack]
		}
	}
	m := newManifest(s.base, s.next)
	id, sent, err := s.writeManifest(ctx, s.key, m)
	if err != nil {
		return err
	}
	s.next.ID, s.next.Chain, s.next.Count = id, m.Chain, m.Count
	s.stats.Sent = s.pack.sent + sent
	return nil
}

// renew repacks the contents of repack packs, so that these are no longer needed.
func (s *saver) renew(ctx context.Context, roots []Root) error {
	repack := (&state{Packs: s.next.Packs, Entries: s.next.Entries}).repack()
	delete(repack, s.pack.id)
	if len(repack) == 0 {
		return nil
	}
	locations := map[sum]location{}
	for _, path := range slices.Sorted(maps.Keys(s.next.Entries)) {
		e := s.next.Entries[path]
		if !repack[e.Pack] {
			continue
		}
		if at, done := locations[e.Sum]; done {
			e.Pack, e.Offset = at.pack, at.offset
			s.next.Entries[path] = e
			continue
		}
		fresh, err := s.reread(ctx, roots, path)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, errMoved) {
			continue // it is kept where it was
		}
		if err != nil {
			return err
		}
		s.next.Entries[path] = fresh
		locations[fresh.Sum] = location{fresh.Pack, fresh.Offset}
	}
	return nil
}

// reread reads a file that was looked at before.
func (s *saver) reread(ctx context.Context, roots []Root, path raw) (e entry, err error) {
	above, name, _ := cutLast(path)
	dir, err := openPath(roots, above)
	if err != nil {
		return e, err
	}
	defer dir.Close() //nolint:errcheck // it is only read
	f, err := s.open(dir, name, 0)
	if err != nil {
		return e, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	delete(s.stamps, path)
	return s.read(ctx, f, path, true)
}
