package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxNames is the maximum number of names to try for an export without a name.
const maxNames = 100

// exportTo exports a session to a new file and returns its path. file is relative to dir, or begins
// with ~/; its extension selects the format. If file is "", exportTo writes Markdown to a new file
// in dir.
func exportTo(ctx context.Context, a *app.App, dir string, id pawl.SessionID, file string) (string, error) {
	s, err := a.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if file != "" {
		path, err := exportPath(dir, file)
		if err != nil {
			return "", err
		}
		return path, exportFile(ctx, a, s, path)
	}
	for n := range maxNames {
		path := filepath.Join(dir, "pawl-"+strings.ToLower(string(id))+".md")
		if n > 0 {
			path = strings.TrimSuffix(path, ".md") + fmt.Sprintf("-%d.md", n+1)
		}
		if err = exportFile(ctx, a, s, path); !errors.Is(err, os.ErrExist) {
			return path, err
		}
	}
	return "", err
}

// exportPath returns the absolute path of file, which is relative to dir or begins with ~/.
func exportPath(dir, file string) (string, error) {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("export: %w", err)
		}
		file = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return file, nil
}

func exportFile(ctx context.Context, a *app.App, s pawl.Session, path string) error {
	f := session.ExportFlags{File: path}
	if f.Check(io.Discard) != nil {
		return fault.New(pawl.ErrInvalid, "the extension of %s does not name a format: use .md, .html or .jsonl", sanitize.Line(path))
	}
	err := f.Output(io.Discard, func(w io.Writer) error { return f.Write(ctx, w, io.Discard, a, s) })
	if errors.Is(err, os.ErrExist) {
		return fault.New(errors.Join(pawl.ErrConflict, os.ErrExist), "%s already exists", sanitize.Line(path)).Hint("Choose another name.")
	}
	return err
}

// permissionSource returns the source of rules and grants for the terminal UI.
func permissionSource(s *policy.Safety) *permissions.Source {
	return &permissions.Source{
		List: func(ctx context.Context, dir string) (permissions.List, error) {
			p, err := s.Policy(ctx, "", dir, pawl.Settings{})
			if err != nil {
				return permissions.List{}, err
			}
			var list permissions.List
			for _, r := range p.Rules {
				list.Rules = append(list.Rules, permissions.Rule{Text: r.String(), Origin: origins[r.Origin]})
			}
			for _, g := range p.Grants {
				if g.Dir != p.Dir {
					continue
				}
				list.SavedAnswers = append(list.SavedAnswers, permissions.SavedAnswer{ID: g.ID(), Text: g.Rule.String(), Where: g.Where()})
			}
			return list, nil
		},
		Revoke: func(id string) error { return s.Grants().Revoke(id) },
	}
}

// origins maps the origins of rules to descriptions.
var origins = map[permission.Origin]string{
	permission.OriginUser:    "your configuration",
	permission.OriginProject: "project configuration",
	permission.OriginPawl:    "built in",
}
