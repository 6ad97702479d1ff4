package config

import "encoding/json"

// LanguageServer is what the user says of a language server. What makes a good
// one is not known here.
type LanguageServer struct {
	Command        string            `json:"command,omitempty"`
	Args           []string          `json:"args,omitempty"`
	Extensions     []string          `json:"extensions,omitempty"`
	Env            map[string]string `json:"env,omitempty"`
	Initialization json.RawMessage   `json:"initialization,omitempty"`
	Disabled       bool              `json:"disabled,omitempty"`
}
