package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Scope tells how long an answer to a permission prompt applies.
type Scope string

// The scopes.
const (
	ScopeOnce    Scope = "once"    // this call: bound to its [Fingerprint], and not kept
	ScopeSession Scope = "session" // this session
	ScopeProject Scope = "project" // this directory, permanently
)

// Grant is a rule that a person allowed in a permission prompt.
type Grant struct {
	Rule    Rule           `json:"rule"`
	Scope   Scope          `json:"scope"`
	Dir     string         `json:"dir"` // the project, its real path
	Session pawl.SessionID `json:"session,omitempty"`
	At      time.Time      `json:"at"`
}

// NewGrants returns grants of rules for a directory, given its real path, or only for a session in it.
func NewGrants(rules []Rule, dir string, session pawl.SessionID, at time.Time) []Grant {
	scope := ScopeProject
	if session != "" {
		scope = ScopeSession
	}
	var grants []Grant
	for _, r := range rules {
		grants = append(grants, Grant{Rule: r, Scope: scope, Dir: dir, Session: session, At: at})
	}
	return grants
}

// ID returns a hash of what is granted: equal grants have equal ids.
func (g Grant) ID() string {
	h := newHash("pawl grant 1")
	for _, s := range []string{g.Rule.Tool, string(g.Rule.Kind), g.Rule.Pattern, string(g.Rule.Decision), string(g.Scope), g.Dir, string(g.Session)} {
		h.text(s)
	}
	return h.sum()[:12]
}

// Where returns on one line where the grant applies, sanitized.
func (g Grant) Where() string {
	if g.Scope == ScopeSession {
		return sanitize.Line(fmt.Sprintf("session %s in %s", g.Session, g.Dir))
	}
	return sanitize.Line(g.Dir)
}

// check returns an error if the grant is invalid.
func (g Grant) check() error {
	switch {
	case !path.IsAbs(g.Dir) || path.Clean(g.Dir) != g.Dir:
		return fmt.Errorf("%q is not the real path of a directory", g.Dir)
	case g.Scope == ScopeSession && g.Session == "":
		return errors.New("the scope is session, but no session is named")
	case g.Scope == ScopeProject && g.Session != "":
		return errors.New("the scope is project, but a session is named")
	case g.Scope == ScopeOnce:
		return errors.New("an answer for one time is not saved")
	case g.Scope != ScopeSession && g.Scope != ScopeProject:
		return fmt.Errorf("unknown scope %q", g.Scope)
	}
	if err := Offerable(g.Rule); err != nil {
		return fmt.Errorf("%s cannot be allowed permanently: %w", g.Rule, err)
	}
	return nil
}

// appliesTo reports whether a grant applies to the policy's directory and session.
func (g Grant) appliesTo(p Policy) bool {
	return g.Dir == p.Dir && (g.Scope == ScopeProject || g.Scope == ScopeSession && g.Session == p.Session)
}

// digest hashes a list of texts, each with its length, so that different lists
// have different hashes.
type digest struct{ data []byte }

func newHash(domain string) *digest {
	d := &digest{}
	d.text(domain)
	return d
}

func (d *digest) text(s string) { d.data = fmt.Appendf(d.data, "%d:%s,", len(s), s) }

func (d *digest) sum() string {
	sum := sha256.Sum256(d.data)
	return hex.EncodeToString(sum[:])
}
