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
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxNames is how many names are tried for an export that has none.
const maxNames = 100

// exportTo writes a session to a file for the terminal, and returns where it is. A
// name is taken from the directory on or from ~; the file must not be there yet.
// Without a name it is Markdown, in the directory.
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

// exportPath is where a file is that a person has named.
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
		return fmt.Errorf("%s: its name does not tell the format: let it end in .md, .html or .jsonl (the log, which 'pawl session import' reads): %w", sanitize.Line(path), pawl.ErrInvalid)
	}
	err := f.Output(io.Discard, func(w io.Writer) error { return f.Write(ctx, w, io.Discard, a, s) })
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: give it another name: %w: %w", sanitize.Line(path), pawl.ErrConflict, os.ErrExist)
	}
	return err
}

// permissionSource is what the terminal knows of permissions.
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
					continue // of another directory
				}
				list.Grants = append(list.Grants, permissions.Grant{ID: g.ID(), Text: g.Rule.String(), Where: g.Where()})
			}
			return list, nil
		},
		Revoke: func(id string) error { return s.Grants().Revoke(id) },
	}
}

// origins say where rules are written.
var origins = map[permission.Origin]string{
	permission.OriginUser:    "your configuration",
	permission.OriginProject: "this folder's configuration",
	permission.OriginPawl:    "built in",
}
