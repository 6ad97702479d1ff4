package gemini

import (
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// name is what this protocol's signatures are sealed with.
const name = "gemini"

// Signatures come on parts of every kind and must go back on the same part. A
// call's is kept with the id that the provider gave it, if any: the log's own
// may differ. A text's is kept as a thought after the text, with the length of
// the part that it stood on.

func sealCall(id, signature string) string {
	if id == "" && signature == "" {
		return ""
	}
	return protocol.Seal(name, id+" "+signature)
}

func callSeal(sealed string) (id, signature string) {
	own := protocol.Unseal(name, sealed)
	space := strings.LastIndexByte(own, ' ')
	if space < 0 {
		return "", ""
	}
	return own[:space], own[space+1:]
}

func sealText(length int, signature string) string {
	return protocol.Seal(name, strconv.Itoa(length)+" "+signature)
}

// textSeal returns a signature, and if it is a text's the length of its part.
func textSeal(sealed string) (length int, signature string, ok bool) {
	own := protocol.Unseal(name, sealed)
	digits, signature, ok := strings.Cut(own, " ")
	if !ok {
		return 0, own, false
	}
	length, err := strconv.Atoi(digits)
	if err != nil || length < 0 {
		return 0, "", false
	}
	return length, signature, true
}
