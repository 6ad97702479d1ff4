package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// NotifyModes maps the values of tui.notify to notification modes.
var NotifyModes = map[string]notify.Mode{"": notify.Desktop, "desktop": notify.Desktop, "bell": notify.Bell, "off": notify.Off}

// UserThemes reads the themes in the user's configuration directory.
func UserThemes() ([]theme.Theme, error) {
	dir, err := config.UserFolder()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "themes")
	themes, err := theme.Read(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("read the themes in %s: %w", dir, err)
	}
	return themes, nil
}

// CheckTUI checks the theme and the key bindings of the terminal UI.
func CheckTUI(u config.User, themes []theme.Theme) (findings []config.Finding) {
	wrong := func(key string, err error) {
		findings = append(findings, config.Finding{Level: config.LevelError, Key: key, Message: key + ": " + fault.Text(err)})
	}
	if name := u.TUI.Theme; name != "" && name != theme.Auto {
		if _, err := theme.Lookup(name, themes); err != nil {
			wrong("tui.theme", err)
		}
	}
	if _, err := keys.New(u.TUI.Keys); err != nil {
		key := "tui.keys"
		if wrong := (*keys.Fault)(nil); errors.As(err, &wrong) {
			key, err = key+"."+wrong.Action, errors.New(wrong.Why)
		}
		wrong(key, err)
	}
	return findings
}

// checkTUI calls CheckTUI with the user's themes.
func checkTUI(u config.User) []config.Finding {
	themes, err := UserThemes()
	if err != nil {
		return []config.Finding{{Level: config.LevelError, Key: "tui.theme", Message: err.Error()}}
	}
	return CheckTUI(u, themes)
}
