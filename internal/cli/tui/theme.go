package tui

import (
	"github.com/pawl-dev/pawl"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui"
)

// setAppearance applies the user's configuration of the terminal UI to c. A theme in named overrides
// the configured one.
func setAppearance(c *tui.Config, named string, user config.User) error {
	themes, err := configcmd.UserThemes()
	if err != nil {
		return err
	}
	path, err := config.UserFile()
	if err != nil {
		return err
	}
	for _, f := range configcmd.CheckTUI(user, themes) {
		if f.Key != "tui.theme" || named == "" {
			return fault.New(pawl.ErrInvalid, "read %s: %s", path, f.Message)
		}
	}
	t := user.TUI
	if _, ok := configcmd.NotifyModes[t.Notify]; !ok {
		return fault.New(pawl.ErrInvalid, "read %s: tui.notify is %q: use desktop, bell or off", path, t.Notify)
	}
	c.Theme, c.Themes, c.Keys, c.NoMouse, c.Notify = t.Theme, themes, t.Keys, t.Mouse != nil && !*t.Mouse, configcmd.NotifyModes[t.Notify]
	if named != "" {
		c.Theme = named
	}
	c.SaveTheme = func(name string) error { return config.Set("tui.theme", name, configcmd.Usable) }
	return nil
}
