package config

import "encoding/json"

// LanguageServer configures a language server. This package does not validate it.
type LanguageServer struct {
	Command        string            `json:"command,omitempty"`
	Args           []string          `json:"args,omitempty"`
	Extensions     []string          `json:"extensions,omitempty"`
	Env            map[string]string `json:"env,omitempty"`
	Initialization json.RawMessage   `json:"initialization,omitempty"`
	Disabled       bool              `json:"disabled,omitempty"`
}
