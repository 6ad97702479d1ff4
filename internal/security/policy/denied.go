package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// rules parses the user's rules for a directory. Rules that ask or deny also apply
// to the targets of symbolic links.
func (s *Safety) rules(text json.RawMessage, dir string) ([]permission.Rule, error) {
	rules, err := permission.ParseRules(text, permission.OriginUser)
	if err != nil {
		return nil, fmt.Errorf("read permission rules: %w", err)
	}
	for _, r := range rules[:len(rules):len(rules)] {
		if r.Decision == permission.Allow {
			continue
		}
		if real, ok := r.Follow(func(path string) string { return s.leads(dir, path) }); ok {
			rules = append(rules, real)
		}
	}
	return rules, nil
}

// leads resolves the links in a path of a rule. It returns "" if nothing changes.
func (s *Safety) leads(dir, path string) string {
	path = s.whole(dir, path)
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return ""
	}
	return real
}

// whole returns a path of a rule as an absolute path.
func (s *Safety) whole(dir, path string) string {
	switch rest, tilde := strings.CutPrefix(path, "~"); {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case tilde:
		return filepath.Join(s.home, rest)
	default:
		return filepath.Join(dir, path)
	}
}

// maxDenied bounds the files that are checked against rules that deny reading.
const maxDenied = 50_000

// denied returns the files that rules of the user, the administrator and a trusted
// project deny reading, so that commands cannot read them either. Outside of the
// project's directories only rules with absolute paths, or paths from ~, count.
func (s *Safety) denied(ctx context.Context, dir string, more []string) ([]string, error) {
	user, err := s.User()
	if err != nil {
		return nil, err
	}
	managed, err := s.Managed()
	if err != nil {
		return nil, err
	}
	known, err := s.projects.of(ctx, s, dir, false)
	if err != nil {
		return nil, err
	}
	var rules []permission.Rule
	for _, text := range []json.RawMessage{user.Permissions.Rules, managed.Rules} {
		some, err := s.rules(text, dir)
		if err != nil {
			return nil, err
		}
		rules = append(rules, some...)
	}
	rules = slices.DeleteFunc(append(rules, known.rules...), func(r permission.Rule) bool {
		return r.Decision != permission.Deny || r.Kind != pawl.AccessRead || r.Pattern == ""
	})
	if len(rules) == 0 {
		return nil, nil
	}
	l := looker{policy: permission.Policy{Mode: permission.ModeGuard, Rules: rules, Dir: dir, Dirs: more, Home: s.home}}
	for _, r := range rules {
		if !filepath.IsAbs(r.Pattern) && !strings.HasPrefix(r.Pattern, "~") {
			continue
		}
		path := s.whole(dir, r.Pattern)
		if !strings.ContainsAny(path, `*?[{\`) {
			l.found = append(l.found, path)
			continue
		}
		for strings.ContainsAny(path, `*?[{\`) {
			path = filepath.Dir(path)
		}
		if err := l.look(path); err != nil {
			return nil, err
		}
	}
	for _, dir := range append([]string{dir}, more...) {
		if err := l.look(dir); err != nil {
			return nil, err
		}
	}
	return l.found, nil
}

// looker searches for files that a policy denies.
type looker struct {
	policy permission.Policy
	seen   int
	found  []string
}

// look finds the outermost denied paths below a directory.
func (l *looker) look(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == l.policy.Dir || slices.Contains(l.policy.Dirs, path) {
			return nil //nolint:nilerr // what pawl cannot look into, it does not guard
		}
		if l.seen++; l.seen > maxDenied {
			return fmt.Errorf("your rules that deny reading match more than %d files: name files or directories by their whole path", maxDenied)
		}
		read := permission.Call{Risk: toolapi.RiskSafe, Access: []pawl.Access{{Kind: pawl.AccessRead, Target: path}}}
		if permission.Decide(l.policy, read).Decision != permission.Deny {
			return nil
		}
		l.found = append(l.found, path)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}
