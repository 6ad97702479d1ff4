package gemini

import (
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// name prefixes the signatures of this protocol; see protocol.Seal.
const name = "gemini"

// Signatures occur on parts of every kind, and must be sent back on the same part. That of a call is stored
// with the provider's id for it, because the id in the log may differ. That of a text is stored as a thought
// after the text, with the length of its part.

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

// textSeal returns a signature, and the length of the part if it is a text's.
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
