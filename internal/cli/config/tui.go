package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// NotifyModes are how one is told, by their names in the configuration.
var NotifyModes = map[string]notify.Mode{"": notify.Desktop, "desktop": notify.Desktop, "bell": notify.Bell, "off": notify.Off}

// UserThemes reads the user's own themes.
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

// CheckTUI returns what is wrong with how the user wants the screen.
func CheckTUI(u config.User, themes []theme.Theme) (findings []config.Finding) {
	wrong := func(key string, err error) {
		findings = append(findings, config.Finding{Level: config.LevelError, Key: key, Message: key + ": " + cli.ErrorText(err)})
	}
	if name := u.TUI.Theme; name != "" && name != theme.Auto {
		if _, err := theme.Lookup(name, themes); err != nil {
			wrong("tui.theme", err)
		}
	}
	if _, err := keys.New(u.TUI.Keys); err != nil {
		key := "tui.keys"
		if fault := (*keys.Fault)(nil); errors.As(err, &fault) {
			key, err = key+"."+fault.Action, errors.New(fault.Why)
		}
		wrong(key, err)
	}
	return findings
}

// checkTUI is CheckTUI with the themes that there are.
func checkTUI(u config.User) []config.Finding {
	themes, err := UserThemes()
	if err != nil {
		return []config.Finding{{Level: config.LevelError, Key: "tui.theme", Message: cli.ErrorText(err)}}
	}
	return CheckTUI(u, themes)
}
