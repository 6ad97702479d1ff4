package config

// Server is an MCP server of the user's. What makes a good one is not known here.
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

// ServerLogin is how pawl is known where a server's logins are given out.
type ServerLogin struct {
	ClientID string   `json:"client_id,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
}
