package config

// Terminal configures the terminal UI. This package does not validate themes and actions.
type Terminal struct {
	Theme        string              `json:"theme,omitempty"`
	Keys         map[string][]string `json:"keys,omitempty"`
	Mouse        *bool               `json:"mouse,omitempty"`
	Notify       string              `json:"notify,omitempty"`
	ScreenReader bool                `json:"screen_reader,omitempty"`
}
