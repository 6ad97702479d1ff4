package protocol

import (
	"encoding/json"
	"strings"
)

// Seal marks a provider's signature with the protocol it came over, so that it
// never goes to another: a session may change its model in mid-conversation.
func Seal(protocol, signature string) string {
	if signature == "" {
		return ""
	}
	return protocol + ":" + signature
}

// Unseal returns a signature of this protocol's own; "" for any other.
func Unseal(protocol, signature string) string {
	own, ok := strings.CutPrefix(signature, protocol+":")
	if !ok {
		return ""
	}
	return own
}

// Input returns a call's input as the JSON object that providers insist on. An
// input that is none, because the model garbled it, comes back as what it was.
func Input(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && object != nil {
		return raw
	}
	wrapped, err := json.Marshal(map[string]string{"garbled": string(raw)})
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return wrapped
}
