package access

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// The functions of this file decide what an actor may have done. Every route that starts work asks
// them, and the loop asks them again when the work runs: a session, its queue and its log may have been
// left by somebody who may do more.

// ServerToken is the id of the server's own token, which belongs to its operator.
const ServerToken = "server"

// scopeOf returns the scope of an actor. Who uses no token runs pawl, and may do everything.
func scopeOf(by pawl.Actor) api.Scope {
	if by.Token == "" && by.Scope == "" {
		return api.ScopeAdmin
	}
	return api.Scope(by.Scope)
}

// operator reports whether an actor is the one who runs pawl or its server.
func operator(by pawl.Actor) bool {
	return scopeOf(by).Covers(api.ScopeAdmin) && (by.Token == "" || by.Token == ServerToken)
}

// Authorize returns an error unless all actors may have work done with these settings in a directory.
func Authorize(dir string, s pawl.Settings, by ...pawl.Actor) error {
	for _, a := range by {
		if s.Trusted {
			if err := require(a, api.ScopeAdmin, "trusting the project configuration"); err != nil {
				return err
			}
		}
		if err := require(a, scopeOfMode(s.Mode), "mode "+s.Mode); err != nil {
			return err
		}
		if err := authorizeModel(a, dir, s.Model); err != nil {
			return err
		}
	}
	return nil
}

// scopeOfMode returns the scope that a permission mode needs: run for modes in which somebody is asked
// before anything leaves the sandbox, approve for auto, which asks nobody, and admin for yolo.
func scopeOfMode(mode string) api.Scope {
	switch mode {
	case "", "plan", "ask", "guard":
		return api.ScopeRun
	case "auto":
		return api.ScopeApprove
	default:
		return api.ScopeAdmin
	}
}

// authorizeModel returns an error unless an actor may use a model. A scripted model is a file of the
// server: with a token it must be in the project.
func authorizeModel(by pawl.Actor, dir, model string) error {
	file, script := strings.CutPrefix(model, "script:")
	if !script || operator(by) {
		return nil
	}
	if err := require(by, api.ScopeAdmin, "a scripted model"); err != nil {
		return err
	}
	if !inside(dir, file) {
		return fault.New(pawl.ErrDenied, "the script of the model must be in the project %s", dir)
	}
	return nil
}

// inside reports whether a file is below a directory, by their real paths. If the directory is on
// another host, only the names count: that host asks again.
func inside(dir, file string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return false
		}
		dir = real
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsAbs(file) && filepath.IsLocal(rel)
}

// AuthorizeAnswer returns an error unless an actor may give an answer. Who may run work cannot allow
// what their own work is not allowed.
func AuthorizeAnswer(by pawl.Actor, ask pawl.AskKind, a pawl.Answer) error {
	if len(a.Always) > 0 {
		return require(by, api.ScopeAdmin, "always allow")
	}
	if ask == pawl.AskPermission && a.Outcome == pawl.OutcomeAnswered {
		return AuthorizeEscape(by)
	}
	return nil
}

// AuthorizeEscape returns an error unless an actor may allow commands to leave the sandbox or to reach
// new hosts.
func AuthorizeEscape(by pawl.Actor) error {
	return require(by, api.ScopeApprove, "allowing what leaves the sandbox")
}

// authorizeOrder returns an error unless an actor may start a mission. Its checks run without a
// permission prompt.
func authorizeOrder(by pawl.Actor, dir string, o pawl.MissionOrder) error {
	if slices.ContainsFunc(o.Checks, func(c pawl.Check) bool { return len(c.Network) > 0 }) {
		if err := require(by, api.ScopeAdmin, "checks with network access"); err != nil {
			return err
		}
	}
	for _, model := range append([]string{o.Model}, o.Reviewers...) {
		if err := authorizeModel(by, dir, model); err != nil {
			return err
		}
	}
	return nil
}

func require(by pawl.Actor, needed api.Scope, what string) error {
	if scopeOf(by).Covers(needed) {
		return nil
	}
	return fault.New(pawl.ErrDenied, "%s requires a token with the scope %q", what, needed)
}
