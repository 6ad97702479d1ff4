package protocol

import (
	"encoding/json"
	"strings"
)

// Seal prefixes a provider's signature with the protocol, so that it is never sent over another one: a session
// may switch models in mid-conversation.
func Seal(protocol, signature string) string {
	if signature == "" {
		return ""
	}
	return protocol + ":" + signature
}

// Unseal returns a signature of this protocol, or "" if it is of another one.
func Unseal(protocol, signature string) string {
	own, ok := strings.CutPrefix(signature, protocol+":")
	if !ok {
		return ""
	}
	return own
}

// Input returns a call's input as a JSON object, which providers require. Malformed input is wrapped in an
// object.
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
