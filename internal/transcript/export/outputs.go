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
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxPiece bounds the bytes of an output that one line has.
const maxPiece = 256 << 10

// outputLine is a line that holds a piece of an output that was too large for
// the log. A pawl that does not know such lines refuses them.
type outputLine struct {
	Blob *piece `json:"blob"`
}

type piece struct {
	pawl.Blob
	At   int64  `json:"at"` // bytes of the output that come before
	Data []byte `json:"data"`
}

// Outputs collects the outputs that a log names. The zero value is ready.
type Outputs struct {
	List []pawl.Blob
	has  map[pawl.Blob]bool
}

// Add takes in what an event names.
func (o *Outputs) Add(e pawl.Event) {
	spill := store.FullOutput(e.Body)
	if spill == nil || o.has[*spill] {
		return
	}
	if o.has == nil {
		o.has = map[pawl.Blob]bool{}
	}
	o.has[*spill] = true
	o.List = append(o.List, *spill)
}

// Matches reads a content to its end and reports whether it is the output's own.
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
				return fmt.Errorf("output %s has %d bytes, and %d were kept", blob.ID, at, blob.Size)
			}
			return nil
		}
	}
}

// Log reads what an export holds: first the events, all of them, then the outputs.
type Log struct {
	dec     *json.Decoder
	next    *piece // that was read and not yet taken
	outputs Outputs
}

// NewLog returns a Log. An export without outputs, as earlier pawls wrote it, is one too.
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

// event reads a line: an event, or a piece, which is then the next one.
func (l *Log) event() (e pawl.Event, err error) {
	var raw json.RawMessage
	if err := l.dec.Decode(&raw); err != nil {
		return e, err
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(raw, &keys) // what is no object is no event either, which says so
	if _, output := keys["blob"]; !output {
		return e, e.UnmarshalJSON(raw)
	}
	var o outputLine
	if err := strictjson.Decode(raw, &o); err != nil {
		return e, fmt.Errorf("decode output: %w", err)
	}
	if o.Blob == nil {
		return e, fmt.Errorf("decode output: there is none: %w", pawl.ErrInvalid)
	}
	l.next = o.Blob
	return e, nil
}

// Outputs gives each output of the export to put, which returns what it has
// stored, and returns those that the log names and the export does not hold. Only
// what the log names is taken, and only if it is what it says it is.
func (l *Log) Outputs(put func(io.Reader) (pawl.Blob, error)) (missing []pawl.Blob, err error) {
	for l.next != nil {
		blob := l.next.Blob
		if !l.outputs.has[blob] {
			return nil, fmt.Errorf("output %q: the log names no such output of %d bytes, or it came before: %w", blob.ID, blob.Size, pawl.ErrInvalid)
		}
		delete(l.outputs.has, blob)
		stored, err := put(&pieces{log: l, blob: blob})
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", blob.ID, err)
		}
		if stored != blob {
			return nil, fmt.Errorf("output %s: its content is another one, %s: %w", blob.ID, stored.ID, pawl.ErrInvalid)
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

// take takes the next piece and reads the line after it.
func (p *pieces) take() error {
	next := p.log.next
	switch {
	case next == nil || next.Blob != p.blob:
		return fmt.Errorf("it breaks off after %d of %d bytes: %w", p.at, p.blob.Size, pawl.ErrInvalid)
	case next.At != p.at || len(next.Data) > maxPiece || p.at+int64(len(next.Data)) > p.blob.Size || len(next.Data) == 0 && p.blob.Size > 0:
		return fmt.Errorf("the piece at %d is not the next one: %w", next.At, pawl.ErrInvalid)
	}
	p.data = next.Data
	p.at += int64(len(next.Data))
	p.last = p.at == p.blob.Size
	p.log.next = nil
	if _, err := p.log.event(); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if err == nil && p.log.next == nil {
		return fmt.Errorf("an event stands among the outputs: %w", pawl.ErrInvalid)
	}
	return nil
}
