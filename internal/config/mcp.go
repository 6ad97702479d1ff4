package config

// Server configures an MCP server of the user. This package does not validate it.
type Server struct {
	Type     string            `json:"type,omitempty"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Local    bool              `json:"local,omitempty"`
	Timeout  int               `json:"timeout,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
	Tools    []string          `json:"tools,omitempty"`
	OAuth    *ServerLogin      `json:"oauth,omitempty"`
}

// ServerLogin configures pawl's OAuth client for a server.
type ServerLogin struct {
	ClientID string   `json:"client_id,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
}
