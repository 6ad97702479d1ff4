package pawl

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// sameJSON compares raw values by their compact form; a missing one is null.
var sameJSON = cmp.FilterPath(func(p cmp.Path) bool {
	return p.Last().Type() == reflect.TypeFor[json.RawMessage]() // and no other bytes
}, cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a)+len(b) > 0 }, cmp.Comparer(func(a, b json.RawMessage) bool {
	return bytes.Equal(compact(a), compact(b))
})))

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return []byte("null")
	}
	return b.Bytes()
}

// FuzzDecodeEvent checks that any input is rejected or decoded, and that a decoded
// event can be encoded and decoded again without a change.
func FuzzDecodeEvent(f *testing.F) {
	golden, err := os.ReadFile(goldenEvents)
	if err != nil {
		f.Fatal(err)
	}
	for l := range bytes.Lines(golden) {
		f.Add(bytes.TrimSpace(l))
	}
	f.Add([]byte(line("prompted", `{"parts":[{"type":"tool_call","id":"a","name":"b","input":{"k":1,"k":2}},{"type":"reasoning"}]}`)))
	f.Add([]byte(line("session.titled", `null`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e Event
		if json.Unmarshal(data, &e) != nil {
			return
		}
		encoded, err := strictjson.Encode(e)
		if err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		var again Event
		if err := json.Unmarshal(encoded, &again); err != nil {
			t.Fatalf("decode what was encoded: %v\n%s", err, encoded)
		}
		if diff := cmp.Diff(e, again, sameJSON, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s\n%s", encoded, diff)
		}
	})
}
