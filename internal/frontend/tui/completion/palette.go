package completion

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Palette is the picker ID of the command palette; its items are command names.
const Palette = "palette"

// NewPalette returns the list of all commands.
func NewPalette(s *ui.Shared, folder pawl.Project) *picker.Picker {
	return picker.New(s, "Commands", Items(s, folder), picker.Options{ID: Palette})
}

// Items returns all commands by name.
func Items(s *ui.Shared, folder pawl.Project) []picker.Item {
	var items []picker.Item
	for _, c := range Builtin {
		detail := c.Help
		if key := s.Keys.Key(c.Key); c.Key != "" && key != "" {
			detail += "  " + key
		}
		items = append(items, picker.Item{ID: c.Name, Title: strings.TrimSpace("/" + c.Name + " " + c.Arguments), Detail: detail, Group: "Pawl"})
	}
	for _, c := range folder.Commands {
		if _, hidden := Find(c.Name); hidden {
			continue
		}
		items = append(items, picker.Item{
			ID: c.Name, Title: strings.TrimSpace("/" + c.Name + " " + c.Arguments), Detail: c.Description, Group: group(c.Origin),
		})
	}
	return items
}

func group(origin string) string {
	if origin == "" {
		return "this project"
	}
	return sanitize.Line(origin)
}
