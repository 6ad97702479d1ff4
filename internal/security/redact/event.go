package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// Event masks an event as Redact does, for who it is shared with.
func (r *Redactor) Event(e pawl.Event) (pawl.Event, error) { return r.Log()(e) }

// Log is Event for the events of one log, in their order: what is proven by the
// hashes of events before is proven of the masked ones.
func (r *Redactor) Log() func(pawl.Event) (pawl.Event, error) {
	return (&masker{mask: r.Redact}).event
}

// masker masks events that come one after the other.
type masker struct {
	mask  func(string) string
	moved map[string]string // hashes of what was masked, and what they are now
}

// event returns the event with all its texts masked, and the hashes that it is
// proven by made anew.
func (m *masker) event(e pawl.Event) (pawl.Event, error) {
	masked, err := maskEvent(e, m.mask)
	if err == nil {
		masked.Body = m.prove(e.Body, masked.Body)
	}
	return masked, err
}

// prove makes the hashes of evidence anew once something in it was masked: a chain
// that does not hold makes the whole log one that nobody may act on. One that did
// not hold before does not hold afterwards either.
func (m *masker) prove(was, is pawl.Body) pawl.Body {
	switch is := is.(type) {
	case pawl.CriteriaSet:
		if old, ok := was.(pawl.CriteriaSet); ok && old.Hash == old.Criteria.Hash() {
			is.Hash = m.move(old.Hash, is.Criteria.Hash())
		}
		return is
	case pawl.CheckRan:
		if old, ok := was.(pawl.CheckRan); ok && old.Hash == old.Link(old.Prev).Hash {
			is = is.Link(m.now(old.Prev))
			m.move(old.Hash, is.Hash)
		}
		return is
	case pawl.Sealed:
		is.Criteria, is.Chain = m.now(is.Criteria), m.now(is.Chain)
		return is
	default:
		return is
	}
}

// move notes what a hash is now, and returns that.
func (m *masker) move(from, to string) string {
	if from != to {
		if m.moved == nil {
			m.moved = map[string]string{}
		}
		m.moved[from] = to
	}
	return to
}

// now is a hash as it is now.
func (m *masker) now(hash string) string { return cmp.Or(m.moved[hash], hash) }

// maskEvent returns the event with all its texts masked, wherever they are in
// it. What cannot be encoded is left to who would keep it to refuse.
func maskEvent(e pawl.Event, mask func(string) string) (pawl.Event, error) {
	if e.Body == nil {
		return e, nil
	}
	body := maskFiles(e.Body, mask)
	kind, version, data, err := pawl.Event{Body: body}.EncodeBody()
	if err != nil {
		return e, nil //nolint:nilerr // see above
	}
	e.Body = body
	masked, changed := maskJSON(data, mask)
	if !changed {
		return e, nil
	}
	if e.Body, err = kind.Decode(version, masked); err != nil {
		return pawl.Event{}, fmt.Errorf("mask secrets: %w", err)
	}
	return e, nil
}

// maskJSON masks the strings of an encoded value, as they are when they are
// decoded: an escape hides nothing.
func maskJSON(data []byte, mask func(string) string) (out []byte, changed bool) {
	done := 0
	for i := 0; i < len(data); i++ {
		if data[i] != '"' {
			continue
		}
		begin, escaped := i, false
		for i++; i < len(data) && data[i] != '"'; i++ {
			if data[i] == '\\' {
				escaped = true
				i++
			}
		}
		if i >= len(data) {
			break
		}
		s := string(data[begin+1 : i])
		if escaped && json.Unmarshal(data[begin:i+1], &s) != nil {
			continue // no string: who decodes it will say so
		}
		if masked := mask(s); masked != s {
			out = append(append(out, data[done:begin]...), encodeString(masked)...)
			done, changed = i+1, true
		}
	}
	return append(out, data[done:]...), changed
}

func encodeString(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string has no way to fail
	return bytes.TrimRight(b.Bytes(), "\n")
}

// maskFiles masks the texts that are attached, which JSON has in base64.
func maskFiles(b pawl.Body, mask func(string) string) pawl.Body {
	switch b := b.(type) {
	case pawl.Prompted:
		b.Parts = maskFileParts(b.Parts, mask)
		return b
	case pawl.Reworded:
		b.Parts = maskFileParts(b.Parts, mask)
		return b
	case pawl.Replied:
		b.Parts = maskFileParts(b.Parts, mask)
		return b
	case pawl.CallFinished:
		b.Result.Files = files(b.Result.Files, mask)
		b.Result.Display = maskFileParts(b.Result.Display, mask)
		return b
	case pawl.ShellRan:
		b.Result.Files = files(b.Result.Files, mask)
		b.Result.Display = maskFileParts(b.Result.Display, mask)
		return b
	default: // has no files
		return b
	}
}

func maskFileParts(parts pawl.Parts, mask func(string) string) pawl.Parts {
	cloned := false
	for i, p := range parts {
		f, ok := p.(pawl.File)
		if !ok {
			continue
		}
		if masked := file(f, mask); !bytes.Equal(masked.Data, f.Data) {
			if !cloned {
				parts, cloned = slices.Clone(parts), true
			}
			parts[i] = masked
		}
	}
	return parts
}

func files(list []pawl.File, mask func(string) string) []pawl.File {
	list = slices.Clone(list)
	for i := range list {
		list[i] = file(list[i], mask)
	}
	return list
}

// file masks a file that is a text. A picture has no secrets that could be found.
func file(f pawl.File, mask func(string) string) pawl.File {
	if !utf8.Valid(f.Data) {
		return f
	}
	if s := string(f.Data); mask(s) != s {
		f.Data = []byte(mask(s))
	}
	return f
}

// Result masks what a tool gives back, as Redact does: what the model reads, what
// people see, what the log keeps. The output of a command goes through it after
// its colors were taken out, which could stand within a secret.
func (r *Redactor) Result(result pawl.Result) pawl.Result {
	result.Content = r.Redact(result.Content)
	result.Files = files(result.Files, r.Redact)
	result.Display = r.parts(result.Display)
	result.Meta = maps.Clone(result.Meta)
	for k, v := range result.Meta {
		result.Meta[k] = r.Redact(v)
	}
	return result
}

func (r *Redactor) parts(list pawl.Parts) pawl.Parts {
	list = slices.Clone(list)
	for i, p := range list {
		switch p := p.(type) {
		case pawl.Text:
			list[i] = pawl.Text{Text: r.Redact(p.Text)}
		case pawl.Reasoning:
			p.Text = r.Redact(p.Text)
			list[i] = p
		case pawl.ToolCall:
			p.Input, _ = maskJSON(p.Input, r.Redact)
			list[i] = p
		case pawl.ToolResult:
			p.Content, p.Files = r.Redact(p.Content), files(p.Files, r.Redact)
			list[i] = p
		case pawl.File:
			list[i] = file(p, r.Redact)
		case pawl.Patch:
			list[i] = pawl.Patch{Path: r.Redact(p.Path), Diff: r.Redact(p.Diff)}
		}
	}
	return list
}
