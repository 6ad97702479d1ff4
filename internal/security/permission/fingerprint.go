package permission

import (
	"bytes"
	"encoding/json"

	"github.com/pawl-dev/pawl"
)

// Fingerprint names a call by what a person is shown of it: the tool, what it
// would touch, and its input, whatever the order of keys and the blanks. An
// approval is of this name; before the call runs, it is compared.
func Fingerprint(c Call) string {
	d := newHash("pawl call 1")
	d.text(c.Tool)
	for _, a := range c.Access {
		d.text("access")
		d.text(string(a.Kind))
		d.text(a.Target)
	}
	if canonical, ok := canonicalJSON(c.Input); ok {
		d.text("input")
		d.text(string(canonical))
	} else {
		d.text("bytes")
		d.text(string(c.Input))
	}
	return d.sum()
}

// canonicalJSON sorts the keys and drops the blanks. Numbers stay as written.
// A text with a key that is there twice has no canonical form.
func canonicalJSON(text json.RawMessage) ([]byte, bool) {
	var v any
	if pawl.Decode(text, &v) != nil {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	out, err := json.Marshal(v)
	return out, err == nil
}
