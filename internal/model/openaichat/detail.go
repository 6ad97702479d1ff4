package openaichat

import (
	"encoding/json"
	"slices"

	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// detail is a fragment of reasoning_details as gateways send it: an object with a type (reasoning.text,
// .summary or .encrypted), an index, and opaque fields of the model's vendor.
type detail map[string]json.RawMessage

// grown are the fields that are sent in fragments, depending on the type.
var grown = []string{"text", "summary"}

// words returns the readable text of a fragment.
func (d detail) words() string {
	for _, key := range grown {
		if s := d.str(key); s != "" {
			return s
		}
	}
	return ""
}

func (d detail) str(key string) string {
	var s string
	if json.Unmarshal(d[key], &s) != nil {
		return ""
	}
	return s
}

// thought is a detail that is being assembled: the fields of all fragments, and the text.
type thought struct {
	detail
	key  string // field of the text; "" if it is not fragmented
	text []byte
}

// continues reports whether a fragment belongs to the thought: type, index and id are the same, and the thought is
// not signed yet.
func (t *thought) continues(piece detail) bool {
	return t.key != "" && t.str("signature") == "" && len(piece["data"]) == 0 &&
		t.same(piece, "type") && t.same(piece, "index") && t.same(piece, "id")
}

// same reports whether a field of the fragment is equal to the thought's, or missing.
func (t *thought) same(piece detail, key string) bool {
	return len(piece[key]) == 0 || string(piece[key]) == string(t.detail[key])
}

func (t *thought) add(piece detail) {
	for key, value := range piece {
		switch {
		case key == t.key:
			t.text = append(t.text, piece.str(key)...)
		case string(value) != "null" && string(value) != `""`:
			t.detail[key] = value
		}
	}
}

// details assembles the reasoning_details of a reply.
type details struct{ list []*thought }

func (ds *details) add(piece detail) {
	for _, t := range slices.Backward(ds.list) {
		if t.continues(piece) {
			t.add(piece)
			return
		}
	}
	t := &thought{detail: piece}
	for _, key := range grown {
		if _, ok := piece[key]; ok {
			t.key, t.text = key, []byte(piece.str(key))
		}
	}
	ds.list = append(ds.list, t)
}

// take returns the details as a JSON array and resets them; "" for none.
func (ds *details) take() (string, error) {
	if len(ds.list) == 0 {
		return "", nil
	}
	whole := make([]detail, len(ds.list))
	for i, t := range ds.list {
		whole[i] = t.detail
		if t.key == "" {
			continue
		}
		text, err := protocol.Marshal(string(t.text))
		if err != nil {
			return "", err
		}
		t.detail[t.key] = text
	}
	ds.list = nil
	sealed, err := protocol.Marshal(whole)
	return string(sealed), err
}
