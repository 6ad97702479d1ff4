package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// Authority decides permissions by the mode of a prompt; without a mode it allows
// everything. Its rules can be changed at any time. It stores the answers "always
// allow".
type Authority struct {
	Grants permission.Store

	mu      sync.Mutex
	rules   []permission.Rule
	unboxed bool
	review  bool
	owners  []string
	fault   error
}

// NewAuthority returns an Authority without rules, with a new directory for "always
// allow" answers.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	return &Authority{Grants: permission.Store{Path: filepath.Join(t.TempDir(), "grants.json")}}
}

// Rule adds rules of the user.
func (a *Authority) Rule(rules ...permission.Rule) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range rules {
		r.Origin = permission.OriginUser
		a.rules = append(a.rules, r)
	}
}

// Unbox removes the sandbox.
func (a *Authority) Unbox() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unboxed = true
}

// Review says that commands run on views, whose changes can be reviewed.
func (a *Authority) Review() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.review = true
}

// TrustOwners lets skills of these owners, as host/owner, be installed.
func (a *Authority) TrustOwners(owners ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owners = owners
}

// Fail makes Policy return err from now on.
func (a *Authority) Fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = err
}

// Policy returns the policy of the mode, with the rules and the "always allow"
// answers.
func (a *Authority) Policy(_ context.Context, id pawl.SessionID, dir string, s pawl.Settings) (permission.Policy, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := permission.Policy{Sandboxed: !a.unboxed, Review: a.review, Absent: s.Absent, Session: id, Rules: slices.Clone(a.rules), TrustedOwners: a.owners}
	if a.fault != nil {
		return p, a.fault
	}
	var err error
	if p.Mode, err = permission.ParseMode(cmp.Or(s.Mode, string(permission.ModeYolo))); err != nil {
		return p, err
	}
	if p.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return p, err
	}
	p.Grants, err = a.Grants.List()
	return p, err
}

// SaveRules stores rules for a directory, or for a session in it.
func (a *Authority) SaveRules(_ context.Context, dir string, session pawl.SessionID, rules []json.RawMessage) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	parsed, err := permission.ParseOffer(rules)
	if err != nil {
		return err
	}
	return a.Grants.Add(permission.NewGrants(parsed, dir, session, time.Now())...)
}
