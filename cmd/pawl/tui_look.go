package main

import (
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/frontend/tui"
)

// addLook tells the screen how the user wants it. A theme that is named wins over
// the one of the configuration.
func addLook(c *tui.Config, named string, user config.User) error {
	themes, err := userThemes()
	if err != nil {
		return err
	}
	path, err := config.UserFile()
	if err != nil {
		return err
	}
	for _, f := range lookFaults(user, themes) {
		if f.Key != "tui.theme" || named == "" {
			return fmt.Errorf("read %s: %s: %w", path, f.Message, pawl.ErrInvalid)
		}
	}
	t := user.TUI
	if _, ok := notifyModes[t.Notify]; !ok {
		return fmt.Errorf("read %s: tui.notify is %q: use desktop, bell or off: %w", path, t.Notify, pawl.ErrInvalid)
	}
	c.Theme, c.Themes, c.Keys, c.NoMouse, c.Notify = t.Theme, themes, t.Keys, t.Mouse != nil && !*t.Mouse, notifyModes[t.Notify]
	if named != "" {
		c.Theme = named
	}
	c.SaveTheme = func(name string) error { return config.Set("tui.theme", name, usable) }
	return nil
}
