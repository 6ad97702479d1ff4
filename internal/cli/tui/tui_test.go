package tui

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/notify"
)

// TestSaveChoice checks that the choices of the onboarding are saved and that the rest of the
// configuration is preserved.
func TestSaveChoice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	t.Setenv("PAWL_CONFIG", file)
	t.Setenv("PAWL_MODEL", "")
	if err := os.WriteFile(file, []byte("{\n  // mine\n  \"fallback\": [\"a/b\"]\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := saveChoice("anthropic/sonnet", "guard"); err != nil {
		t.Fatal(err)
	}
	user, err := app.LoadUser()
	if err != nil {
		t.Fatal(err)
	}
	got := config.User{Model: user.Model, Fallback: user.Fallback, Permissions: user.Permissions}
	want := config.User{Model: "anthropic/sonnet", Fallback: []string{"a/b"}}
	want.Permissions.Mode = "guard"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := saveChoice("anthropic/sonnet", "nonsense"); err == nil {
		t.Error("a mode that there is not is kept")
	}
}

// userFiles writes the user's configuration and themes, and returns the path of the configuration.
func userFiles(t *testing.T, conf string, themes map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	file := filepath.Join(dir, "pawl", "pawl.json")
	t.Setenv("PAWL_CONFIG", file)
	t.Setenv("PAWL_MODEL", "")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "pawl", "themes"), 0o700), os.WriteFile(file, []byte(conf), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, text := range themes {
		if err := os.WriteFile(filepath.Join(dir, "pawl", "themes", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// appearance returns the configuration of the terminal UI for the user's files.
func appearance(t *testing.T, named string) (tui.Config, error) {
	t.Helper()
	user, err := app.LoadUser()
	if err != nil {
		t.Fatal(err)
	}
	var c tui.Config
	err = setAppearance(&c, named, user)
	return c, err
}

// TestAppearance checks that the terminal UI uses the user's configuration, that a named theme
// overrides it, and that a chosen theme is saved.
func TestAppearance(t *testing.T) { //nolint:paralleltest // it sets environment variables
	userFiles(t, `{"tui":{"theme":"sea","keys":{"send":["ctrl+enter"]},"mouse":false,"notify":"bell"}}`, map[string]string{"sea.json": `{"base":"light"}`})
	c, err := appearance(t, "")
	if err != nil {
		t.Fatal(err)
	}
	want := tui.Config{Theme: "sea", Keys: map[string][]string{"send": {"ctrl+enter"}}, NoMouse: true, Notify: notify.Bell}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(tui.Config{}, "Themes", "SaveTheme", "Onboarding")); diff != "" || len(c.Themes) != 1 || c.Themes[0].Name != "sea" {
		t.Error(diff, c.Themes)
	}
	if c, err := appearance(t, "contrast"); err != nil || c.Theme != "contrast" {
		t.Errorf("%s, %v", c.Theme, err)
	}
	if err := c.SaveTheme("plain"); err != nil {
		t.Fatal(err)
	}
	if c, err := appearance(t, ""); err != nil || c.Theme != "plain" || !c.NoMouse {
		t.Errorf("after the choice: %s, %v, %v", c.Theme, c.NoMouse, err)
	}
	if err := c.SaveTheme("nonsense"); err == nil {
		t.Error("a theme that there is not is kept")
	}
}

// TestAppearanceErrors checks that errors name the file and the key, and suggest a valid value.
func TestAppearanceErrors(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		name, conf, themed string
		says               []string
	}{
		{"an unknown theme", `{"tui":{"theme":"drak"}}`, "", []string{"pawl.json", "tui.theme", `did you mean "dark"`}},
		{"an unknown action", `{"tui":{"keys":{"snd":["f5"]}}}`, "", []string{"pawl.json", "tui.keys.snd", "did you mean send"}},
		{"one key for two", `{"tui":{"keys":{"queue":["enter"]}}}`, "", []string{"pawl.json", "tui.keys.queue", "send"}},
		{"an unknown way to be told", `{"tui":{"notify":"mail"}}`, "", []string{"pawl.json", "tui.notify", "bell"}},
		{"a theme that is none", `{}`, `{"colors":{"text":"red"}}`, []string{"own.json", "colors.text", "#rrggbb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			themes := map[string]string{}
			if c.themed != "" {
				themes["own.json"] = c.themed
			}
			file := userFiles(t, c.conf, themes)
			_, err := appearance(t, "")
			if !errors.Is(err, pawl.ErrInvalid) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(fault.Text(err), want) {
					t.Errorf("it does not say %q: %s", want, fault.Text(err))
				}
			}
			found := configcmd.CheckUserFile(file)
			if len(found) != 1 || found[0].Level != config.LevelError {
				t.Errorf("pawl config check says %v", found)
			}
		})
	}
}

// TestAppearanceGuide checks that the examples in the guide are valid.
func TestAppearanceGuide(t *testing.T) { //nolint:paralleltest // it sets environment variables
	blocks := guideBlocks(t, "appearance.md", "jsonc")
	if len(blocks) == 0 {
		t.Fatal("the guide has no example")
	}
	for _, text := range blocks {
		userFiles(t, text, nil)
		if c, err := appearance(t, ""); err != nil || c.Theme != "light" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// guideBlocks returns the code blocks of a language in a page of the guide.
func guideBlocks(t *testing.T, name, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", name))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}
