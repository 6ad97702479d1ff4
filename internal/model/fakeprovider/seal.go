package fakeprovider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
)

// seal signs reasoning. The signature depends only on the text, so that the server needs no state.
func seal(text string) string {
	sum := sha256.Sum256([]byte("reasoning\n" + text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// unsigned is accepted by Google as the signature of another model's call.
const unsigned = "skip_thought_signature_validator"

// sealCall signs a call, independent of the formatting of its input.
func sealCall(name string, input json.RawMessage) string {
	var v any
	if json.Unmarshal(input, &v) == nil {
		if sorted, err := json.Marshal(v); err == nil {
			input = sorted
		}
	}
	return seal("call " + name + " " + string(input))
}

// checkReturned rejects results of calls whose reasoning was not sent back, if the provider requires it. The
// script tells whether there was reasoning.
func (s *server) checkReturned(req request, position int) error {
	if !req.signed || position == 0 {
		return nil
	}
	var last pawl.Message
	before := req
	for i, m := range slices.Backward(req.messages) {
		if m.Role == pawl.RoleAssistant {
			last, before.messages = m, req.messages[:i]
			break
		}
	}
	calls := last.Parts.Calls()
	sent, err := s.at(before, position-1)
	if err != nil || sent.Reasoning == "" || len(calls) == 0 || len(calls) != len(sent.Calls) {
		return nil //nolint:nilerr // another script's history: nothing is known of it
	}
	for k, c := range calls {
		if c.Name != sent.Calls[k].Name {
			return nil
		}
	}
	for _, part := range last.Parts {
		switch p := part.(type) {
		case pawl.Reasoning:
			return nil
		case pawl.ToolCall:
			if p.Signature != "" {
				return nil
			}
		case pawl.Text, pawl.ToolResult, pawl.File, pawl.Patch:
		}
	}
	return fmt.Errorf("%s.%d: the signed reasoning that came before these calls is missing", req.field, last.Seq)
}
