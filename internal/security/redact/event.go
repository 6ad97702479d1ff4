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

// Event masks all texts of an event as Redact does, for sharing it.
func (r *Redactor) Event(e pawl.Event) (pawl.Event, error) { return r.Log()(e) }

// Log returns a function that is Event for the events of one log, in their order. It
// updates the hashes by which later events refer to earlier ones, so that evidence
// stays valid for the masked events.
func (r *Redactor) Log() func(pawl.Event) (pawl.Event, error) {
	return (&masker{mask: r.Redact}).event
}

// masker masks the events of one log in their order.
type masker struct {
	mask  func(string) string
	moved map[string]string // hashes before masking -> hashes after it
}

// event returns the event with all its texts masked and its hashes updated.
func (m *masker) event(e pawl.Event) (pawl.Event, error) {
	masked, err := maskEvent(e, m.mask)
	if err == nil {
		masked.Body = m.prove(e.Body, masked.Body)
	}
	return masked, err
}

// prove updates the hashes of evidence that was masked: with a broken chain, the
// whole log would be rejected. A chain that was broken before stays broken.
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

// move records that the hash from became to, and returns to.
func (m *masker) move(from, to string) string {
	if from != to {
		if m.moved == nil {
			m.moved = map[string]string{}
		}
		m.moved[from] = to
	}
	return to
}

// now returns what a hash became.
func (m *masker) now(hash string) string { return cmp.Or(m.moved[hash], hash) }

// maskEvent returns the event with all its texts masked. An event that cannot be
// encoded is returned as it is: the store rejects it.
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

// maskJSON masks the strings of a JSON value in their decoded form, so that escapes
// hide nothing.
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
			continue // no valid string: decoding it will fail
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
	_ = enc.Encode(s) // encoding a string cannot fail
	return bytes.TrimRight(b.Bytes(), "\n")
}

// maskFiles masks attached texts, which are base64 in JSON.
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

// file masks a text file. Other files, such as pictures, cannot be searched.
func file(f pawl.File, mask func(string) string) pawl.File {
	if !utf8.Valid(f.Data) {
		return f
	}
	if s := string(f.Data); mask(s) != s {
		f.Data = []byte(mask(s))
	}
	return f
}

// Result masks a tool result as Redact does, before it reaches the model, people or
// the log. Remove terminal colors first: they could be within a secret.
func (r *Redactor) Result(result pawl.Result) pawl.Result {
	result.Content = r.Redact(result.Content)
	result.Files = files(result.Files, r.Redact)
	result.Display = r.parts(result.Display)
	result.Meta = maps.Clone(result.Meta)
	for k, v := range result.Meta {
		result.Meta[k] = r.Redact(v)
	}
	result.Changed, result.Refused = r.all(result.Changed), r.all(result.Refused)
	return result
}

func (r *Redactor) all(texts []string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = r.Redact(text)
	}
	return texts
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
