package transaction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// The limits of records.
const (
	keepRecords     = 7 * 24 * time.Hour // of calls whose sessions are not resumed
	maxRecord       = 16 << 20           // bytes
	recordedFiles   = 1000               // changed files that a record lists
	recordedRefused = 1000               // refusals that a record lists
)

const (
	recordsName  = "calls" // the directory of the records in that of the store
	recordSuffix = ".json"
)

// Call identifies the tool call whose command transactions belong to.
type Call struct {
	Session pawl.SessionID `json:"session"`
	ID      pawl.CallID    `json:"id"`
}

// Record says the outcome of the command of a call that has no result in the log,
// because Pawl was stopped. It exists from Store.Record to Store.Forget.
type Record struct {
	Call    Call     `json:"call"`
	Parts   int      `json:"parts"`             // how many transactions the command has; each has a record
	Dir     string   `json:"dir,omitempty"`     // the directory of a further transaction
	Outside []string `json:"outside,omitempty"` // hosts and directories that the command could change directly

	Closed  bool      `json:"closed,omitempty"`  // the transaction has ended, so that what follows is known
	Ended   bool      `json:"ended,omitempty"`   // the command had ended, and what was allowed of its changes was applied; else nothing was
	Files   int       `json:"files,omitempty"`   // how many files it changed
	Changed []string  `json:"changed,omitempty"` // the first of them
	Refused []Refusal `json:"refused,omitempty"` // the changes that were not applied, up to a limit
}

// records has the files of the records that this process knows.
type records struct {
	mu     sync.Mutex
	byCall map[Call][]string
}

// Record lets Interrupted tell the outcome of the command of a call, whose first
// transaction is that of the workspace. outside lists the hosts and directories that it
// can change directly. It is called before the command starts.
func (s *Store) Record(c Call, outside []string, all ...*Transaction) error {
	if err := os.MkdirAll(filepath.Join(s.dir, recordsName), 0o700); err != nil {
		return fmt.Errorf("record a call: %w", err)
	}
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	for i, t := range all {
		t.record = &Record{Call: c, Parts: len(all), Outside: outside}
		if i > 0 {
			t.record.Dir = t.root
		}
		path := recordOf(t.dir)
		s.records.add(c, path)
		if err := t.record.create(path); err != nil {
			return fmt.Errorf("record a call: %w", err)
		}
	}
	return nil
}

// Interrupted returns the outcome of the command of a call, or nil if that is not known:
// it did not run on a view of this machine, or not all of its transactions have ended in
// the same way. Paths of the workspace are relative, others absolute.
func (s *Store) Interrupted(ctx context.Context, c Call) (*Record, error) {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	paths, err := s.find(c)
	if err != nil {
		return nil, err
	}
	var parts []*Record
	for _, path := range paths {
		rec, err := readRecord(path)
		if err == nil && rec != nil && !rec.Closed {
			if err := recoverOne(ctx, transactionOf(path)); err != nil {
				return nil, err
			}
			rec, err = readRecord(path)
		}
		if err != nil || rec == nil || !rec.Closed {
			return nil, err
		}
		parts = append(parts, rec)
	}
	return join(parts), nil
}

// join returns the outcome of all transactions of a command, or nil if it is not known.
func join(parts []*Record) *Record {
	if len(parts) == 0 || len(parts) != parts[0].Parts {
		return nil
	}
	slices.SortFunc(parts, func(a, b *Record) int { return strings.Compare(a.Dir, b.Dir) })
	all := *parts[0]
	for _, r := range parts[1:] {
		if r.Ended != all.Ended {
			return nil
		}
		all.Files += r.Files
		for _, path := range r.Changed {
			all.Changed = append(all.Changed, filepath.Join(r.Dir, path))
		}
		for _, refused := range r.Refused {
			refused.Path = filepath.Join(r.Dir, refused.Path)
			all.Refused = append(all.Refused, refused)
		}
	}
	return &all
}

// Forget removes the records of a call, when its result is in the log.
func (s *Store) Forget(c Call) {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	for _, path := range s.records.byCall[c] {
		_ = os.Remove(path) // Recover removes it later
	}
	delete(s.records.byCall, c)
}

