package storetest

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// readers yields the readers, and then the error unless it is nil.
func readers(err error, list ...io.Reader) iter.Seq2[io.Reader, error] {
	return func(yield func(io.Reader, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func beginning() []pawl.Event {
	at := time.Now().UTC().Truncate(time.Microsecond)
	return []pawl.Event{{At: at, Body: pawl.SessionCreated{Dir: "/w"}}, {At: at, Body: pawl.SessionTitled{Title: "begun"}}}
}

func begin(t *testing.T, s store.Store) {
	id, large := NewID(), bytes.Repeat([]byte("line\n"), 100_000)
	stored, err := s.Begin(t.Context(), id, readers(nil, strings.NewReader("a"), bytes.NewReader(large), strings.NewReader("a")), beginning()...)
	if err != nil {
		t.Fatal(err)
	}
	var log []pawl.Event
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	if diff := cmp.Diff(stored, log); diff != "" || len(log) != 2 || log[1].Seq != 2 {
		t.Errorf("the log (-returned, +read):\n%s", diff)
	}
	for _, content := range [][]byte{[]byte("a"), large} {
		holds(t, s, id, put(t, s, create(t, s).Session, content), content)
	}
	row, err := s.Session(t.Context(), id)
	if err != nil || row.Title != "begun" || row.Head != 2 {
		t.Errorf("got %+v, %v", row, err)
	}
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}

	// An existing session stays unchanged.
	there := create(t, s).Session
	_, err = s.Begin(t.Context(), there, readers(nil, strings.NewReader("b")), beginning()...)
	fails(t, "begin once more", err, pawl.ErrConflict)
	other := put(t, s, create(t, s).Session, []byte("b"))
	_, err = s.OpenBlob(t.Context(), there, other.ID)
	fails(t, "a blob of what did not begin", err, pawl.ErrNotFound)
}

func beginBroken(t *testing.T, s store.Store) {
	fault := errors.New("broken")
	whole := put(t, s, create(t, s).Session, []byte("whole"))
	for name, test := range map[string]struct {
		id     pawl.SessionID
		blobs  iter.Seq2[io.Reader, error]
		events []pawl.Event
		want   error
	}{
		"a reader that breaks off": {NewID(), readers(nil, strings.NewReader("whole"), iotest.ErrReader(fault)), beginning(), fault},
		"a blob that is not there": {NewID(), readers(fault, strings.NewReader("whole")), beginning(), fault},
		"no log":                   {NewID(), readers(nil, strings.NewReader("whole")), slices.Clone(beginning()[1:]), pawl.ErrInvalid},
		"no session id":            {"..", readers(nil, strings.NewReader("whole")), beginning(), pawl.ErrInvalid},
	} {
		_, err := s.Begin(t.Context(), test.id, test.blobs, test.events...)
		fails(t, name, err, test.want)
		_, err = s.Session(t.Context(), test.id)
		fails(t, name+": the session", err, pawl.ErrNotFound)
		_, err = s.OpenBlob(t.Context(), test.id, whole.ID)
		fails(t, name+": its blob", err, pawl.ErrNotFound)
	}
}
