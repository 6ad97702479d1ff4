package service

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// Import creates a session from an exported log, completely or not at all. Anybody may have
// written the log, so it is only a record of a conversation: n and the caller decide where the
// session works and whose it is, and nothing in the log is carried out; see importedLog.
func (s *Service) Import(ctx context.Context, n pawl.NewSession, events iter.Seq2[pawl.Event, error]) (pawl.Session, error) {
	var file []pawl.Event
	for e, err := range events {
		if err != nil {
			return pawl.Session{}, fmt.Errorf("import: %w", err)
		}
		file = append(file, e)
		if e.Session != file[0].Session {
			return pawl.Session{}, fault.New(pawl.ErrInvalid, "import: event %d belongs to another session", e.Seq)
		}
	}
	if len(file) == 0 || !file[0].Session.Valid() {
		return pawl.Session{}, fault.New(pawl.ErrInvalid, "import: the file contains no session")
	}
	if n.ID == "" {
		n.ID = file[0].Session
	}
	if _, err := newID(n.ID); err != nil {
		return pawl.Session{}, fmt.Errorf("import: %w", err)
	}
	created, err := s.created(ctx, n)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("import: %w", err)
	}
	log, err := s.importedLog(file, n, created, access.ActorOf(ctx))
	if err != nil {
		return pawl.Session{}, fmt.Errorf("import: %w", err)
	}
	if _, err := s.Bus.Append(ctx, n.ID, 0, log...); err != nil {
		return pawl.Session{}, fmt.Errorf("import session %s: %w", n.ID, err)
	}
	return s.Get(ctx, n.ID)
}

// importedLog returns the log of an imported session: the events of the file that record the
// conversation, each built anew from the fields that importer allows, and the events that close
// whatever the file leaves open.
func (s *Service) importedLog(file []pawl.Event, n pawl.NewSession, created pawl.SessionCreated, by pawl.Actor) ([]pawl.Event, error) {
	if _, err := pawl.Fold(pawl.SliceLog(file)); err != nil {
		return nil, fault.New(pawl.ErrInvalid, "%w", err)
	}
	im := importer{id: n.ID, by: by, seqs: map[pawl.Seq]pawl.Seq{1: 1}}
	im.append(file[0].At, 0, created)
	for _, e := range file[1:] {
		b, err := im.body(e)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "event %d (%s): %w", e.Seq, pawl.KindOf(e.Body), err)
		}
		if b != nil {
			im.append(e.At, e.Turn, b)
			im.seqs[e.Seq] = pawl.Seq(len(im.log))
		}
	}
	h, err := pawl.Fold(pawl.SliceLog(im.log))
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "%w", err)
	}
	for _, b := range closingEvents(h, "imported") {
		im.append(s.Clock(), h.Turns(), b)
	}
	return im.log, im.checkIdle()
}

// importer builds the log of an imported session. Events of kinds that importer.body does not
// keep are left out, so events get new numbers.
type importer struct {
	id    pawl.SessionID
	by    pawl.Actor
	log   []pawl.Event
	seqs  map[pawl.Seq]pawl.Seq // numbers in the log, by those in the file
	usage pawl.Usage
}

func (im *importer) append(at time.Time, turn int, b pawl.Body) {
	im.log = append(im.log, pawl.Event{Session: im.id, Seq: pawl.Seq(len(im.log) + 1), Turn: turn, At: at, Body: b})
}

// checkIdle returns an error if anything in the log would resume.
func (im *importer) checkIdle() error {
	h, err := pawl.Fold(pawl.SliceLog(im.log))
	if err != nil {
		return fmt.Errorf("close the log: %w", err)
	}
	if h.Open() != nil || len(h.Waiting()) > 0 || len(h.Orders()) > 0 {
		return fault.New(pawl.ErrInvalid, "the log ends with unfinished work that cannot be closed")
	}
	return nil
}

// seq returns the number that an event of the file has in the log. 0 stays 0.
func (im *importer) seq(field string, seq pawl.Seq) (pawl.Seq, error) {
	if seq == 0 {
		return 0, nil
	}
	in, ok := im.seqs[seq]
	if !ok {
		return 0, fmt.Errorf("%s: event %d is not earlier in the file, or is of a kind that is not imported", field, seq)
	}
	return in, nil
}

// maxImportedUsage bounds the tokens and the cost of an imported session, so that sums over
// many sessions stay within the range of their type. It is $100,000.
const maxImportedUsage = 1e14

// use checks the usage that an event reports.
func (im *importer) use(u pawl.Usage) error {
	fields := func(u pawl.Usage) []int64 {
		return []int64{u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, int64(u.Cost)}
	}
	for _, n := range fields(u) {
		if n < 0 || n > maxImportedUsage {
			return fmt.Errorf("usage: %d is out of range", n)
		}
	}
	im.usage = im.usage.Add(u)
	for _, n := range fields(im.usage) {
		if n > maxImportedUsage {
			return fmt.Errorf("usage: the sum %d is out of range", n)
		}
	}
	return nil
}
