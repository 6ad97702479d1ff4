package lsp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
)

// The messages of the Language Server Protocol that are used, reduced to the
// fields that matter.

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

type textItem struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

type diagnostic struct {
	Range struct {
		Start struct {
			Line      int `json:"line"`
			Character int `json:"character"`
		} `json:"start"`
	} `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// pullReport is the response to textDocument/diagnostic.
type pullReport struct {
	Kind    string                `json:"kind"`
	Items   []diagnostic          `json:"items"`
	Related map[string]pullReport `json:"relatedDocuments"`
}

const pullUnchanged = "unchanged"

type progressParams struct {
	Token json.RawMessage `json:"token"`
	Value struct {
		Kind string `json:"kind"`
	} `json:"value"`
}

type registrationParams struct {
	Registrations []struct {
		Method  string      `json:"method"`
		Options pullOptions `json:"registerOptions"`
	} `json:"registrations"`
}

type pullOptions struct {
	InterFile bool `json:"interFileDependencies"`
}

type initializeResult struct {
	Capabilities struct {
		Sync json.RawMessage `json:"textDocumentSync"` // a number or an object
		Pull *pullOptions    `json:"diagnosticProvider"`
	} `json:"capabilities"`
}

// The kinds of a change on disk.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// capabilities are the client capabilities: both kinds of diagnostics, and
// nothing that is not listed.
var capabilities = map[string]any{
	"general": map[string]any{"positionEncodings": []string{"utf-32", "utf-16"}},
	"textDocument": map[string]any{
		"synchronization":    map[string]any{"didSave": true},
		"publishDiagnostics": map[string]any{"versionSupport": true},
		"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
	},
	"window": map[string]any{"workDoneProgress": true},
	"workspace": map[string]any{
		"configuration":         true,
		"workspaceFolders":      true,
		"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true, "relativePatternSupport": true},
		"diagnostics":           map[string]any{"refreshSupport": true},
	},
}

// toURI returns the file URI of a path.
func toURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// fromURI returns the path of a file URI, "" for other URIs. Servers spell
// URIs differently, so paths are compared.
func fromURI(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	return filepath.Clean(filepath.FromSlash(u.Path))
}

// oneLine makes the text of a server safe for a single line: no line breaks,
// no control characters, limited length.
func oneLine(text string) string {
	if len(text) > messageChars*8 {
		text = text[:messageChars*8]
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(text); len(runes) > messageChars {
		return string(runes[:messageChars]) + "…"
	}
	return text
}