// find returns the files of the records of a call.
func (s *Store) find(c Call) ([]string, error) {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	if paths, ok := s.records.byCall[c]; ok {
		return slices.Clone(paths), nil
	}
	entries, err := readDir(filepath.Join(s.dir, recordsName))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, recordsName, e.Name())
		if filepath.Ext(path) != recordSuffix {
			continue
		}
		rec, err := readRecord(path)
		if err != nil {
			return nil, err
		}
		if rec != nil && rec.Call == c {
			s.records.add(c, path)
		}
	}
	return slices.Clone(s.records.byCall[c]), nil
}

func (r *records) add(c Call, path string) {
	if r.byCall == nil {
		r.byCall = map[Call][]string{}
	}
	r.byCall[c] = append(r.byCall[c], path)
}

// recordRefused records refusals before the other changes are applied: Recover would not
// know of them.
func (t *Transaction) recordRefused(refused []Refusal) error {
	if t.record == nil || len(refused) == 0 {
		return nil
	}
	t.record.setRefused(refused)
	return t.writeRecord()
}

// unrecord removes the record of a command that becomes a job: its changes are applied
// while it runs, so that it can be interrupted between them.
func (t *Transaction) unrecord() error {
	if t.record == nil {
		return nil
	}
	if err := os.Remove(recordOf(t.dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t.record = nil
	return nil
}

// closeRecord completes the record when the transaction ends.
func (t *Transaction) closeRecord() {
	if t.record == nil {
		return
	}
	t.record.Closed, t.record.Refused = true, nil
	if t.outcome != nil {
		t.record.setOutcome(t.outcome.Applied, t.outcome.Refused)
	}
	_ = t.writeRecord() // after an error the outcome is not known
}

// writeRecord writes the record of a transaction, unless it was forgotten.
func (t *Transaction) writeRecord() error {
	r := &t.store.records
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.byCall[t.record.Call]; ok {
		return t.record.update(recordOf(t.dir))
	}
	return nil
}

// closeRecord completes the record of an interrupted transaction. done is nil if nothing
// was applied. If it cannot be written, the outcome is not known.
func closeRecord(dir string, done *tree.Result) {
	path := recordOf(dir)
	rec, err := readRecord(path)
	if err != nil || rec == nil || rec.Closed {
		return
	}
	refused := rec.Refused
	rec.Closed, rec.Refused = true, nil
	if done != nil {
		rec.setOutcome(done.Applied, append(refused, conflicts(*done)...))
	}
	_ = rec.update(path)
}

func (r *Record) setRefused(list []Refusal) { r.Refused = list[:min(len(list), recordedRefused)] }

// setOutcome sets what the command changed.
func (r *Record) setOutcome(applied []tree.Change, refused []Refusal) {
	r.Ended = true
	r.setRefused(refused)
	for _, c := range applied {
		if c.New.Type == tree.Dir || c.Old.Type == tree.Dir {
			continue
		}
		if r.Files++; r.Files <= recordedFiles {
			r.Changed = append(r.Changed, c.Path)
		}
	}
}

// create creates the file of the record. Neither it nor update waits for the disk: a record
// that a power failure destroys means that the outcome is not known.
func (r *Record) create(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// update appends the record to its file, in which the last line counts. To replace the file
// would make the file system write it to the disk.
func (r *Record) update(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// readRecord returns the record in a file, or nil if it does not exist or was destroyed.
func readRecord(path string) (*Record, error) {
	text, err := userfile.Read(path, maxRecord)
	if err != nil {
		return nil, fmt.Errorf("read the record of a command: %w", err)
	}
	text, whole := bytes.CutSuffix(text, []byte("\n"))
	if !whole {
		return nil, nil
	}
	var rec Record
	if strictjson.Decode(text[bytes.LastIndexByte(text, '\n')+1:], &rec) != nil {
		return nil, nil
	}
	return &rec, nil
}

// removeOldRecords removes the records of calls whose sessions were not resumed.
func (s *Store) removeOldRecords() error {
	entries, err := readDir(filepath.Join(s.dir, recordsName))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= keepRecords {
			_ = os.Remove(filepath.Join(s.dir, recordsName, e.Name())) // the next Recover tries again
		}
	}
	return err
}

// readDir returns the entries of a directory, which need not exist.
func readDir(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// recordOf returns the file of the record of the transaction in a directory.
func recordOf(dir string) string {
	return filepath.Join(filepath.Dir(dir), recordsName, filepath.Base(dir)+recordSuffix)
}

// transactionOf is the reverse of recordOf.
func transactionOf(path string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), recordSuffix))
}
