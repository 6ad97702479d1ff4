package config

// Terminal is how the user wants the screen. What a theme and an action are is not
// known here.
type Terminal struct {
	Theme        string              `json:"theme,omitempty"`
	Keys         map[string][]string `json:"keys,omitempty"`
	Mouse        *bool               `json:"mouse,omitempty"`
	Notify       string              `json:"notify,omitempty"`
	ScreenReader bool                `json:"screen_reader,omitempty"`
}
