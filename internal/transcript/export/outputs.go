package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxPiece bounds the bytes of an output per line.
const maxPiece = 256 << 10

// outputLine is a line with a piece of an output that was too large for the log.
// Versions of pawl that do not know it reject it.
type outputLine struct {
	Blob *piece `json:"blob"`
}

type piece struct {
	pawl.Blob
	At   int64  `json:"at"` // offset in the output
	Data []byte `json:"data"`
}

// Outputs collects the outputs that a log references. The zero value is ready to use.
type Outputs struct {
	List []pawl.Blob
	has  map[pawl.Blob]bool
}

// Add adds the outputs that an event references.
func (o *Outputs) Add(e pawl.Event) {
	blob := store.FullOutput(e.Body)
	if blob == nil || o.has[*blob] {
		return
	}
	if o.has == nil {
		o.has = map[pawl.Blob]bool{}
	}
	o.has[*blob] = true
	o.List = append(o.List, *blob)
}

// Matches reads r to its end and reports whether it is the content of the blob.
func Matches(blob pawl.Blob, r io.Reader) (bool, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	return n == blob.Size && hex.EncodeToString(hash.Sum(nil)) == blob.ID, err
}

// WriteOutput writes an output as lines, one piece each.
func WriteOutput(blob pawl.Blob, r io.Reader, line func(any) error) error {
	buf := make([]byte, maxPiece)
	for at := int64(0); ; {
		n, err := io.ReadFull(r, buf)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		if n > 0 || at == 0 {
			if err := line(outputLine{&piece{blob, at, buf[:n]}}); err != nil {
				return err
			}
		}
		at += int64(n)
		if ended {
			if at != blob.Size {
				return fmt.Errorf("output %s has %d bytes, but %d are stored", blob.ID, at, blob.Size)
			}
			return nil
		}
	}
}

// Log reads an export: first all events, then the outputs.
type Log struct {
	dec     *json.Decoder
	lines   int
	next    *piece // read but not consumed yet
	outputs Outputs
}

// NewLog returns a Log. Exports without outputs are valid too.
func NewLog(r io.Reader) *Log { return &Log{dec: json.NewDecoder(r)} }

// Events yields the events up to the first output.
func (l *Log) Events() iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for {
			e, err := l.event()
			if errors.Is(err, io.EOF) || err == nil && l.next != nil {
				return
			}
			l.outputs.Add(e)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// event reads a line: an event, or a piece, which becomes the next one.
func (l *Log) event() (e pawl.Event, err error) {
	var raw json.RawMessage
	if err := l.dec.Decode(&raw); err != nil {
		return e, err
	}
	l.lines++
	defer func() {
		if err != nil {
			err = fault.New(pawl.ErrInvalid, "line %d: %w", l.lines, err)
		}
	}()
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(raw, &keys) // anything but an object fails to decode as an event below
	if _, output := keys["blob"]; !output {
		return e, e.UnmarshalJSON(raw)
	}
	var o outputLine
	if err := strictjson.Decode(raw, &o); err != nil {
		return e, fmt.Errorf("decode output: %w", err)
	}
	if o.Blob == nil {
		return e, fault.New(pawl.ErrInvalid, "decode output: missing")
	}
	l.next = o.Blob
	return e, nil
}

// Outputs passes each output of the export to put, which returns what it has stored,
// and returns those that the log references but the export lacks. It accepts only
// outputs that the log references and whose content matches.
func (l *Log) Outputs(put func(io.Reader) (pawl.Blob, error)) (missing []pawl.Blob, err error) {
	for l.next != nil {
		blob := l.next.Blob
		if !l.outputs.has[blob] {
			return nil, fault.New(pawl.ErrInvalid, "output %q: the log has no such output of %d bytes, or it is a duplicate", blob.ID, blob.Size)
		}
		delete(l.outputs.has, blob)
		stored, err := put(&pieces{log: l, blob: blob})
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", blob.ID, err)
		}
		if stored != blob {
			return nil, fault.New(pawl.ErrInvalid, "output %s: its content has the hash %s", blob.ID, stored.ID)
		}
	}
	for _, blob := range l.outputs.List {
		if l.outputs.has[blob] {
			missing = append(missing, blob)
		}
	}
	return missing, nil
}

// pieces reads one output, line by line.
type pieces struct {
	log  *Log
	blob pawl.Blob
	at   int64
	data []byte
	last bool
}

func (p *pieces) Read(out []byte) (int, error) {
	for len(p.data) == 0 {
		if p.last {
			return 0, io.EOF
		}
		if err := p.take(); err != nil {
			return 0, err
		}
	}
	n := copy(out, p.data)
	p.data = p.data[n:]
	return n, nil
}

// take consumes the next piece and reads the line after it.
func (p *pieces) take() error {
	next := p.log.next
	switch {
	case next == nil || next.Blob != p.blob:
		return fault.New(pawl.ErrInvalid, "truncated after %d of %d bytes", p.at, p.blob.Size)
	case next.At != p.at || len(next.Data) > maxPiece || p.at+int64(len(next.Data)) > p.blob.Size || len(next.Data) == 0 && p.blob.Size > 0:
		return fault.New(pawl.ErrInvalid, "the piece at offset %d is out of order", next.At)
	}
	p.data = next.Data
	p.at += int64(len(next.Data))
	p.last = p.at == p.blob.Size
	p.log.next = nil
	if _, err := p.log.event(); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if err == nil && p.log.next == nil {
		return fault.New(pawl.ErrInvalid, "unexpected event between outputs")
	}
	return nil
}
